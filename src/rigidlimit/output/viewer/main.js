"use strict";
/* The page's state, what each control does to it, and when to draw. */
(async () => {
  const $ = (id) => document.getElementById(id);
  const { head } = Data;
  const flat = head.dim === 2;
  const last = head.steps.length - 1;
  const many = head.names.length > 5000; // then smooth outlines give way to speed
  const radius = Math.hypot(...[0, 1, 2].map((d) => head.high[d] - head.low[d])) / 2;
  const THEMES = {
    light: { ground: "#fbfbfa", body: "#b9c0c6", fixed: "#8d979f", line: "#4c555c", floor: "#eeeeea", floorLine: "#bcc0bd", picked: "#e8a33d", ring: "#d62728", rub: "#009e73", image: "#dfe3e6", cell: 0x4c555c },
    dark: { ground: "#14171a", body: "#7d8891", fixed: "#59636b", line: "#c3ccd3", floor: "#20252a", floorLine: "#4a535b", picked: "#e8a33d", ring: "#ff6b5e", rub: "#2fd0a0", image: "#3d464d", cell: 0xc3ccd3 },
  };
  const state = {
    step: -1, method: head.method, threshold: 0, scale: "step", style: head.style, width: 0.5,
    opacity: flat ? 0.6 : 0.35, playing: false, picked: null, theme: "light", shade: "force", rubbing: true,
    cut: { low: [-Infinity, -Infinity, -Infinity], high: [Infinity, Infinity, Infinity] },
  };
  let arrays = null;
  let index = -1; // of the picked contact in this step

  // ---- drawing -------------------------------------------------------------------------------
  let renderer;
  try {
    renderer = new THREE.WebGLRenderer({ canvas: $("canvas"), antialias: !many });
  } catch {
    $("message").textContent = "This browser shows no WebGL 2: switch on hardware acceleration, or open the page in another browser.";
    return;
  }
  renderer.autoClear = false;
  const camera = new THREE.PerspectiveCamera(flat ? 20 : 30, 1, 0.1, 10);
  camera.up.set(0, flat ? 1 : 0, flat ? 0 : 1);
  const controls = new THREE.OrbitControls(camera, $("canvas"));
  controls.enableRotate = !flat;
  controls.zoomToCursor = true;
  controls.screenSpacePanning = true;
  if (flat) controls.mouseButtons.LEFT = controls.mouseButtons.RIGHT;
  if (flat) controls.touches.ONE = 1; // one finger moves the picture
  const of = await Data.bodies();
  const about = { round: new Uint8Array(head.names.length), fixed: of.fixed };
  about.plane = new Uint8Array(head.names.length).fill(1);
  for (const body of of.ball) about.round[body] = 1;
  for (const body of [...of.ball, ...of.solid]) about.plane[body] = 0;
  const bodies = Bodies.build(of, head);
  const network = Network.build(about, head);

  /** Colour of a share of the scale: strong forces stand out of either background. */
  const rgb = (share) => {
    const k = 3 * Math.round(255 * share);
    return Data.colours[state.theme].slice(k, k + 3);
  };
  const css = (share) => `rgb(${rgb(share).join(" ")})`;
  const colour = (share) => rgb(share).reduce((packed, byte) => (packed << 8) | byte, 0);

  const metresAPixel = () =>
    (2 * Math.tan((camera.fov * Math.PI) / 360) * camera.position.distanceTo(controls.target)) /
    $("stage").clientHeight;

  let wanted = false;
  function redraw(moving = false) {
    if (wanted || !arrays) return;
    wanted = true;
    requestAnimationFrame(() => {
      wanted = false;
      hurry(moving);
      draw();
    });
  }

  // where drawing cannot follow the hand, a coarse picture while it moves, the full one at rest
  const COARSE = { bars: 12000, ratio: 0.4, slow: 70, rest: 250 };
  let [coarse, sluggish, slow, resting, previous] = [false, false, 0, 0, 0];
  function hurry(moving) {
    const now = performance.now();
    const between = Math.min(now - previous, 1500);
    previous = now;
    // frames that follow one another and take long; after a rest the time between tells nothing
    slow = between > COARSE.slow && resting ? slow + 1 : 0;
    sluggish ||= slow >= 2;
    if (!coarse && sluggish && (moving || slow >= 2)) refine(true);
    clearTimeout(resting);
    resting = setTimeout(() => {
      resting = slow = 0;
      if (coarse) refine(false);
    }, COARSE.rest + between);
  }

  function refine(rough) {
    coarse = rough;
    network.limit(rough ? COARSE.bars : Infinity);
    resize();
  }

  function draw() {
    const far = camera.position.length() + 2 * radius;
    camera.near = Math.max(camera.position.length() - 2 * radius, 1e-3 * far);
    camera.far = far;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    const pixel = (2 * Math.tan((camera.fov * Math.PI) / 360)) / $("stage").clientHeight;
    network.measures(0.7 * state.width * head.bar, pixel);
    renderer.clear();
    renderer.render(bodies.patches, camera);
    if (flat) {
      bodies.draw(renderer, camera, state.opacity);
      renderer.clearDepth();
      renderer.render(network.scene, camera);
    } else {
      renderer.render(network.scene, camera);
      bodies.draw(renderer, camera, state.opacity);
    }
    renderer.render(network.top, camera);
    Overlay.axes(camera, flat, metresAPixel());
  }

  function resize() {
    const { clientWidth, clientHeight } = $("stage");
    // outlines of balls are smoothed by drawing finer than the screen, while there are not many
    const ratio = window.devicePixelRatio * (window.devicePixelRatio < 1.5 && !many ? 2 : 1);
    renderer.setPixelRatio(coarse ? COARSE.ratio * window.devicePixelRatio : ratio);
    bodies.sharpness(renderer.getPixelRatio() / window.devicePixelRatio);
    renderer.setSize(clientWidth, clientHeight, false);
    camera.aspect = clientWidth / clientHeight;
    redraw();
  }

  /** Look along -direction at the whole scene. */
  function look(direction) {
    const [tall, eye] = [Math.tan((camera.fov * Math.PI) / 360), new THREE.Vector3(...direction).normalize()];
    const right = new THREE.Vector3().crossVectors(camera.up, eye).normalize();
    const up = new THREE.Vector3().crossVectors(eye, right);
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(...[0, 1, 2].map((d) => (k & (1 << d) ? head.high : head.low)[d]));
      const needed = Math.max(Math.abs(corner.dot(up)), Math.abs(corner.dot(right)) / camera.aspect) / tall;
      distance = Math.max(distance, corner.dot(eye) + 1.12 * needed);
    }
    controls.target.set(0, 0, 0);
    camera.position.copy(eye).setLength(distance);
    controls.update();
    redraw();
  }

  // ---- what is shown -------------------------------------------------------------------------
  const facts = () => head.steps[state.step];
  const forceOf = (method) => arrays[`force_${method}`];
  const top = () =>
    state.scale === "run" ? Math.max(...head.steps.map((s) => s.largest)) : facts().largest;

  function refresh() {
    if (!arrays) return;
    const force = forceOf(state.method);
    const scale = top() || 1;
    const { threshold, cut, style } = state;
    const picked = pickedBodies();
    bodies.show(arrays, cut, picked);
    const shade = (state.shade === "mobilised" && arrays[`mobilised_${state.method}`]) || null;
    const rubbing = {
      rub: (state.rubbing && arrays[`rub_${state.method}`]) || null,
      sliding: arrays[`sliding_${state.method}`] ?? null,
      scale,
      rgb: rub.getHex(),
    };
    const shown = network.show(arrays, { force, threshold, scale, cut, style, colour, shade, rubbing });
    const share = force && index >= 0 ? Math.min(1, force[index] / scale || 0) : 0;
    const inked = shade && index >= 0 ? Math.min(1, shade[index]) : share;
    network.outline(arrays.edges ?? [], THEMES[state.theme].cell);
    network.mark(arrays, index, share, style, colour(inked), ring.getHex());
    const label = head.methods.find((m) => m.key === state.method).label;
    $("shown").textContent = force
      ? `${shown} of ${facts().contacts} contact${facts().contacts === 1 ? "" : "s"} shown`
      : `${label} forces were not computed in this step`;
    $("shown").className = force ? "" : "warn";
    if (shade) Overlay.legend(`mobilised friction, ${label}; width: force`, 1, "", css);
    else Overlay.legend(`${label} contact force`, top(), "N", css);
    $("threshold").value = Math.round(1000 * Math.min(1, threshold / scale));
    showCard();
    redraw();
  }

  function pickedBodies() {
    index = -1;
    if (!state.picked) return [];
    const { a, b, feature } = state.picked;
    for (let i = 0; i < facts().contacts; i++) {
      const same = arrays.body[2 * i] === a && arrays.body[2 * i + 1] === b;
      if (same && arrays.feature[i] === feature) index = i;
    }
    return [a, b];
  }

  const nameOf = (body) => head.names[body].replace(/^\d+$/, "body $&");

  /** What a contact that rubs is told of, under the method shown. */
  function rubbing(i) {
    const size = arrays[`tangential_${state.method}`];
    if (!size) return [];
    const mobilised = arrays[`mobilised_${state.method}`][i];
    return [
      ["tangential force", `${size[i]} N`, "tangential"],
      ["mobilised friction", `${Number(mobilised.toPrecision(4))}`, "mobilised"],
      ...(arrays[`sliding_${state.method}`]?.[i] ? [["sliding", "yes", "sliding"]] : []),
    ];
  }

  function showCard() {
    if (!state.picked) return Overlay.card("", null);
    const { a, b } = state.picked;
    const title = `${nameOf(a)} – ${nameOf(b)}`;
    if (index < 0) return Overlay.card(title, [["", "not in contact in this step", "none"]]);
    const at = (d) => Number((arrays.point[3 * index + d] + head.origin[d]).toPrecision(6));
    Overlay.card(title, [
      ...head.methods
        .filter(({ key }) => forceOf(key))
        .map(({ key, label }) => [`${label} force`, `${forceOf(key)[index]} N`, key, key === state.method]),
      ...rubbing(index),
      ["gap", `${arrays.gap[index]} m`, "gap"],
      ["point", `${[0, 1, 2].slice(0, head.dim).map(at).join(", ")} m`, "point"],
      ["contact", `${index} of this step`, "index"],
    ]);
  }

  function pick(i) {
    state.picked = i < 0 ? null : { a: arrays.body[2 * i], b: arrays.body[2 * i + 1], feature: arrays.feature[i] };
    refresh();
  }

  let asked = -1;
  async function go(k) {
    asked = k;
    const fresh = await Data.step(k);
    if (asked !== k) return; // another step was asked for meanwhile
    arrays = fresh;
    state.step = k;
    const { time, number, classic_status, compatible_status } = facts();
    $("step").value = k;
    $("time").textContent = `t = ${Number(time.toPrecision(6))} s`;
    $("number").textContent = `step ${number}`;
    const bad = [["classic", classic_status], ["compatible", compatible_status]]
      .filter(([, s]) => s && s !== "converged");
    $("status").textContent = bad.length ? bad.map((s) => s.join(": ")).join("; ") : "converged";
    $("status").classList.toggle("warn", bad.length > 0);
    for (const radio of document.querySelectorAll("input[name=method]")) {
      radio.disabled = !facts().methods.includes(radio.value);
    }
    refresh();
  }

  const ICON = {
    play: '<svg width="16" height="16"><path d="M3 1 L14 8 L3 15 Z"/></svg>',
    pause: '<svg width="16" height="16"><path d="M2 1h4v14h-4z M10 1h4v14h-4z"/></svg>',
  };
  function play(on) {
    state.playing = on && last > 0;
    $("play").innerHTML = ICON[state.playing ? "pause" : "play"];
    $("play").setAttribute("aria-label", state.playing ? "pause" : "play");
    if (state.playing) run();
  }

  async function run() {
    let due = performance.now();
    if (state.step === last) await go(0);
    while (state.playing && state.step < last) {
      due = Math.max(due + 1000 / Number($("speed").value), performance.now());
      await new Promise((done) => setTimeout(done, due - performance.now()));
      if (state.playing) await go(state.step + 1);
    }
    play(false);
  }

  // ---- controls ------------------------------------------------------------------------------
  const [ring, rub] = [new THREE.Color(), new THREE.Color()];
  function theme(name) {
    state.theme = name;
    document.documentElement.dataset.theme = name;
    renderer.setClearColor(THEMES[name].ground);
    bodies.paint(THEMES[name]);
    ring.set(THEMES[name].ring);
    rub.set(THEMES[name].rub);
    $("theme").textContent = name === "dark" ? "light theme" : "dark theme";
    refresh();
  }

  document.title = `${head.name} – rigidlimit`;
  $("title").textContent = head.name;
  $("description").textContent = head.description;
  $("origin").textContent = head.note;
  $("step").max = last;
  $("step").disabled = $("play").disabled = last === 0;
  $("step").addEventListener("input", () => {
    play(false);
    go(Number($("step").value));
  });
  $("play").addEventListener("click", () => play(!state.playing));
  for (const { key, label } of head.methods) {
    const radio = Object.assign(document.createElement("input"), {
      type: "radio", name: "method", value: key, id: `method-${key}`, checked: key === state.method,
    });
    const box = document.createElement("label");
    box.append(radio, label);
    $("methods").append(box);
    radio.addEventListener("change", () => {
      state.method = key;
      refresh();
    });
  }
  $("threshold").addEventListener("input", () => {
    state.threshold = ($("threshold").value / 1000) * top();
    $("threshold-number").value = Number(state.threshold.toPrecision(4));
    refresh();
  });
  $("threshold-number").addEventListener("change", () => {
    const value = Number($("threshold-number").value.replace(",", "."));
    if (Number.isFinite(value)) state.threshold = Math.max(0, value);
    $("threshold-number").value = state.threshold;
    refresh();
  });
  $("scale").addEventListener("change", () => {
    state.scale = $("scale").value;
    refresh();
  });
  $("style").value = state.style;
  $("style").addEventListener("change", () => {
    state.style = $("style").value;
    refresh();
  });
  $("friction").hidden = !head.rough;
  $("shade").addEventListener("change", () => {
    state.shade = $("shade").value;
    refresh();
  });
  $("rubbing").addEventListener("change", () => {
    state.rubbing = $("rubbing").checked;
    refresh();
  });
  $("width").addEventListener("input", () => {
    state.width = $("width").value / 100;
    redraw();
  });
  $("opacity").value = 100 * state.opacity;
  $("opacity").addEventListener("input", () => {
    state.opacity = $("opacity").value / 100;
    redraw();
  });

  const VIEWS = { "3D": [1, -1.7, 0.9], front: [0, -1, 0], side: [1, 0, 0], top: [0, -1e-3, 1] };
  const home = flat ? [0, 0, 1] : VIEWS["3D"];
  if (!flat) {
    for (const [name, direction] of Object.entries(VIEWS)) {
      const button = Object.assign(document.createElement("button"), { textContent: name });
      button.addEventListener("click", () => look(direction));
      $("views").append(button);
    }
  }
  $("reset").addEventListener("click", () => look(home));

  /** What is on the screen, without the panel and the card: a canvas with axes, bar and legend. */
  function picture() {
    draw(); // the browser keeps what was drawn only until it has shown it
    const [from, to] = [$("canvas"), document.createElement("canvas")];
    [to.width, to.height] = [from.width, from.height];
    const context = to.getContext("2d");
    context.drawImage(from, 0, 0);
    context.scale(from.width / from.clientWidth, from.height / from.clientHeight);
    Overlay.paint(context, css);
    return to;
  }
  $("save").addEventListener("click", () => {
    picture().toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = `${head.name}-step-${facts().number}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  });

  for (let d = 0; d < head.dim; d++) {
    for (const side of ["low", "high"]) {
      const row = Object.assign(document.createElement("label"), { className: "cut" });
      const name = "xyz"[d];
      const id = `cut-${name}-${side}`;
      row.innerHTML = `<span>${name} ${side === "low" ? "≥" : "≤"}</span><input type="range" min="0" max="1000" id="${id}"><output for="${id}"></output>`;
      const [slider, out] = [row.children[1], row.children[2]];
      slider.value = side === "low" ? 0 : 1000;
      slider.setAttribute("aria-label", `${name} from ${side === "low" ? "below" : "above"}`);
      const apply = () => {
        const t = slider.value / 1000;
        const at = head.low[d] + t * (head.high[d] - head.low[d]);
        const open = side === "low" ? t === 0 : t === 1;
        state.cut[side][d] = open ? (side === "low" ? -Infinity : Infinity) : at;
        const wide = Math.max(Math.abs(head.low[d] + head.origin[d]), Math.abs(head.high[d] + head.origin[d]));
        out.textContent = open ? "no cut" : Overlay.short(at + head.origin[d], "m", wide);
        refresh();
      };
      slider.addEventListener("input", apply);
      $("cut-rows").append(row);
      apply();
    }
  }

  // a click is a press and release without a drag between
  let pressed = null;
  $("canvas").addEventListener("pointerdown", (e) => {
    pressed = [e.clientX, e.clientY];
  });
  $("canvas").addEventListener("pointerup", (e) => {
    if (!pressed || Math.hypot(e.clientX - pressed[0], e.clientY - pressed[1]) > 4) return;
    const box = $("canvas").getBoundingClientRect();
    pick(network.pick(camera, box.width, box.height, e.clientX - box.left, e.clientY - box.top));
  });
  $("card-close").addEventListener("click", () => pick(-1));
  document.addEventListener("keydown", (e) => {
    if (e.target.matches("input, select, button")) return;
    if (e.key === " ") play(!state.playing);
    else if (e.key === "ArrowRight" && state.step < last) go(state.step + 1);
    else if (e.key === "ArrowLeft" && state.step > 0) go(state.step - 1);
    else if (e.key === "Escape") pick(-1);
    else return;
    e.preventDefault();
  });
  $("theme").addEventListener("click", () => theme(state.theme === "dark" ? "light" : "dark"));
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  controls.addEventListener("change", () => redraw(true));
  new ResizeObserver(resize).observe($("stage"));

  theme(dark.matches ? "dark" : "light");
  play(false);
  resize();
  look(home);
  await go(last);
  draw();
  $("message").textContent = "";

  /** For tests and scripts: the state, where a contact is on the screen, how long a frame takes. */
  window.rigidlimitViewer = {
    state,
    go,
    picture,
    rubbing: network.rubbing,
    screen(i) {
      const p = new THREE.Vector3(...network.anchor(arrays, i, state.style)).project(camera);
      const box = $("canvas").getBoundingClientRect();
      return [box.left + (0.5 + 0.5 * p.x) * box.width, box.top + (0.5 - 0.5 * p.y) * box.height];
    },
    async milliseconds(frames) {
      const gl = renderer.getContext();
      const start = performance.now();
      for (let k = 0; k < frames; k++) {
        draw();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits until drawn
      }
      return (performance.now() - start) / frames;
    },
  };
})();
