// What a network learns from: the draws of `linnet.problems`, from the same seeds.
import { matrix, orthonormal, product, symmetricEigen, times, transpose } from "./matrices.js";
import { generator } from "./random.js";

/** @typedef {import("./matrices.js").Matrix} Matrix */
/**
 * @typedef {object} Task
 * @property {Matrix} cross E[y x']
 * @property {Matrix | null} cov of the inputs; null if they are white
 * @property {Matrix} truth
 * @property {Matrix | null} testCov null: that of white inputs
 * @property {Matrix} solution of least norm
 * @property {(A: Matrix) => number} loss
 */

/** Half the squared distance. @param {Matrix} A @param {Matrix} B */
export function halfDistance(A, B) {
  let sum = 0;
  for (let i = 0; i < A.data.length; i++) sum += (A.data[i] - B.data[i]) ** 2;
  return sum / 2;
}

/** @param {Task} task @param {Matrix} A */
export function testLoss({ truth, testCov }, A) {
  const off = matrix(A.rows, A.cols, A.data.map((x, i) => x - truth.data[i]));
  if (!testCov) return halfDistance(A, truth);
  const seen = times(off, testCov);
  return off.data.reduce((sum, x, i) => sum + x * seen.data[i], 0) / 2;
}

/** White inputs and a diagonal target. @param {number[]} values @param {number} inputs @param {number} outputs @returns {Task} */
export function ofValues(values, inputs, outputs) {
  if (values.length > Math.min(inputs, outputs)) {
    throw new Error(`The target has ${values.length} singular values, more than a matrix of ${outputs} x ${inputs} can have: raise inputs and outputs.`);
  }
  const target = matrix(outputs, inputs);
  [...values].sort((a, b) => b - a).forEach((s, i) => (target.data[i * inputs + i] = s));
  return white(target, target);
}

/** @param {Matrix} target @param {Matrix} truth @returns {Task} */
const white = (target, truth) => ({ cross: target, cov: null, truth, testCov: null, solution: target, loss: (A) => halfDistance(A, target) });

/**
 * `problems.low_rank_plus_noise`; `factors` are K rows of length `outputs` and `inputs` whose products sum to the truth.
 * @param {{ inputs: number, outputs: number, rank: number, noise: number, key: number | number[], spectrum?: number[] }} of
 */
export function lowRank({ inputs: d, outputs: k, rank: K, noise, key, spectrum }) {
  if (K > Math.min(d, k)) throw new Error(`The rank ${K} exceeds a matrix of ${k} x ${d}: raise its size.`);
  const draw = generator(key, 0);
  let left = matrix(k, K, draw.normals(k * K)), right = matrix(d, K, draw.normals(d * K));
  let scale = Array.from({ length: K }, () => 1 / Math.sqrt(K));
  if (spectrum) {
    [left, right] = [orthonormal(left), orthonormal(right)];
    scale = spectrum.map((a) => a * Math.sqrt(k * d));
  }
  for (let i = 0; i < k; i++) for (let j = 0; j < K; j++) left.data[i * K + j] *= scale[j];
  const columns = transpose(right), truth = times(left, columns), noiseOf = generator(key, 1);
  const target = matrix(k, d, truth.data.map((x) => x + noise * noiseOf.normal()));
  const rows = transpose(left);
  const cut = (/** @type {Matrix} */ m) => Array.from({ length: K }, (_, i) => m.data.slice(i * m.cols, (i + 1) * m.cols));
  return { ...white(target, truth), factors: { left: cut(rows), right: cut(columns) } };
}

/**
 * `problems.spiked_covariance` with one output; no samples: the population.
 * @param {{ dim: number, spike: number, alignment: number, samples: number, noise: number, key: number }} of @returns {Task}
 */
export function spiked({ dim: d, spike, alignment, samples: n, noise, key }) {
  const values = Float64Array.from({ length: d }, (_, i) => (i === 0 ? 1 + spike : 1)), beta = matrix(1, d);
  beta.data[0] = alignment;
  const rest = 1 - alignment * alignment;
  if (rest > 1e-12) beta.data[1] = Math.sqrt(rest);
  const population = matrix(d, d);
  for (let i = 0; i < d; i++) population.data[i * d + i] = values[i];
  if (!n) {
    const cross = matrix(1, d, beta.data.map((b, i) => b * values[i]));
    /** @param {Matrix} A */
    const loss = (A) => A.data.reduce((sum, a, i) => sum + values[i] * (a - beta.data[i]) ** 2, 0) / 2;
    return { cross, cov: population, truth: beta, testCov: population, solution: beta, loss };
  }
  const random = generator(key), X = matrix(n, d, random.normals(n * d)), y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < d; j++) y[i] += (X.data[i * d + j] *= Math.sqrt(values[j])) * beta.data[j];
  }
  if (noise) for (let i = 0; i < n; i++) y[i] += noise * random.normal();
  const cov = times(transpose(X), X), cross = matrix(1, d);
  product(cross.data, y, X.data, 1, n, d);
  for (let i = 0; i < cov.data.length; i++) cov.data[i] /= n;
  for (let i = 0; i < d; i++) cross.data[i] /= n;
  /** @param {Matrix} A */
  const loss = (A) => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      let off = y[i];
      for (let j = 0; j < d; j++) off -= X.data[i * d + j] * A.data[j];
      sum += off * off;
    }
    return sum / (2 * n);
  };
  return { cross, cov, truth: beta, testCov: population, solution: leastNorm(cov, cross), loss };
}

/** Gamma Sigma^+. @param {Matrix} cov @param {Matrix} cross */
function leastNorm(cov, cross) {
  const { values, vectors } = symmetricEigen(cov), out = matrix(1, cross.cols);
  values.forEach((l, i) => {
    if (l <= 1e-12 * values[0]) return;
    const part = vectors[i].reduce((sum, v, j) => sum + v * cross.data[j], 0) / l;
    vectors[i].forEach((v, j) => (out.data[j] += part * v));
  });
  return out;
}
