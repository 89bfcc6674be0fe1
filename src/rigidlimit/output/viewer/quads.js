"use strict";
/* Many squares, or other items of equally many vertices, in one draw call without vertex attributes:
 * the vertex shader takes the numbers of its item from a texture by gl_VertexID. Instances of two
 * triangles each leave graphics cards nearly idle, and the software renderer of browsers takes 30
 * microseconds for every one. */
const Quads = (() => {
  const WIDE = 2048; // texels in a row

  /** GLSL: item(part) is the part-th four numbers of this item, corner() is (-1|1, -1|1). */
  const source = (texels) => `
    uniform highp sampler2D items;
    uniform int vertices;
    vec4 texel(highp sampler2D table, int k) {
      return texelFetch(table, ivec2(k % ${WIDE}, k / ${WIDE}), 0);
    }
    vec4 item(int part) { return texel(items, (gl_VertexID / vertices) * ${texels} + part); }
    vec2 corner() {
      int c = gl_VertexID % 4;
      return vec2(c == 1 || c == 2 ? 1.0 : -1.0, c > 1 ? 1.0 : -1.0);
    }`;

  /** A texture of so many texels, and its numbers; texel() above reads it. */
  function table(texels) {
    const high = Math.max(1, Math.ceil(texels / WIDE));
    const data = new Float32Array(4 * WIDE * high);
    const texture = new THREE.DataTexture(data, WIDE, high, THREE.RGBAFormat, THREE.FloatType);
    texture.needsUpdate = true;
    return { data, texture, texels: WIDE * high };
  }

  /** ``reserve(n)`` makes room, then fill ``data`` (4 texels numbers an item) and call ``done(n)``;
   * ``limit(n)`` draws only the first n. ``vertices`` of an item, if it is no square: triangles. */
  function build(texels, { vertexShader, fragmentShader, uniforms, vertices = 0, ...options }) {
    const own = { ...uniforms, items: { value: null }, vertices: { value: vertices || 4 } };
    const material = new THREE.ShaderMaterial({
      vertexShader: source(texels) + vertexShader,
      fragmentShader,
      uniforms: own,
      ...options,
    });
    const geometry = new THREE.BufferGeometry();
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false;
    const quads = { mesh, material, uniforms: own, data: null, reserve, done, limit };
    let room = -1;
    let [filled, most] = [0, Infinity];

    function reserve(count) {
      if (count <= room) return;
      own.items.value?.dispose();
      const fresh = table(1.3 * count * texels);
      quads.data = fresh.data;
      own.items.value = fresh.texture;
      room = Math.floor(fresh.texels / texels);
      if (vertices) return;
      const order = new Uint32Array(6 * room);
      for (let k = 0; k < room; k++) order.set([4 * k, 4 * k + 1, 4 * k + 2, 4 * k, 4 * k + 2, 4 * k + 3], 6 * k);
      geometry.dispose();
      geometry.setIndex(new THREE.BufferAttribute(order, 1));
    }

    function limit(count) {
      most = count;
      geometry.setDrawRange(0, (vertices || 6) * Math.min(filled, most));
    }

    function done(count) {
      filled = count;
      limit(most);
      own.items.value.needsUpdate = true;
    }

    reserve(1);
    done(0);
    return quads;
  }

  return { build, table };
})();
