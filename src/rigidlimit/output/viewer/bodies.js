"use strict";
/* Draws the bodies. Balls (and disks of flat scenes) are one square each, on which the fragment
 * shader finds the exact sphere: two triangles a ball, so that 20,000 stay fluid. All other shapes
 * are triangles; half-spaces are patches that only their outer side shows. */
const Bodies = (() => {
  const LIGHT = `
    vec3 lit(vec3 colour, vec3 normal) {
      float sun = max(dot(normal, normalize(vec3(0.35, 0.6, 0.75))), 0.0);
      return colour * (0.32 + 0.5 * sun + 0.3 * max(normal.z, 0.0));
    }`;

  const BALL_VERTEX = `
    uniform bool flatScene;
    varying vec3 at; varying vec3 middle; varying float size; varying vec3 colour; varying vec2 place;
    void main() {
      vec4 ball = item(0);
      float radius = ball.w;
      middle = (modelViewMatrix * vec4(ball.xyz, 1.0)).xyz;
      size = radius; colour = item(1).rgb; place = corner();
      float d = length(middle);
      vec3 u = vec3(1.0, 0.0, 0.0), v = vec3(0.0, 1.0, 0.0);
      float half_side = radius;
      if (!flatScene) {
        // the square just hides the ball as seen from the eye
        vec3 n = -middle / d;
        u = normalize(cross(abs(n.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0), n));
        v = cross(n, u);
        half_side = d > 1.01 * radius ? radius * d / sqrt(d * d - radius * radius) : 0.0;
      }
      at = middle + (u * place.x + v * place.y) * half_side;
      gl_Position = projectionMatrix * vec4(at, 1.0);
    }`;

  const BALL_FRAGMENT = `
    uniform mat4 projectionMatrix; uniform bool flatScene; uniform float opacity, sharp; uniform vec3 line;
    varying vec3 at; varying vec3 middle; varying float size; varying vec3 colour; varying vec2 place;
    ${LIGHT}
    void main() {
      if (flatScene) {
        float s = length(place), w = sharp * fwidth(s);
        if (s > 1.0) discard;
        float rim = smoothstep(1.0 - 2.2 * w, 1.0 - 1.0 * w, s);
        gl_FragColor = vec4(mix(colour, line, rim), max(opacity, rim));
        gl_FragDepth = gl_FragCoord.z;
      } else {
        vec3 ray = normalize(at);
        float along = dot(ray, middle);
        vec3 off = middle - along * ray;
        float inside = size * size - dot(off, off);
        if (inside < 0.0) discard;
        vec3 p = (along - sqrt(inside)) * ray;
        vec3 normal = (p - middle) / size;
        float rim = 1.0 - smoothstep(0.0, 0.35, -dot(normal, ray));
        gl_FragColor = vec4(mix(lit(colour, normal), line, 0.6 * rim), opacity + (1.0 - opacity) * 0.35 * rim);
        vec4 clip = projectionMatrix * vec4(p, 1.0);
        gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
      }
      #include <colorspace_fragment>
    }`;

  // three texels a corner in the table: place, normal, distances from edges
  const SOLID_VERTEX = `
    uniform highp sampler2D corners;
    varying vec4 bound; varying vec3 normal_, colour, place;
    vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
    void main() {
      vec4 centre = item(0), turn = item(1);
      int k = 3 * (int(centre.w) + gl_VertexID % vertices);
      colour = item(2).rgb;
      place = centre.xyz + turned(turn, texel(corners, k).xyz);
      bound = texel(corners, k + 2);
      normal_ = mat3(viewMatrix) * turned(turn, texel(corners, k + 1).xyz);
      gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
    }`;

  const PLANE_VERTEX = `
    attribute vec4 edge;
    uniform vec3 tint;
    varying vec4 bound; varying vec3 normal_, colour, place;
    void main() {
      colour = tint;
      place = position;
      bound = edge;
      normal_ = mat3(viewMatrix) * normal;
      gl_Position = projectionMatrix * viewMatrix * vec4(position, 1.0);
    }`;

  const MESH_FRAGMENT = `
    uniform bool flatScene, patches; uniform float opacity, sharp; uniform vec3 line, low, high;
    varying vec4 bound; varying vec3 normal_, colour, place;
    ${LIGHT}
    void main() {
      if (any(lessThan(place, low)) || any(greaterThan(place, high))) discard;
      vec4 pixels = bound / max(sharp * fwidth(bound), vec4(1e-20));
      float nearest = min(min(pixels.x, pixels.y), min(pixels.z, pixels.w));
      float outline = 1.0 - smoothstep(0.7, 1.7, nearest);
      vec3 shade = flatScene || patches ? colour : lit(colour, normalize(gl_FrontFacing ? normal_ : -normal_));
      gl_FragColor = vec4(mix(shade, line, outline), max(opacity, 0.8 * outline));
      #include <colorspace_fragment>
    }`;

  /** ``solids`` and ``patches`` are scenes to render; ``show(step, cut)`` poses the bodies. */
  function build(arrays, head) {
    const { ball, radius, solid, shape, fixed } = arrays;
    const shared = {
      opacity: { value: 1 },
      sharp: { value: 1 }, // pixels drawn per pixel of the page
      flatScene: { value: head.dim === 2 },
      line: { value: new THREE.Color() },
      patches: { value: false },
      low: { value: new THREE.Vector3(-Infinity, -Infinity, -Infinity) },
      high: { value: new THREE.Vector3(Infinity, Infinity, Infinity) },
    };
    const solids = new THREE.Scene();
    const patches = new THREE.Scene();
    const materials = [];

    // balls
    const balls = Quads.build(2, {
      vertexShader: BALL_VERTEX,
      fragmentShader: BALL_FRAGMENT,
      uniforms: shared,
      transparent: true,
    });
    balls.reserve(ball.length);
    if (ball.length) {
      solids.add(balls.mesh);
      materials.push(balls.material);
    }

    // every other shape: corners of triangles in a table, each shape once; bodies whose shapes have
    // equally many corners are one draw call
    const total = arrays.corner.length / 3;
    const corners = Quads.table(3 * total);
    for (let k = 0; k < total; k++) {
      corners.data.set(arrays.corner.subarray(3 * k, 3 * k + 3), 12 * k);
      for (let d = 0; d < 3; d++) corners.data[12 * k + 4 + d] = arrays.normal[3 * k + d] / 127;
      corners.data.set(arrays.edge.subarray(4 * k, 4 * k + 4), 12 * k + 8);
    }
    const starts = [];
    head.solids.reduce((start, count) => starts.push(start) && start + count, 0);
    const groups = new Map();
    for (let k = 0; k < solid.length; k++) {
      const count = head.solids[shape[k]];
      if (!groups.has(count)) groups.set(count, []);
      groups.get(count).push(k);
    }
    const batches = [...groups].map(([vertices, members]) => {
      const batch = Quads.build(3, {
        vertexShader: SOLID_VERTEX,
        fragmentShader: MESH_FRAGMENT,
        uniforms: { ...shared, corners: { value: corners.texture } },
        vertices,
        transparent: true,
        side: THREE.DoubleSide,
      });
      batch.reserve(members.length);
      solids.add(batch.mesh);
      materials.push(batch.material);
      return { batch, members };
    });

    // half-spaces
    const planes = geometries(
      { corner: arrays.patch_corner, normal: arrays.patch_normal, edge: arrays.patch_edge },
      head.patches,
    ).map((geometry) => {
      const own = { opacity: 1, patches: true, tint: new THREE.Color(), line: new THREE.Color() };
      const uniforms = { ...shared };
      for (const [name, value] of Object.entries(own)) uniforms[name] = { value };
      const look = { vertexShader: PLANE_VERTEX, fragmentShader: MESH_FRAGMENT, uniforms };
      const mesh = new THREE.Mesh(geometry, new THREE.ShaderMaterial(look));
      mesh.frustumCulled = false;
      patches.add(mesh);
      return mesh;
    });

    const colour = {
      free: new THREE.Color(), fixed: new THREE.Color(), picked: new THREE.Color(), image: new THREE.Color(),
    };
    const [ballOf, solidOf] = [ball, solid].map((list) => {
      const place = new Int32Array(head.names.length).fill(-1);
      list.forEach((body, k) => { place[body] = k; });
      return place;
    });

    /** Poses of one step, images in a periodic cell among them. Balls vanish with their centre beyond
     * a cut, other bodies are sliced. */
    function show(step, cut, picked) {
      const { position, quaternion, image = [], image_position: beside } = step;
      const of = (body) =>
        picked.includes(body) ? colour.picked : fixed[body] ? colour.fixed : colour.free;
      balls.reserve(ball.length + image.length);
      let count = 0;
      const addBall = (k, at, i, tint) => {
        const [x, y, z] = [at[i], at[i + 1], at[i + 2]];
        if (x < cut.low[0] || y < cut.low[1] || z < cut.low[2]) return;
        if (x > cut.high[0] || y > cut.high[1] || z > cut.high[2]) return;
        balls.data.set([x, y, z, radius[k]], 8 * count);
        tint.toArray(balls.data, 8 * count + 4);
        count++;
      };
      ball.forEach((body, k) => addBall(k, position, 3 * body, of(body)));
      image.forEach((body, n) => ballOf[body] >= 0 && addBall(ballOf[body], beside, 3 * n, colour.image));
      balls.done(count);
      shared.low.value.fromArray(cut.low);
      shared.high.value.fromArray(cut.high);
      for (const { batch, members } of batches) {
        const images = [...image.keys()].filter((n) => members.includes(solidOf[image[n]]));
        batch.reserve(members.length + images.length);
        let number = 0;
        const add = (k, at, i, tint) => {
          const [out, start] = [batch.data, 12 * number++];
          for (let d = 0; d < 3; d++) {
            out[start + d] = at[i + d];
            out[start + 4 + d] = quaternion[4 * k + 1 + d];
          }
          out[start + 3] = starts[shape[k]];
          out[start + 7] = quaternion[4 * k];
          tint.toArray(out, start + 8);
        };
        for (const k of members) add(k, position, 3 * solid[k], of(solid[k]));
        for (const n of images) add(solidOf[image[n]], beside, 3 * n, colour.image);
        batch.done(number);
      }
      return count;
    }

    /** Colours of the theme. */
    function paint(theme) {
      colour.free.set(theme.body);
      colour.fixed.set(theme.fixed);
      colour.picked.set(theme.picked);
      colour.image.set(theme.image);
      shared.line.value.set(theme.line);
      for (const { material: { uniforms } } of planes) {
        uniforms.tint.value.set(theme.floor);
        uniforms.line.value.set(theme.floorLine);
      }
    }

    /** First the nearest surface into the depth alone, then its colour: one translucent skin, the
     * same for every order of the bodies. */
    function draw(renderer, camera, opacity) {
      if (!(opacity > 0) || !materials.length) return;
      shared.opacity.value = opacity;
      for (const pass of [false, true]) {
        for (const m of materials) {
          m.colorWrite = pass;
          m.depthWrite = !pass;
        }
        renderer.render(solids, camera);
      }
    }

    const sharpness = (ratio) => {
      shared.sharp.value = ratio;
    };

    return { solids, patches, show, paint, draw, sharpness };
  }

  /** One BufferGeometry for each entry of ``counts``, corners of triangles in a row. */
  function geometries({ corner, normal, edge }, counts) {
    let start = 0;
    return counts.map((count) => {
      const part = (values, width) => values.slice(width * start, width * (start + count));
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(part(corner, 3), 3));
      geometry.setAttribute("normal", new THREE.BufferAttribute(part(normal, 3), 3, true));
      geometry.setAttribute("edge", new THREE.BufferAttribute(part(edge, 4), 4));
      start += count;
      return geometry;
    });
  }

  return { build };
})();
