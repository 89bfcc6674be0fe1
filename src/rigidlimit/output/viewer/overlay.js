"use strict";
/* What is written over the picture: the legend, the axes, the scale bar, the card of a contact. */
const Overlay = (() => {
  const $ = (id) => document.getElementById(id);
  const PREFIX = [["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1], ["m", 1e-3], ["µ", 1e-6], ["n", 1e-9], ["p", 1e-12]];

  /** A number for the eye, some digits with an SI prefix: 0.0123456 N is 12.35 mN. */
  function short(value, unit, like = value, digits = 4) {
    if (!Number.isFinite(value)) return "–";
    const size = Math.abs(like);
    const [letter, factor] = PREFIX.find(([, f]) => size >= 0.9999 * f) ?? ["", 1];
    return `${Number((value / factor).toPrecision(digits))} ${letter}${unit}`;
  }

  const SVG = "http://www.w3.org/2000/svg";
  function svg(parent, name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  /** The wedge: colour and width of the bars from zero to ``top`` [unit], colour alone without one. */
  let outline = [];
  function legend(title, top, unit, css) {
    $("legend-title").textContent = title;
    const wedge = $("wedge");
    wedge.replaceChildren();
    const shades = svg(svg(wedge, "defs", {}), "linearGradient", { id: "shades" });
    for (let k = 0; k <= 32; k++) svg(shades, "stop", { offset: k / 32, "stop-color": css(k / 32) });
    const [low, high] = unit ? [6.4, 7.6] : [0, 14];
    outline = [[0, low], [256, 0], [256, 14], [0, high]];
    svg(wedge, "path", { d: `M${outline.join(" L")} Z`, fill: "url(#shades)" });
    [0, 0.5, 1].forEach((t, k) => {
      $(`tick-${k}`).textContent = top > 0 ? (t ? short(t * top, unit, unit ? top : 1, 3).trim() : "0") : "";
    });
  }

  /** Axes bottom left and the scale bar beside them; ``scale`` [m a pixel] at the centre of view. */
  function axes(camera, flat, scale) {
    const overlay = $("overlay");
    overlay.replaceChildren();
    const [x0, y0] = [46, overlay.clientHeight - 42];
    const v = new THREE.Vector3();
    const arrows = ["x", "y", "z"].map((name, k) => {
      v.set(+(k === 0), +(k === 1), +(k === 2)).transformDirection(camera.matrixWorldInverse);
      return { name, x: v.x, y: -v.y, z: v.z };
    });
    for (const { name, x, y } of arrows.sort((a, b) => a.z - b.z)) {
      const long = Math.hypot(x, y);
      if (long < 0.15 || (flat && name === "z")) continue; // it points at the eye
      svg(overlay, "line", { x1: x0, y1: y0, x2: x0 + 26 * x, y2: y0 + 26 * y });
      const [tx, ty] = [x0 + 26 * x + (9 * x) / long, y0 + 26 * y + (9 * y) / long];
      svg(overlay, "text", { x: tx, y: ty + 4, "text-anchor": "middle" }, name);
    }
    let length = 10 ** Math.floor(Math.log10(150 * scale));
    for (const step of [5, 2]) if (step * length <= 150 * scale) { length *= step; break; }
    const [x1, x2, y] = [96, 96 + length / scale, overlay.clientHeight - 24];
    svg(overlay, "line", { x1, x2, y1: y, y2: y });
    for (const x of [x1, x2]) svg(overlay, "line", { x1: x, x2: x, y1: y - 4, y2: y + 4 });
    svg(overlay, "text", { x: (x1 + x2) / 2, y: y - 8, "text-anchor": "middle" }, short(length, "m"));
  }

  /** The card of a contact: rows of [name, value, key]; null closes it. */
  function card(title, rows) {
    $("card").hidden = rows === null;
    if (rows === null) return;
    $("card-title").textContent = title;
    $("card-rows").replaceChildren(
      ...rows.flatMap(([name, value, key, drawn]) => {
        const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
        dt.textContent = name;
        dd.textContent = value;
        if (key) dd.id = `contact-${key}`;
        if (drawn) dd.className = "drawn";
        return [dt, dd];
      }),
    );
  }

  /** The legend, the axes and the scale bar, drawn on a canvas as they are on the page. */
  function paint(context, css) {
    const style = getComputedStyle(document.documentElement);
    const [ink, ground] = ["--ink", "--ground"].map((name) => style.getPropertyValue(name));
    const font = (size) => `${size}px ${getComputedStyle(document.body).fontFamily}`;
    Object.assign(context, { strokeStyle: ink, fillStyle: ink, lineJoin: "round" });
    const write = (text, x, y, align, size) => {
      Object.assign(context, { font: font(size), textAlign: align, strokeStyle: ground, lineWidth: 3 });
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    };
    for (const element of $("overlay").children) {
      const at = (name) => Number(element.getAttribute(name));
      if (element.tagName === "text") {
        write(element.textContent, at("x"), at("y"), "center", 12);
      } else {
        Object.assign(context, { strokeStyle: ink, lineWidth: 1.5 });
        context.beginPath();
        context.moveTo(at("x1"), at("y1"));
        context.lineTo(at("x2"), at("y2"));
        context.stroke();
      }
    }
    const [stage, box, title] = ["stage", "wedge", "legend-title"].map((id) => $(id).getBoundingClientRect());
    const [x, y, wide, high] = [box.left - stage.left, box.top - stage.top, box.width, box.height];
    const shades = context.createLinearGradient(x, 0, x + wide, 0);
    for (let k = 0; k <= 32; k++) shades.addColorStop(k / 32, css(k / 32));
    write($("legend-title").textContent, x, title.bottom - stage.top - 5, "left", 14);
    ["left", "center", "right"].forEach((align, k) => {
      write($(`tick-${k}`).textContent, x + (k * wide) / 2, y + high + 14, align, 12);
    });
    context.fillStyle = shades;
    context.beginPath(); // the wedge's path, of 256 by 14
    outline.forEach(([px, py]) => {
      context.lineTo(x + (px / 256) * wide, y + (py / 14) * high);
    });
    context.fill();
  }

  return { legend, axes, card, paint, short };
})();
