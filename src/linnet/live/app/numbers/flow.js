// Training: gradient flow by extrapolated midpoint steps, and gradient descent, of layers that are really there.
import { matrix, product, svd, turned } from "./matrices.js";

/** @typedef {import("./matrices.js").Matrix} Matrix */
/** @typedef {(state: Float64Array, velocity: Float64Array) => void} Velocity */

const COLUMNS = 4; // of the extrapolation: order 8
const MOST_STEPS = 20000;

/**
 * States of y' = f(y) at increasing times, the first of which is the initialization's. Each step takes the midpoint rule with
 * 2, 4, 6, 8 substeps and extrapolates in their squares (Gragg, Bulirsch and Stoer).
 * @param {Velocity} f @param {ArrayLike<number>} start @param {ArrayLike<number>} clock @param {number} [rtol]
 */
export function integrate(f, start, clock, rtol = 1e-10) {
  const n = start.length, states = [Float64Array.from(start)];
  let y = states[0], now = clock[0], step = (clock[clock.length - 1] - now) / 200, steps = 0;
  const floor = rtol * y.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-300);
  const slope = new Float64Array(n), v = new Float64Array(n);
  const table = Array.from({ length: COLUMNS }, () => new Float64Array(n)), before = new Float64Array(n);
  let a = new Float64Array(n), b = new Float64Array(n);
  for (let k = 1; k < clock.length; k++) {
    while (now < clock[k]) {
      if (++steps > MOST_STEPS) throw new Error("The flow takes too many steps: take a shorter length or scales nearer to each other.");
      const left = clock[k] - now, H = step > 0.999 * left ? left : step;
      f(y, slope);
      for (let row = 0; row < COLUMNS; row++) {
        const parts = 2 * (row + 1), h = H / parts;
        for (let i = 0; i < n; i++) {
          a[i] = y[i];
          b[i] = y[i] + h * slope[i];
        }
        for (let part = 1; part < parts; part++) {
          f(b, v);
          for (let i = 0; i < n; i++) a[i] += 2 * h * v[i];
          [a, b] = [b, a];
        }
        f(b, v);
        // table[j] holds T(row, j) from the left; the newest row replaces the old one
        for (let i = 0; i < n; i++) {
          let made = (a[i] + b[i] + h * v[i]) / 2, old = table[0][i];
          table[0][i] = made;
          for (let j = 1; j <= row; j++) {
            const ratio = (parts / (2 * (row - j + 1))) ** 2;
            const next = made + (made - old) / (ratio - 1);
            old = table[j][i];
            table[j][i] = next;
            if (j === COLUMNS - 1) before[i] = made;
            made = next;
          }
        }
      }
      const best = table[COLUMNS - 1];
      let off = 0;
      for (let i = 0; i < n; i++) off = Math.max(off, Math.abs(best[i] - before[i]) / (floor + rtol * Math.max(Math.abs(y[i]), Math.abs(best[i]))));
      if (off <= 1) {
        now = H === left ? clock[k] : now + H;
        y = best.slice();
      }
      const change = off > 0 ? 0.9 * off ** (-1 / (2 * COLUMNS - 1)) : 4;
      const next = H * Math.min(4, Math.max(0.2, Number.isFinite(change) ? change : 0.2));
      step = off <= 1 && H < step ? Math.max(step, next) : next;
    }
    states.push(y);
  }
  return states;
}

/**
 * The velocity of two layers (W1, then W2, row by row) under E|y - W2 W1 x|^2 / 2 with E[x x'] = cov (the identity if
 * it is left out) and E[y x'] = cross.
 * @param {Matrix} cross @param {number} width @param {Matrix | null} cov @returns {Velocity}
 */
export function twoLayers(cross, width, cov = null) {
  const { rows: k, cols: d } = cross, one = width * d;
  const A = new Float64Array(k * d), R = new Float64Array(k * d), T = new Float64Array(width * Math.max(k, d));
  return (state, velocity) => {
    const W1 = state.subarray(0, one), W2 = state.subarray(one);
    product(A, W2, W1, k, width, d);
    if (cov) product(R, A, cov.data, k, d, d);
    else R.set(A);
    for (let i = 0; i < R.length; i++) R[i] = cross.data[i] - R[i];
    turned(T, W2, k, width);
    product(velocity, T, R, width, k, d);
    turned(T, W1, width, d);
    product(velocity.subarray(one), R, T, k, d, width);
  };
}

/** A velocity with weight decay. @param {Velocity} f @param {number} decay @returns {Velocity} */
export const withDecay = (f, decay) => (decay ? (state, velocity) => {
  f(state, velocity);
  for (let i = 0; i < state.length; i++) velocity[i] -= decay * state[i];
} : f);

const CUTOFF = Math.sqrt(2.220446049250313e-16); // of a gradient's singular values, relative, below which they count as zero

