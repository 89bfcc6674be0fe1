// The parts of three.js that the viewer uses. Bundled into three.min.js (MIT, LICENSE-three.txt) by
//   npm pack three@0.187.0, npm install three-0.187.0.tgz esbuild@0.28.2
//   esbuild three.entry.js --bundle --minify --format=iife --global-name=THREE
//     --legal-comments=none --charset=ascii --outfile=three.min.js
export {
  BufferAttribute,
  BufferGeometry,
  Color,
  DataTexture,
  DoubleSide,
  FloatType,
  Matrix4,
  Mesh,
  PerspectiveCamera,
  RGBAFormat,
  Scene,
  ShaderMaterial,
  Vector3,
  WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
