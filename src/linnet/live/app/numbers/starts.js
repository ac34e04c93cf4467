// Gaussian initial weights at any width, reduced exactly: the draws of `linnet.inits.reduced_gaussian`.
import { matrix, transpose } from "./matrices.js";
import { generator } from "./random.js";

/** @typedef {import("./matrices.js").Matrix} Matrix */

/**
 * Both layers after the exact reduction, W1 (width, inputs) and W2 (outputs, width), of width min(h, d + k) (Bartlett).
 * @param {{ inputs: number, outputs: number, width: number, stds: [number, number], key: number | number[] }} start
 */
export function reducedGaussian({ inputs: d, outputs: k, width: h, stds, key }) {
  const random = generator(key), q = d + k;
  if (h < q) return scaled(matrix(h, d, random.normals(h * d)), matrix(k, h, random.normals(k * h)), stds);
  const all = random.normals(q * q), first = matrix(q, d), second = matrix(q, k);
  for (let i = 0; i < q; i++) {
    for (let j = i + 1; j < q; j++) {
      if (j < d) first.data[i * d + j] = all[i * q + j];
      else second.data[i * k + j - d] = all[i * q + j];
    }
  }
  for (let j = 0; j < q; j++) {
    const size = Math.sqrt(random.chisquare(h - j));
    if (j < d) first.data[j * d + j] = size;
    else second.data[j * k + j - d] = size;
  }
  return scaled(first, transpose(second), stds);
}

/** @param {Matrix} first @param {Matrix} second @param {[number, number]} stds */
function scaled(first, second, stds) {
  const by = (/** @type {Matrix} */ layer, /** @type {number} */ std) => ({ ...layer, data: layer.data.map((x) => std * x) });
  return { first: by(first, stds[0]), second: by(second, stds[1]), width: first.rows };
}

/** Both layers as one state. @param {{ first: Matrix, second: Matrix }} layers */
export function stateOf({ first, second }) {
  const state = new Float64Array(first.data.length + second.data.length);
  state.set(first.data);
  state.set(second.data, first.data.length);
  return state;
}
