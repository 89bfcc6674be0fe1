"use strict";
/* Draws the contact forces: ribbons that face the eye, shaded as round bars, width and colour by
 * force. Finds the contact under the mouse on the processor, with the exact numbers of the file. */
const Network = (() => {
  const VERTEX = `
    uniform float thickest, pixel, extra, least;
    varying float across, along, reach, width, ahead; varying vec3 colour;
    void main() {
      vec4 from = item(0), to = item(1);
      float share = from.w;
      vec2 place = corner();
      vec3 a = (modelViewMatrix * vec4(from.xyz, 1.0)).xyz, b = (modelViewMatrix * vec4(to.xyz, 1.0)).xyz;
      vec3 middle = 0.5 * (a + b), direction = b - a;
      reach = length(direction);
      direction /= max(reach, 1e-30);
      float dot_ = pixel * -middle.z;
      width = max(thickest * share, least * dot_) + extra * dot_;
      vec3 side = cross(direction, normalize(middle));
      side = length(side) > 1e-4 ? normalize(side) : vec3(1.0, 0.0, 0.0);
      across = place.y;
      along = place.x < 0.0 ? -width : reach + width;
      int rgb = int(to.w);
      colour = vec3(rgb >> 16, (rgb >> 8) & 255, rgb & 255) / 255.0;
      vec3 corner_ = a + direction * along + side * across * width;
      ahead = corner_.z;
      gl_Position = projectionMatrix * vec4(corner_, 1.0);
      gl_Position.z -= 1e-5 * share * gl_Position.w; // strong over weak where both lie in one plane
    }`;

  const FRAGMENT = `
    uniform bool flatScene; uniform mat4 projectionMatrix;
    varying float across, along, reach, width, ahead; varying vec3 colour;
    void main() {
      float beyond = max(max(-along, along - reach), 0.0) / width;
      float inside = 1.0 - beyond * beyond - across * across;
      if (inside < 0.0) discard;
      float shade = flatScene ? 1.0 : 0.72 + 0.28 * sqrt(1.0 - across * across);
      float z = ahead + width * sqrt(inside); // of the round bar, so that bars meet cleanly
      float depth = (projectionMatrix[2].z * z + projectionMatrix[3].z) / -z;
      gl_FragDepth = flatScene ? gl_FragCoord.z : 0.5 * depth + 0.5;
      gl_FragColor = vec4(colour * shade, 1.0); // as on the legend: no turn to linear and back
    }`;

  /** Ribbons: (from, share), (to, colour as 0xrrggbb) each. */
  const ribbons = (flat, options) =>
    Quads.build(2, {
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        thickest: { value: 1 },
        pixel: { value: 1 },
        extra: { value: 0 },
        least: { value: 0.6 },
        flatScene: { value: flat },
      },
      side: THREE.DoubleSide,
      ...options,
    });

  function build(bodies, head) {
    const flat = head.dim === 2;
    const scene = new THREE.Scene();
    const top = new THREE.Scene();
    const bars = ribbons(flat, {});
    const halo = ribbons(flat, { depthTest: false, depthWrite: false });
    const core = ribbons(flat, { depthTest: false, depthWrite: false });
    const cell = ribbons(flat, {});
    halo.mesh.renderOrder = 1;
    core.mesh.renderOrder = 2;
    halo.uniforms.extra.value = 3;
    core.uniforms.least.value = 1;
    const friction = Friction.build(head);
    scene.add(cell.mesh, bars.mesh, friction.mesh);
    top.add(halo.mesh, core.mesh);
    const all = [bars, halo, core, cell];

    let owner = new Int32Array(1024); // contact of each bar
    let chosen = new Int32Array(1024); // contacts shown
    let ordered = new Int32Array(1024); // the same, strongest first
    let count = 0;
    const CLASSES = 1024;
    const ends = new Float32Array(12);

    const beside = new Float32Array(3);

    /** Ends of the one or two bars of contact i into ``ends``; how many. Along the branches from
     * centre to centre, by way of the contact point if a body is not round; bodies that stand for
     * the surroundings (half-spaces, fixed ones that are not round) get no branch. In a periodic cell
     * the second body is the image that is touched. */
    function branches(step, i, style) {
      const { body, point, normal, position, branch } = step;
      const k = 3 * i;
      const [a, b] = [body[2 * i], body[2 * i + 1]];
      const [other, at] = branch && !bodies.plane[b] ? [beside, 0] : [position, 3 * b];
      if (branch) for (let d = 0; d < 3; d++) beside[d] = position[3 * a + d] + branch[k + d];
      if (style === "normals") {
        // half in either body, all in the one where the other is a half-space
        const back = bodies.plane[a] ? 0 : bodies.plane[b] ? 1.2 : 0.6;
        for (let d = 0; d < 3; d++) {
          const n = head.bar * normal[k + d];
          ends[d] = point[k + d] - back * n;
          ends[3 + d] = point[k + d] + (1.2 - back) * n;
        }
        return 1;
      }
      const round = bodies.round[a] && bodies.round[b];
      let bars = 0;
      const add = (from, i0, to, i1) => {
        for (let d = 0; d < 3; d++) {
          ends[6 * bars + d] = from[i0 + d];
          ends[6 * bars + 3 + d] = to[i1 + d];
        }
        bars++;
      };
      if (round) {
        add(position, 3 * a, other, at);
      } else {
        if (bodies.round[a] || !bodies.fixed[a]) add(position, 3 * a, point, k);
        if (bodies.round[b] || !bodies.fixed[b]) add(point, k, other, at);
      }
      return bars;
    }

    function fill(target, at, start, share, rgb) {
      const { data } = target;
      for (let d = 0, k = 8 * at; d < 3; d++, k++) {
        data[k] = ends[start + d];
        data[k + 4] = ends[start + 3 + d];
      }
      data[8 * at + 3] = share;
      data[8 * at + 7] = rgb;
    }

    /** Bars for the contacts with force >= threshold > 0 that no cut hides; how many contacts.
     * shade: share of the colour map of each contact; null: of its force. rubbing: as Friction.show. */
    function show(step, { force, threshold, scale, cut, style, colour, shade, rubbing }) {
      count = 0;
      let shown = 0;
      const m = force ? force.length : 0;
      bars.reserve(2 * m);
      if (owner.length < 2 * m) owner = new Int32Array(2 * m);
      if (chosen.length < m) [chosen, ordered] = [new Int32Array(m), new Int32Array(m)];
      const starts = new Int32Array(CLASSES + 1);
      const classOf = (f) => CLASSES - 1 - Math.floor(Math.min(f / scale, 1) * (CLASSES - 1));
      const { low, high } = cut;
      const { point } = step;
      const least = 1e-9 * scale; // weaker is the rounding of zero
      for (let i = 0; i < m; i++) {
        const f = force[i];
        if (!(f >= threshold && f > least)) continue;
        const [x, y, z] = [point[3 * i], point[3 * i + 1], point[3 * i + 2]];
        if (x < low[0] || y < low[1] || z < low[2]) continue;
        if (x > high[0] || y > high[1] || z > high[2]) continue;
        chosen[shown++] = i;
        starts[classOf(f) + 1]++;
      }
      // strong ones first, sorted by counting: what is in front is mostly drawn first, and a slow
      // machine can leave out the rest while the picture moves
      for (let k = 0; k < CLASSES; k++) starts[k + 1] += starts[k];
      for (let k = 0; k < shown; k++) ordered[starts[classOf(force[chosen[k]])]++] = chosen[k];
      for (let k = 0; k < shown; k++) {
        const i = ordered[k];
        const share = Math.min(force[i] / scale, 1);
        const rgb = colour(shade ? Math.min(shade[i], 1) : share);
        const parts = branches(step, i, style);
        for (let part = 0; part < parts; part++) {
          fill(bars, count, 6 * part, share, rgb);
          owner[count++] = i;
        }
      }
      bars.done(count);
      friction.show(step, ordered, shown, rubbing);
      return shown;
    }

    /** Thin lines along the edges of the periodic cell, ends (2 x 3 numbers) one after the other. */
    function outline(edges, rgb) {
      const lines = edges.length / 6;
      cell.reserve(lines);
      for (let line = 0; line < lines; line++) {
        ends.set(edges.subarray(6 * line, 6 * line + 6));
        fill(cell, line, 0, 0, rgb);
      }
      cell.done(lines);
    }

    /** Show contact i through everything; i < 0: none. */
    function mark(step, i, share, style, rgb, ring) {
      const parts = i < 0 ? 0 : branches(step, i, style);
      for (let part = 0; part < parts; part++) {
        fill(halo, part, 6 * part, share, ring);
        fill(core, part, 6 * part, share, rgb);
      }
      halo.done(parts);
      core.done(parts);
    }

    function measures(thickest, pixel) {
      for (const { uniforms } of all) {
        uniforms.thickest.value = thickest;
        uniforms.pixel.value = pixel;
      }
      friction.measures(flat ? 0 : thickest + head.bar, pixel);
    }

    const clip = new THREE.Matrix4();

    /** The contact drawn under the point (x, y) [pixels]: the nearest to the eye whose bar is hit,
     * else the bar within 6 pixels that is closest; -1 if none. */
    function pick(camera, width, height, x, y) {
      const e = clip.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).elements;
      const project = (v, k) => {
        const w = e[3] * v[k] + e[7] * v[k + 1] + e[11] * v[k + 2] + e[15];
        const u = e[0] * v[k] + e[4] * v[k + 1] + e[8] * v[k + 2] + e[12];
        const t = e[1] * v[k] + e[5] * v[k + 1] + e[9] * v[k + 2] + e[13];
        return [(0.5 + (0.5 * u) / w) * width, (0.5 - (0.5 * t) / w) * height, w];
      };
      const { thickest, pixel } = bars.uniforms;
      let hit = -1;
      let depth = Infinity;
      let near = -1;
      let closest = 6;
      for (let k = 0; k < count; k++) {
        const [ax, ay, aw] = project(bars.data, 8 * k);
        const [bx, by, bw] = project(bars.data, 8 * k + 4);
        const share = bars.data[8 * k + 3];
        if (!(aw > 0 && bw > 0)) continue;
        const [dx, dy] = [bx - ax, by - ay];
        const t = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
        const off = Math.hypot(x - ax - t * dx, y - ay - t * dy);
        const w = aw + t * (bw - aw);
        const half = (thickest.value * share) / (pixel.value * w);
        // in one plane the stronger lies on top
        const rank = flat ? -share : w;
        if (off <= Math.max(half, 1) && rank < depth) [hit, depth] = [k, rank];
        if (off < closest) [near, closest] = [k, off];
      }
      const found = hit >= 0 ? hit : near;
      return found < 0 ? -1 : owner[found];
    }

    /** A point of contact i that lies on its bar, for tests and labels. */
    function anchor(step, i, style) {
      branches(step, i, style);
      return [0, 1, 2].map((d) => 0.6 * ends[d] + 0.4 * ends[3 + d]);
    }

    function limit(most) {
      bars.limit(most);
      friction.limit(most);
    }

    return { scene, top, limit, show, mark, outline, measures, pick, anchor, rubbing: friction.drawn };
  }

  return { build };
})();