/** Spectral descent: each layer's velocity replaced by its polar factor. @param {Velocity} f @param {[number, number][]} shapes rows and columns of the layers @returns {Velocity} */
export function polar(f, shapes) {
  return (state, velocity) => {
    f(state, velocity);
    let at = 0;
    for (const [rows, cols] of shapes) {
      const part = velocity.subarray(at, (at += rows * cols)), { values, left, right } = svd(matrix(rows, cols, part), true);
      part.fill(0);
      values.forEach((s, k) => {
        if (!(s > CUTOFF * values[0])) return;
        for (let i = 0; i < rows; i++) for (let j = 0; j < cols; j++) part[i * cols + j] += left[k][i] * right[k][j];
      });
    }
  };
}

/**
 * The velocity of layers of any depth (W1 first, row by row) towards a target, for white inputs.
 * @param {Matrix} target @param {number[]} sizes units from inputs to outputs @returns {Velocity}
 */
export function deepLayers(target, sizes) {
  const d = sizes[0], L = sizes.length - 1, most = Math.max(...sizes), begin = [0];
  for (let l = 0; l < L; l++) begin.push(begin[l] + sizes[l] * sizes[l + 1]);
  const below = sizes.map((n) => new Float64Array(n * d)), flat = new Float64Array(d * most), across = new Float64Array(most * most);
  for (let i = 0; i < d; i++) below[0][i * d + i] = 1;
  let pull = new Float64Array(most * d), next = new Float64Array(most * d);
  return (state, velocity) => {
    const layer = (/** @type {number} */ l) => state.subarray(begin[l], begin[l + 1]);
    for (let l = 0; l < L; l++) product(below[l + 1], layer(l), below[l], sizes[l + 1], sizes[l], d);
    for (let i = 0; i < target.data.length; i++) pull[i] = target.data[i] - below[L][i];
    for (let l = L - 1; l >= 0; l--) {
      turned(flat, below[l], sizes[l], d);
      product(velocity.subarray(begin[l]), pull, flat, sizes[l + 1], d, sizes[l]);
      if (l === 0) break;
      turned(across, layer(l), sizes[l + 1], sizes[l]);
      product(next, across, pull, sizes[l], sizes[l + 1], d);
      [pull, next] = [next, pull];
    }
  };
}

/** The product of all layers of a state. @param {Float64Array} state @param {number[]} sizes */
export function deepProduct(state, sizes) {
  let made = matrix(sizes[1], sizes[0], state.subarray(0, sizes[0] * sizes[1]));
  for (let l = 1, at = sizes[0] * sizes[1]; l < sizes.length - 1; at += sizes[l] * sizes[l + 1], l++) {
    const next = matrix(sizes[l + 1], sizes[0]);
    product(next.data, state.subarray(at), made.data, sizes[l + 1], sizes[l], sizes[0]);
    made = next;
  }
  return made;
}

/** The mean velocity over a step of this length, by Runge and Kutta's rule of order four. @param {Velocity} f @param {number} step @returns {Velocity} */
export function overStep(f, step) {
  let k = new Float64Array(0), z = k;
  return (state, velocity) => {
    if (!k.length) [k, z] = [new Float64Array(state.length), new Float64Array(state.length)];
    f(state, velocity);
    k.set(velocity);
    for (const [by, weight] of [[step / 2, 2], [step / 2, 2], [step, 1]]) {
      for (let i = 0; i < z.length; i++) z[i] = state[i] + by * k[i];
      f(z, k);
      for (let i = 0; i < k.length; i++) velocity[i] += weight * k[i];
    }
    for (let i = 0; i < k.length; i++) velocity[i] /= 6;
  };
}

/**
 * What `keep` makes of the states of gradient descent every so many steps, the start included; ends early where a run diverges.
 * @template [Kept=Float64Array]
 * @param {Velocity} f @param {ArrayLike<number>} start @param {number} rate @param {number} steps @param {number} every
 * @param {(state: Float64Array, step: number) => Kept} [keep] a copy of the state, if left out
 */
export function descend(f, start, rate, steps, every, keep = (y) => /** @type {any} */ (y.slice())) {
  const y = Float64Array.from(start), v = new Float64Array(y.length), states = [keep(y, 0)], at = [0];
  for (let step = 1; step <= steps; step++) {
    f(y, v);
    let size = 0;
    for (let i = 0; i < y.length; i++) size = Math.max(size, Math.abs((y[i] += rate * v[i])));
    if (!(size < 1e100)) return { states, at, diverged: true };
    if (step % every === 0 || step === steps) {
      states.push(keep(y, step));
      at.push(step);
    }
  }
  return { states, at, diverged: false };
}

/** W2 W1 of a state of two layers. @param {Float64Array} state @param {number} outputs @param {number} inputs @param {number} width */
export function productOf(state, outputs, inputs, width) {
  const A = matrix(outputs, inputs);
  product(A.data, state.subarray(width * inputs), state, outputs, width, inputs);
  return A;
}
