"use strict";
/* Draws what rubs: arrows of the tangential forces on the second bodies and rings around contacts
 * that slide, flat marks that face the eye, in front of the bars of the same contacts. */
const Friction = (() => {
  const VERTEX = `
    uniform float front, pixel;
    varying float across, along, head; varying vec3 colour;
    void main() {
      vec4 from = item(0), to = item(1);
      vec2 place = corner();
      vec3 a = (modelViewMatrix * vec4(from.xyz, 1.0)).xyz, b = (modelViewMatrix * vec4(to.xyz, 1.0)).xyz;
      float dot_ = pixel * -a.z;
      across = place.y;
      int rgb = int(to.w);
      colour = vec3(rgb >> 16, (rgb >> 8) & 255, rgb & 255) / 255.0;
      vec3 corner_;
      if (from.w > 0.0) { // a ring of this radius, and a few pixels at least
        along = place.x;
        head = 0.0;
        corner_ = a + vec3(place, 0.0) * max(from.w, 4.0 * dot_);
      } else {
        vec3 direction = b - a;
        float reach = max(length(direction), 1e-30);
        direction /= reach;
        float width = max(0.14 * reach, 2.5 * dot_);
        vec3 side = cross(direction, normalize(a));
        side = length(side) > 1e-4 ? normalize(side) : vec3(1.0, 0.0, 0.0);
        along = 0.5 + 0.5 * place.x;
        head = min(0.6, 2.0 * width / reach);
        corner_ = a + direction * along * reach + side * across * width;
      }
      corner_ -= normalize(corner_) * front;
      gl_Position = projectionMatrix * vec4(corner_, 1.0);
      gl_Position.z -= 2e-5 * gl_Position.w; // in one plane over the bars
    }`;

  const FRAGMENT = `
    varying float across, along, head; varying vec3 colour;
    void main() {
      if (head == 0.0) {
        float far = length(vec2(across, along));
        if (far > 1.0 || far < 0.7) discard;
      } else if (abs(across) > (along > 1.0 - head ? (1.0 - along) / head : 0.3)) {
        discard;
      }
      gl_FragColor = vec4(colour, 1.0);
    }`;

  function build(head) {
    const marks = Quads.build(2, {
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { front: { value: 0 }, pixel: { value: 1 } },
      side: THREE.DoubleSide,
    });
    marks.mesh.renderOrder = 1;
    const drawn = { arrows: 0, rings: 0 };

    /** Marks of the ``count`` contacts in ``order``; an arrow of two bars' reference length stands for
     * ``scale`` [N]. rub: tangential forces; sliding: contacts with a ring; null: none. */
    function show(step, order, count, { rub, sliding, scale, rgb }) {
      const { point } = step;
      marks.reserve(2 * count);
      const { data } = marks;
      let at = 0;
      drawn.arrows = drawn.rings = 0;
      const add = (k, radius, long) => {
        for (let d = 0; d < 3; d++) {
          data[8 * at + d] = point[k + d];
          data[8 * at + 4 + d] = point[k + d] + long * rub[k + d];
        }
        data[8 * at + 3] = radius;
        data[8 * at++ + 7] = rgb;
      };
      for (let n = 0; n < count && rub; n++) {
        const k = 3 * order[n];
        if (Math.hypot(rub[k], rub[k + 1], rub[k + 2]) > 1e-6 * scale) {
          add(k, 0, (2 * head.bar) / scale);
          drawn.arrows++;
        }
        if (sliding && sliding[order[n]]) {
          add(k, 0.3 * head.bar, 0);
          drawn.rings++;
        }
      }
      marks.done(at);
    }

    /** front: how far before their contacts marks are drawn [m], along the line of sight. */
    function measures(front, pixel) {
      marks.uniforms.front.value = front;
      marks.uniforms.pixel.value = pixel;
    }

    return { mesh: marks.mesh, limit: marks.limit, show, measures, drawn };
  }

  return { build };
})();
