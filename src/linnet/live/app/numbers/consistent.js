// The self-consistent dynamics of Tu et al. in closed form: the flow of the network whose imbalance is 2g times identity.
import { dot, inverse, matrix, svd, times, transpose } from "./matrices.js";
import { integrate, productOf, twoLayers, withDecay } from "./flow.js";

/** @typedef {import("./matrices.js").Matrix} Matrix */

/**
 * Products A(t) from A(0) towards Y at threshold g > 0 for white inputs.
 *
 * With F = [[g, Y'], [Y, -g]] and Q = [W1'; W2] the flow is Q' = F Q - Q Q'Q/2, whose Gram matrix solves a Riccati
 * equation. In the eigenvectors of F, rates +-rho, with X and Z the start along growing and decaying ones and
 * R = Z X^-1, it is C (D + E (X^-T X^-1 + R' D R) E)^-1 C' with E = exp(-rho t), D = (1 - E^2)/2 rho: nothing overflows.
 * @param {Matrix} target @param {Matrix} start @param {number} g @param {ArrayLike<number>} clock @returns {Matrix[]}
 */
export function selfConsistent(target, start, g, clock) {
  if (target.rows < target.cols) return selfConsistent(transpose(target), transpose(start), g, clock).map(transpose);
  const { rows: k, cols: d } = target, goal = svd(target, true), begun = svd(start, true);
  const U = basis(goal.left, k), V = basis(goal.right, d), S = Array.from({ length: d }, (_, i) => goal.values[i]);
  const u0 = basis(begun.left, k), v0 = basis(begun.right, d);
  // layers of the initialization: W1 = big v0', W2 = u0 small
  const big = Array.from(begun.values, (s) => Math.sqrt(g + Math.hypot(s, g))), small = Array.from(begun.values, (s, i) => s / big[i]);
  const rate = S.map((s) => Math.hypot(s, g)), near = S.map((s, i) => Math.hypot(1, s / (rate[i] + g)) ** -1), far = S.map((s, i) => (s / (rate[i] + g)) * near[i]);
  const X = matrix(d, d), Z = matrix(k, d);
  for (let j = 0; j < d; j++) {
    for (let i = 0; i < k; i++) {
      const along = dot(U[i], u0[j]) * small[j], beside = i < d ? dot(V[i], v0[j]) * big[j] : 0;
      if (i < d) {
        X.data[i * d + j] = near[i] * beside + far[i] * along;
        Z.data[i * d + j] = far[i] * beside - near[i] * along;
      } else Z.data[i * d + j] = along;
    }
  }
  const back = inverse(X), R = times(Z, back), gram = times(transpose(back), back);
  return Array.from(clock, (t) => {
    const E = rate.map((r) => Math.exp(-r * t)), D = rate.map((r) => (r > 0 ? -Math.expm1(-2 * r * t) / (2 * r) : t));
    const slow = Array.from({ length: k }, (_, i) => (i < d ? D[i] : -Math.expm1(-2 * g * t) / (2 * g)));
    const M = matrix(d, d);
    for (let i = 0; i < d; i++) {
      for (let j = 0; j < d; j++) {
        let sum = gram.data[i * d + j];
        for (let l = 0; l < k; l++) sum += R.data[l * d + i] * slow[l] * R.data[l * d + j];
        M.data[i * d + j] = E[i] * sum * E[j] + (i === j ? D[i] : 0);
      }
    }
    const N = inverse(M);
    // columns of C: the growing vectors plus what R leaves of the decaying ones
    const inner = matrix(d, d), outer = matrix(k, d);
    for (let l = 0; l < k; l++) {
      for (let j = 0; j < d; j++) {
        const rest = R.data[l * d + j] * (l < d ? E[l] : Math.exp(-g * t)) * E[j], own = +(l === j);
        if (l < d) {
          inner.data[l * d + j] = near[l] * own + far[l] * rest;
          outer.data[l * d + j] = far[l] * own - near[l] * rest;
        } else outer.data[l * d + j] = rest;
      }
    }
    const seen = times(times(outer, N), transpose(inner)), A = matrix(k, d);
    for (let i = 0; i < k; i++) for (let p = 0; p < k; p++) for (let q = 0; q < d; q++) for (let j = 0; j < d; j++) {
      const x = U[p][i] * V[q][j];
      if (x !== 0) A.data[i * d + j] += x * seen.data[p * d + q];
    }
    return A;
  });
}

/** As many orthonormal rows of length n as n: the given ones, completed. @param {Float64Array[]} rows @param {number} n */
function basis(rows, n) {
  const out = rows.filter((row) => dot(row, row) > 0.5).slice(0, n), found = rows.map((row) => dot(row, row) > 0.5);
  /** @type {Float64Array[]} */ const made = [];
  for (let i = 0; out.length + made.length < n && i < n; i++) {
    const v = Float64Array.from({ length: n }, (_, j) => +(i === j));
    for (let again = 0; again < 2; again++) for (const row of [...out, ...made]) {
      const along = dot(row, v);
      for (let j = 0; j < n; j++) v[j] -= along * row[j];
    }
    const size = Math.sqrt(dot(v, v));
    if (size > 0.1 / Math.sqrt(n)) made.push(v.map((x) => x / size));
  }
  const whole = Array.from({ length: n }, (_, i) => (i < rows.length && found[i] ? rows[i] : made.shift() ?? new Float64Array(n)));
  return whole;
}


/**
 * The same dynamics with weight decay, any covariance: the flow of the network of width min(k, d) whose imbalance is
 * 2g exp(-2 decay t) times identity.
 * @param {Matrix} cross @param {Matrix | null} cov @param {Matrix} start @param {number} g @param {number} decay @param {ArrayLike<number>} clock
 */
export function decaying(cross, cov, start, g, decay, clock) {
  const { rows: k, cols: d } = cross, width = Math.min(k, d), tall = k >= d, { left, right, values } = svd(start, true);
  const u = basis(left, k), v = basis(right, d), state = new Float64Array(width * (d + k));
  for (let i = 0; i < width; i++) {
    const big = Math.sqrt(g + Math.hypot(values[i], g)), [one, two] = tall ? [big, values[i] / big] : [values[i] / big, big];
    for (let j = 0; j < d; j++) state[i * d + j] = one * v[i][j];
    for (let j = 0; j < k; j++) state[width * d + j * width + i] = two * u[i][j];
  }
  return integrate(withDecay(twoLayers(cross, width, cov), decay), state, clock, 1e-10).map((y) => productOf(y, k, d, width));
}

/**
 * The same dynamics for one output and any covariance: a' = s r + r (g + a a'/(s + g)) with s = sqrt(|a|^2 + g^2).
 * @param {Matrix} cross @param {Matrix} cov @param {Matrix} start @param {number} g @param {ArrayLike<number>} clock
 */
export function oneOutput(cross, cov, start, g, clock) {
  const d = cross.cols, r = new Float64Array(d);
  const velocity = (/** @type {Float64Array} */ a, /** @type {Float64Array} */ v) => {
    for (let i = 0; i < d; i++) {
      r[i] = cross.data[i];
      for (let j = 0; j < d; j++) r[i] -= a[j] * cov.data[j * d + i];
    }
    const s = Math.hypot(Math.sqrt(dot(a, a)), g), along = dot(r, a) / (s + g);
    for (let i = 0; i < d; i++) v[i] = (s + g) * r[i] + along * a[i];
  };
  return integrate(velocity, start.data, clock).map((a) => matrix(1, d, a));
}
