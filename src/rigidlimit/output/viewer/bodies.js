"use strict";
/* Draws the bodies. Balls (and disks of flat scenes) are one square each, on which the fragment
 * shader finds the exact sphere: two triangles a ball, so that 20,000 stay fluid. All other shapes are one BatchedMesh; half-spaces are patches that only their outer side shows. */
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

  const MESH_VERTEX = `
    #include <common>
    #include <batching_pars_vertex>
    attribute vec4 edge;
    uniform vec3 tint;
    varying vec4 bound; varying vec3 normal_, colour, place;
    void main() {
      #include <batching_vertex>
      #ifdef USE_BATCHING
        mat4 pose = batchingMatrix;
        colour = getBatchingColor(getIndirectIndex(gl_DrawID)).rgb;
      #else
        mat4 pose = modelMatrix;
        colour = tint;
      #endif
      vec4 world = pose * vec4(position, 1.0);
      place = world.xyz;
      bound = edge;
      normal_ = mat3(viewMatrix) * mat3(pose) * normal;
      gl_Position = projectionMatrix * viewMatrix * world;
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

  function material(vertexShader, fragmentShader, uniforms, options) {
    return new THREE.ShaderMaterial({ vertexShader, fragmentShader, uniforms, ...options });
  }

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

    // every other shape, each geometry once
    let batch = null;
    if (solid.length) {
      const look = material(MESH_VERTEX, MESH_FRAGMENT, shared, {
        transparent: true,
        side: THREE.DoubleSide,
      });
      batch = new THREE.BatchedMesh(solid.length, arrays.corner.length / 3, 0, look);
      batch.frustumCulled = batch.perObjectFrustumCulled = batch.sortObjects = false;
      const known = geometries(arrays, head.solids).map((g) => batch.addGeometry(g));
      for (let k = 0; k < solid.length; k++) {
        batch.addInstance(known[shape[k]]);
        batch.setColorAt(k, new THREE.Color());
      }
      solids.add(batch);
      materials.push(look);
    }

    // half-spaces
    const planes = geometries(
      { corner: arrays.patch_corner, normal: arrays.patch_normal, edge: arrays.patch_edge },
      head.patches,
    ).map((geometry) => {
      const own = { opacity: 1, patches: true, tint: new THREE.Color(), line: new THREE.Color() };
      const uniforms = { ...shared };
      for (const [name, value] of Object.entries(own)) uniforms[name] = { value };
      const mesh = new THREE.Mesh(geometry, material(MESH_VERTEX, MESH_FRAGMENT, uniforms, {}));
      mesh.frustumCulled = false;
      patches.add(mesh);
      return mesh;
    });

    const colour = { free: new THREE.Color(), fixed: new THREE.Color(), picked: new THREE.Color() };

    const p = new THREE.Vector3();
    const q = new THREE.Quaternion();
    const one = new THREE.Vector3(1, 1, 1);
    const pose = new THREE.Matrix4();

    /** Poses of one step. Balls vanish with their centre beyond a cut, other bodies are sliced. */
    function show(step, cut, picked) {
      const { position, quaternion } = step;
      const of = (body) =>
        picked.includes(body) ? colour.picked : fixed[body] ? colour.fixed : colour.free;
      let count = 0;
      for (let k = 0; k < ball.length; k++) {
        const i = 3 * ball[k];
        const [x, y, z] = [position[i], position[i + 1], position[i + 2]];
        if (x < cut.low[0] || y < cut.low[1] || z < cut.low[2]) continue;
        if (x > cut.high[0] || y > cut.high[1] || z > cut.high[2]) continue;
        balls.data.set([x, y, z, radius[k]], 8 * count);
        of(ball[k]).toArray(balls.data, 8 * count + 4);
        count++;
      }
      balls.done(count);
      shared.low.value.fromArray(cut.low);
      shared.high.value.fromArray(cut.high);
      for (let k = 0; k < solid.length; k++) {
        p.fromArray(position, 3 * solid[k]);
        q.set(quaternion[4 * k + 1], quaternion[4 * k + 2], quaternion[4 * k + 3], quaternion[4 * k]);
        batch.setMatrixAt(k, pose.compose(p, q, one));
        batch.setColorAt(k, of(solid[k]));
      }
      return count;
    }

    /** Colours of the theme. */
    function paint(theme) {
      colour.free.set(theme.body);
      colour.fixed.set(theme.fixed);
      colour.picked.set(theme.picked);
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
