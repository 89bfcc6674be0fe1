"use strict";
/* Reads what the page carries: a head in JSON and, for the bodies and for each step, arrays packed
 * by view.py: bytes of one significance side by side, gzip, base64. Steps are unpacked when first
 * shown and kept while there is room. */
const Data = (() => {
  const TYPES = { f4: Float32Array, f8: Float64Array, i4: Int32Array, i1: Int8Array, u1: Uint8Array };
  const ROOM = 600e6; // bytes of unpacked steps kept
  const kept = new Map();
  let used = 0;

  const head = JSON.parse(document.getElementById("head").textContent);

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  async function unpack(id) {
    const element = document.getElementById(id);
    const packed = new Blob([bytesOf(element.textContent)]);
    const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const arrays = {};
    let start = 0;
    for (const [name, type, count] of JSON.parse(element.dataset.arrays)) {
      const array = new TYPES[type](count);
      const out = new Uint8Array(array.buffer);
      const size = array.BYTES_PER_ELEMENT;
      for (let part = 0; part < size; part++) {
        const from = start + part * count;
        for (let i = 0, j = part; i < count; i++, j += size) out[j] = bytes[from + i];
      }
      start += count * size;
      arrays[name] = array;
    }
    return { arrays, size: bytes.length };
  }

  /** Arrays of step ``k`` (its place among the steps of this page). */
  async function step(k) {
    if (kept.has(k)) {
      const known = kept.get(k);
      kept.delete(k); // last used goes last
      kept.set(k, known);
      return known.arrays;
    }
    const fresh = await unpack(`step-${k}`);
    if (!kept.has(k)) {
      kept.set(k, fresh);
      used += fresh.size;
    }
    for (const [old, { size }] of kept) {
      if (used <= ROOM || old === k) break;
      kept.delete(old);
      used -= size;
    }
    return fresh.arrays;
  }

  const bodies = async () => (await unpack("bodies")).arrays;

  /** The tables of colours of the light and the dark theme, (256, 3) bytes each. */
  const colours = Object.fromEntries(
    Object.entries(head.colours).map(([theme, table]) => [theme, bytesOf(table)]),
  );

  return { head, step, bodies, colours };
})();
