// The page Spectral bias: the orthogonal initialization of scale gamma, and label noise.
import { integrate, productOf, twoLayers } from "./flow.js";
import { diagonal, matrix, orthonormal, singularValues } from "./matrices.js";
import { modeValue, timeOfShare } from "./modes.js";
import { generator } from "./random.js";

const SIDE = 8, POINTS = 121;
const INPUTS = 5, STEPS = 4000, SAVES = 100;

/** Where a singular value of W1 ends, Corollary 3.1. @param {number} s @param {number} gamma */
export const finalFirst = (s, gamma) => Math.sqrt(Math.hypot(s, gamma) + gamma);

/** The potential of the mirror flow for one singular value. @param {number} D @param {number} gamma */
export const potential = (D, gamma) => (D * Math.asinh(D / gamma) - Math.hypot(D, gamma)) / 2;

/** @param {Record<string, any>} s */
export function spectralBias({ values, gamma, clock }) {
  const S = [...values].sort((a, b) => b - a), scaled = clock === "log";
  if (scaled && gamma >= 1) throw new Error(`Time in units of ln(1/γ) needs γ below 1: got ${gamma}.`);
  const half = S.map((x) => timeOfShare(x, gamma, 0.5)), end = Math.max(...S.map((x, i) => half[i] + 2.5 / Math.hypot(x, gamma)));
  const time = Array.from({ length: POINTS }, (_, i) => (end * i) / (POINTS - 1)), unit = scaled ? -Math.log(gamma) : 1;
  const target = diagonal([...S, ...new Array(SIDE - S.length).fill(0)]), frame = orthonormal(matrix(SIDE, SIDE, generator(0).normals(SIDE * SIDE)));
  const start = new Float64Array(2 * SIDE * SIDE);
  start.set(frame.data.map((x) => Math.sqrt(2 * gamma) * x));
  const states = integrate(twoLayers(target, SIDE), start, time, Math.max(1e-14, 1e-10 / (1 + gamma / S[0])));
  const layer = (/** @type {Float64Array} */ state, /** @type {number} */ which) => Array.from(singularValues(matrix(SIDE, SIDE, state.subarray(which * SIDE * SIDE, (which + 1) * SIDE * SIDE))));
  const heights = Array.from({ length: 161 }, (_, i) => (S[0] * i) / 160), psi = heights.map((D) => potential(D, gamma));
  return {
    values: S, time: time.map((t) => t / unit), half: half.map((t) => t / unit),
    trained: states.map((state) => Array.from(singularValues(productOf(state, SIDE, SIDE, SIDE))).slice(0, S.length)),
    predicted: time.map((t) => S.map((x) => modeValue(x, gamma, t))),
    first: states.map((state) => layer(state, 0)), second: states.map((state) => layer(state, 1).slice(0, S.length)),
    firstFinal: [...S, ...new Array(SIDE - S.length).fill(0)].map((x) => finalFirst(x, gamma)), secondFinal: S.map((x) => x / finalFirst(x, gamma)),
    jumps: scaled ? S.map((x) => 1 / (2 * x)) : null,
    heights: heights.map((D) => D / S[0]), potential: psi.map((x) => (x - psi[0]) / (psi[160] - psi[0])),
  };
}

/** Two runs on orthogonal samples, with clean labels and with noise drawn anew at every step. @param {Record<string, any>} s */
export function labelNoise({ gamma, noise, learning_rate: rate, seed }) {
  const random = generator(seed, 1), n = INPUTS;
  random.normals(n * n); // those of the samples, whose directions change nothing here
  const truth = random.normals(n), norm = Math.sqrt(truth.reduce((sum, x) => sum + x * x, 0));
  const run = (/** @type {number} */ size) => {
    // W1'W1 = 2 gamma I and W2 = 0: the hidden units that the first layer does not reach never move
    const W = diagonal(new Float64Array(n).fill(Math.sqrt(2 * gamma))).data, v = new Float64Array(n), draw = generator([seed, 2]), out = [];
    for (let step = 0; step <= STEPS; step++) {
      if (step % (STEPS / SAVES) === 0) out.push(Array.from(singularValues(matrix(n, n, W))));
      const R = truth.slice(), grow = new Float64Array(n);
      for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) R[j] -= v[i] * W[i * n + j];
      if (size) for (let j = 0; j < n; j++) R[j] += size * draw.normal();
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          grow[i] += rate * W[i * n + j] * R[j];
          W[i * n + j] += rate * v[i] * R[j];
        }
      }
      for (let i = 0; i < n; i++) v[i] += grow[i];
      if (!(Math.abs(v[0]) < 1e100)) throw new Error(`Descent diverges at η = ${rate} with γ = ${gamma} and δ = ${noise}: lower one of the three.`);
    }
    return out;
  };
  const time = Array.from({ length: SAVES + 1 }, (_, i) => (i * STEPS * rate) / SAVES);
  return { time, clean: run(0), noisy: run(noise), decay: time.map((t) => Math.sqrt(2 * gamma) * Math.exp((-rate * noise ** 2 * t) / 2)), flattest: Math.sqrt(Math.sqrt(n) * norm), final: finalFirst(norm, gamma) };
}
