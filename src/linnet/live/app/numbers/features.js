// The page Feature learning: neurons that turn to the feature X'y and then grow along it.
import { descend } from "./flow.js";
import { dot, matrix, orthonormal, symmetricEigen, times, transpose } from "./matrices.js";
import { generator } from "./random.js";
import { crossing } from "./spiked.js";

const SAMPLES = 10, NOISE_VARIANCE = 0.01, SAVES = 160, SHOWN = 24, SHARE = 0.05, TAIL = 6;

/** @param {number[] | Float64Array} x */
const median = (x) => {
  const sorted = Array.from(x).sort((a, b) => a - b), n = sorted.length;
  return (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2;
};
/** @param {ArrayLike<number>} x */
const mean = (x) => Array.from(x).reduce((a, b) => a + b, 0) / x.length;

/** The normal distribution function, to 1e-13. @param {number} x */
export function normalShare(x) {
  const z = Math.abs(x);
  let tail;
  if (z < 3) {
    let term = z, sum = z;
    for (let k = 1; k < 200 && Math.abs(term) > 1e-17 * sum; k++) sum += term *= (z * z) / (2 * k + 1);
    tail = 0.5 - (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
  } else {
    let fraction = z;
    for (let k = 150; k >= 1; k--) fraction = z + k / fraction;
    tail = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI) / fraction;
  }
  return x > 0 ? 1 - tail : tail;
}

/** Where a rising function is zero. @param {(x: number) => number} f @param {number} low @param {number} high */
function root(f, low, high) {
  for (let i = 0; i < 200 && high - low > 1e-15 * Math.abs(high); i++) {
    const middle = (low + high) / 2;
    if (f(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const logSinh = (/** @type {number} */ x) => x + Math.log(-Math.expm1(-2 * x)) - Math.LN2;

/** End of the first stage: the median over neurons of |rho| is predicted to be 1. @param {number} gamma @param {number} std @param {number} v0 @param {number} rate */
export function firstTime(gamma, std, v0, rate) {
  const size = Math.log(Math.sqrt(gamma));
  const excess = (/** @type {number} */ tau) => {
    const ratio = v0 / std / Math.tanh(tau / 2); // mean over deviation
    if (ratio > 30) return Math.log(v0) + size + logSinh(tau);
    const middle = root((x) => normalShare(x - ratio) - normalShare(-x - ratio) - 0.5, 0, ratio + 1);
    return Math.log(2 * std) + size + 2 * logSinh(tau / 2) + Math.log(middle);
  };
  let low = 1, high = 1;
  while (excess(low) > 0 && low > 1e-300) low /= 2;
  while (excess(high) < 0) high *= 2;
  return root(excess, low, high) / rate;
}

/** @param {Record<string, any>} s */
export function featureLearning({ dim, width: m, first_std: std, magnitude: v0, signal, growth, seed }) {
  const teacher = generator(seed, 2).normals(dim), size = signal / Math.sqrt(dot(teacher, teacher)), n = SAMPLES;
  const all = matrix(n, dim, generator(seed, 0).normals(n * dim)), noise = generator(seed, 1).normals(n);
  const y = Float64Array.from({ length: n }, (_, i) => size * dot(all.data.subarray(i * dim, (i + 1) * dim), teacher) + Math.sqrt(NOISE_VARIANCE) * noise[i]);
  const X = times(all, orthonormal(transpose(all))), feature = times(transpose(X), matrix(n, 1, y)).data; // within the samples' span
  const K = times(X, transpose(X)), image = times(K, matrix(n, 1, y)).data, gamma = dot(y, image), phi = dot(image, image), limit = gamma ** 2.5 / phi;
  const eta = (growth * n) / Math.sqrt(gamma), rate = Math.sqrt(gamma) / n, damping = phi / gamma ** 2;
  const random = generator([seed, 1]), W = random.normals(m * n).map((x) => (std * x) / Math.sqrt(m)), v = random.signs(m).map((x) => (v0 * x) / Math.sqrt(m));
  const start = new Float64Array(m * n + m);
  start.set(W);
  start.set(v, m * n);
  const rise = Math.log(Math.sqrt(limit / gamma) / Math.max(std, v0)), steps = Math.ceil((Math.max(rise, 0) + TAIL) / Math.log1p(growth));
  const R = new Float64Array(n), g = new Float64Array(n);
  const velocity = (/** @type {Float64Array} */ state, /** @type {Float64Array} */ out) => {
    const A = new Float64Array(n);
    for (let r = 0; r < m; r++) for (let j = 0, x = state[m * n + r]; j < n; j++) A[j] += x * state[r * n + j];
    for (let i = 0; i < n; i++) R[i] = (y[i] - dot(X.data.subarray(i * n, (i + 1) * n), A)) / n;
    for (let j = 0; j < n; j++) {
      g[j] = 0;
      for (let i = 0; i < n; i++) g[j] += R[i] * X.data[i * n + j];
    }
    for (let r = 0; r < m; r++) {
      const x = state[m * n + r];
      let sum = 0;
      for (let j = 0; j < n; j++) {
        sum += state[r * n + j] * g[j];
        out[r * n + j] = x * g[j];
      }
      out[m * n + r] = sum;
    }
  };
  const run = descend(velocity, start, eta, steps, Math.max(1, Math.floor(steps / SAVES)));
  if (run.diverged) throw new Error("Descent diverges: lower the growth per step.");
  const wide = Math.sqrt(m), aligned = (/** @type {Float64Array} */ state) => Float64Array.from({ length: m }, (_, r) => wide * dot(state.subarray(r * n, (r + 1) * n), feature));
  const overlaps = aligned(start), goal = plusOuter(K, image, 1 / gamma), norm = Math.sqrt(dot(goal.data, goal.data)), goalSize = symmetricEigen(goal).values[0];
  const kernelOf = (/** @type {number} */ square, /** @type {import("./matrices.js").Matrix} */ rest) => matrix(n, n, K.data.map((k, i) => square * k + rest.data[i]));
  const operator = (/** @type {import("./matrices.js").Matrix} */ k) => symmetricEigen(k).values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const cosine = (/** @type {import("./matrices.js").Matrix} */ k) => dot(k.data, goal.data) / Math.sqrt(dot(k.data, k.data)) / norm;
  const lossOf = (/** @type {Float64Array} */ f) => y.reduce((sum, one, i) => sum + (one - f[i]) ** 2, 0) / (2 * n);
  // the two-dimensional system (10): two numbers are followed, by how much the products of its factors exceed one
  const begun = v.map((x) => wide * x), big = Math.sqrt(gamma), up0 = overlaps.map((c, r) => c + big * begun[r]), down0 = overlaps.map((c, r) => c - big * begun[r]);
  const both = mean(begun.map((x, r) => x * overlaps[r])), ofUp = mean(up0.map((x) => x * x)) / (4 * big), ofDown = mean(down0.map((x) => x * x)) / (4 * big);
  let up = 0, down = 0, done = 0;
  const rows = run.at.map((step, k) => {
    for (; done < step; done++) {
      const force = 1 - damping * (both + up * (2 + up) * ofUp - down * (2 + down) * ofDown);
      [up, down] = [up + (1 + up) * growth * force, down - (1 + down) * growth * force];
    }
    const rho0 = up0.map((x, r) => (up * x + down * down0[r]) / 2), v1 = begun.map((x, r) => x + (up * up0[r] - down * down0[r]) / (2 * big));
    const state = run.states[k], now = aligned(state), rho = now.map((x, r) => x - overlaps[r]), vs = state.subarray(m * n).map((x) => wide * x);
    const inner = times(transpose(matrix(m, n, state.subarray(0, m * n))), matrix(m, n, state.subarray(0, m * n)));
    const square = mean(vs.map((x) => x * x)), kernel = kernelOf(square, times(times(X, inner), transpose(X)));
    const across = mean(rho0.map((x, r) => (x + overlaps[r]) ** 2)) / gamma, square0 = mean(v1.map((x) => x * x));
    const predictedKernel = matrix(n, n, K.data.map((x, i) => { const along = goal.data[i] - x; return square0 * x + across * along + std * std * (x - along); }));
    const A = new Float64Array(n);
    for (let r = 0; r < m; r++) for (let j = 0, x = state[m * n + r]; j < n; j++) A[j] += x * state[r * n + j];
    const out = times(X, matrix(n, 1, A)).data, scale = mean(v1.map((x, r) => x * (rho0[r] + overlaps[r]))) / gamma;
    return {
      step, loss: lossOf(out), predictedLoss: lossOf(image.map((x) => scale * x)),
      ratio: median(rho.map((x, r) => x / (vs[r] * big))), predictedRatio: median(rho0.map((x, r) => x / (v1[r] * big))),
      alignment: median(rho.map(Math.abs)), square: mean(rho.map((x) => x * x)) / limit,
      away: 1 - cosine(kernel), predictedAway: 1 - cosine(predictedKernel), size: operator(kernel),
      distance: operator(matrix(n, n, kernel.data.map((x, i) => x - square * goal.data[i]))) / (square * goalSize),
      angles: Array.from({ length: Math.min(SHOWN, m) }, (_, r) => {
        const w = state.subarray(r * n, (r + 1) * n);
        return (Math.acos(Math.max(-1, Math.min(1, now[r] / wide / Math.sqrt(dot(w, w) * gamma)))) * 180) / Math.PI;
      }),
    };
  });
  const first = firstTime(gamma, std, v0, rate), left = Math.sqrt(SHARE), proxy = 1 / Math.sqrt(1 - 1 / limit);
  const second = 1 >= Math.sqrt(limit) * Math.sqrt(1 - left) ? NaN : first + Math.log(Math.sqrt((limit * (1 - left)) / left) / proxy) / rate;
  const at = rows.map((r) => r.step), tiny = (/** @type {number} */ x) => Math.log(Math.max(x, 2.3e-308));
  const lost = (/** @type {number} */ share) => crossing(at, rows.map((r) => -tiny(r.loss / rows[0].loss)), -Math.log(1 - share));
  return {
    rows, signs: Array.from(begun.subarray(0, SHOWN), Math.sign), loss0: rows[0].loss, size: Math.max(...rows.map((r) => r.size)), gamma, phi, rate: eta,
    first: first / eta, second: second / eta, firstTrained: crossing(at, rows.map((r) => tiny(r.alignment)), 0), secondTrained: lost(1 - SHARE),
  };
}

/** K plus a multiple of x x'. @param {import("./matrices.js").Matrix} K @param {Float64Array} x @param {number} by */
const plusOuter = (K, x, by) => matrix(K.rows, K.cols, K.data.map((k, i) => k + by * x[Math.floor(i / K.cols)] * x[i % K.cols]));
