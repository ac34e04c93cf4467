// Cells of the phase diagram under spectral descent or weight decay: `predicted_diagram(..., update=, weight_decay=)`.
import { cellOf, everythingAt, leftOut } from "./diagram.js";
import { timeOfLevel } from "./modes.js";
import { grouped } from "./spectra.js";

/** @typedef {import("./spectra.js").Spectrum} Spectrum */
/** @typedef {{ test: Float64Array, time: Float64Array, rank: Float64Array, uncertainty: Float64Array }} Cells */

const LEAST_OFF = 0.005; // of spectral descent, as Python measured it
const NODES = 128, GROUPS = 48; // thresholds that are followed, the others are interpolated; modes
const GROWTH = 1.07, OF_DECAY = 0.06; // steps: by a factor in time, but no longer than a part of the decay
const EARLY = 0.01, LATE = 40, DECAYED = 12; // of the times looked at; after so many times 1/decay all is at the end
const SAME = 1e-9;

/** Squared norm of (A - A*), with modes s. @param {Spectrum} spectrum @param {ArrayLike<number>} s */
function errorOf({ values, counts, overlaps, power }, s) {
  let sum = power;
  for (let i = 0; i < values.length; i++) sum += counts[i] * s[i] * (s[i] - 2 * overlaps[i]);
  return sum;
}

/** @param {Spectrum} spectrum @param {ArrayLike<number>} s */
function rankOf({ counts }, s) {
  let sum = 0, largest = 0;
  for (let i = 0; i < counts.length; i++) {
    sum += counts[i] * s[i] ** 2;
    largest = Math.max(largest, s[i]);
  }
  return sum / Math.max(largest ** 2, 1e-300);
}

/**
 * Under spectral descent the target is clipped at a level that all modes share: between two neighboring singular values
 * the error is quadratic in it.
 * @param {Spectrum} spectrum
 */
export function bestLevel(spectrum) {
  const { values, counts, overlaps } = spectrum, n = values.length;
  const order = Array.from(values.keys()).sort((i, j) => values[j] - values[i]);
  let count = 0, sum = 0, best = { level: 0, test: spectrum.power };
  order.forEach((k, at) => {
    count += counts[k];
    sum += counts[k] * overlaps[k];
    const below = at + 1 < n ? values[order[at + 1]] : 0, level = Math.min(Math.max(sum / count, below), values[k]);
    const test = errorOf(spectrum, Array.from(values, (S) => Math.min(S, level)));
    if (test < best.test) best = { level, test };
  });
  return best;
}

/** All cells under spectral descent; NaN where the network is narrower than the target. @param {Spectrum} spectrum @param {number[]} widths @param {number[]} variances @returns {Cells} */
export function clippedErrors(spectrum, widths, variances) {
  const { level, test } = bestLevel(spectrum), rank = rankOf(spectrum, Array.from(spectrum.values, (S) => Math.min(S, level)));
  const rise = errorOf(spectrum, spectrum.values) / test - 1;
  return cells(widths, variances, (width, variance) => {
    if (width < spectrum.dim) return [NaN, NaN, NaN, NaN];
    const g = width * variance, share = (g * spectrum.dim) / Math.sqrt(width * test);
    return [test, timeOfLevel(level, g), rank, LEAST_OFF + (share > 1 ? share * share : Math.min(share, rise))];
  });
}

/**
 * Modes under weight decay from one threshold: with s = g(t) sinh x, dx/dt = 2(S - g(t) sinh x), which is solved exactly
 * for a threshold that rests during a step. Calls `look` at each time.
 * @param {Spectrum} spectrum @param {number} g @param {number} decay @param {(t: number, s: Float64Array) => void} look
 */
function follow({ values }, g, decay, look) {
  const u = new Float64Array(values.length).fill(1), s = new Float64Array(values.length);
  const last = values.reduce((least, S) => Math.min(least, S), Infinity);
  const late = Math.min(LATE / Math.min(decay, Math.hypot(last, g)), DECAYED / decay), early = EARLY / Math.hypot(values[0], g);
  for (let t = 0; t < late; ) {
    const h = t === 0 ? early : Math.min(t * (GROWTH - 1), OF_DECAY / decay), middle = g * Math.exp(-2 * decay * (t + h / 2));
    t += h;
    const now = g * Math.exp(-2 * decay * t);
    for (let i = 0; i < u.length; i++) {
      const S = values[i], rho = Math.hypot(S, middle), up = (S + rho) / middle, down = -middle / (S + rho), E = Math.exp(-2 * rho * h);
      const C = ((u[i] - up) / (u[i] - down)) * E;
      u[i] = (up - down * C) / (1 - C);
      s[i] = (now / 2) * (u[i] - 1 / u[i]);
    }
    look(t, s);
  }
}

/** The modes at a time under weight decay. @param {Spectrum} spectrum @param {number} g @param {number} decay @param {number[]} clock increasing */
export function decayedModes(spectrum, g, decay, clock) {
  /** @type {Float64Array[]} */
  const found = [];
  let before = { t: 0, s: new Float64Array(spectrum.values.length) };
  follow(spectrum, g, decay, (t, s) => {
    while (found.length < clock.length && clock[found.length] <= t) {
      const share = (clock[found.length] - before.t) / (t - before.t);
      found.push(s.map((x, i) => before.s[i] + share * (x - before.s[i])));
    }
    before = { t, s: s.slice() };
  });
  while (found.length < clock.length) found.push(spectrum.values.map((S) => Math.max(S - decay, 0)));
  return found;
}

/** The least error over all times from one threshold, the end included. @param {Spectrum} spectrum @param {number} g @param {number} decay */
function leastUnderDecay(spectrum, g, decay) {
  const end = spectrum.values.map((S) => Math.max(S - decay, 0)), last = errorOf(spectrum, end);
  let best = { test: Infinity, time: 0, rank: 0 };
  follow(spectrum, g, decay, (t, s) => {
    const test = errorOf(spectrum, s);
    if (test < best.test) best = { test, time: t, rank: rankOf(spectrum, s) };
  });
  return last <= (1 + SAME) * best.test ? { test: last, time: Infinity, rank: rankOf(spectrum, end) } : best;
}

/** All cells under weight decay; NaN for networks that are not wide. @param {Spectrum} spectrum @param {number[]} widths @param {number[]} variances @param {number} decay @returns {Cells} */
export function decayedErrors(spectrum, widths, variances, decay) {
  const few = grouped(spectrum, GROUPS), low = Math.log(widths[0] * variances[0]), high = Math.log(Number(widths.at(-1)) * Number(variances.at(-1)));
  const nodes = Array.from({ length: NODES }, (_, i) => leastUnderDecay(few, Math.exp(low + ((high - low) * i) / (NODES - 1)), decay));
  return cells(widths, variances, (width, variance) => {
    const g = width * variance, place = Math.min(Math.max(((Math.log(g) - low) / (high - low)) * (NODES - 1), 0), NODES - 1), i = Math.min(Math.floor(place), NODES - 2), part = place - i;
    const [one, two] = [nodes[i], nodes[i + 1]], between = (/** @type {number} */ a, /** @type {number} */ b) => (a === b ? a : a * (b / a) ** part);
    const test = between(one.test, two.test), time = between(one.time, two.time);
    const own = everythingAt(cellOf(few, g, width), Math.min(time, LATE / decay)).own / test, left = leftOut(spectrum, width, g, own);
    if (width / spectrum.dim < 2 || left > 0.01) return [NaN, NaN, NaN, NaN];
    return [test, time, between(one.rank, two.rank), 0.05 / spectrum.dim + 0.0005 + left + own];
  });
}

/** @param {number[]} widths @param {number[]} variances @param {(width: number, variance: number) => number[]} cell @returns {Cells} */
function cells(widths, variances, cell) {
  const size = widths.length * variances.length, [test, time, rank, uncertainty] = Array.from({ length: 4 }, () => new Float64Array(size));
  widths.forEach((width, i) => variances.forEach((variance, j) => {
    const at = i * variances.length + j;
    [test[at], time[at], rank[at], uncertainty[at]] = cell(width, variance);
  }));
  return { test, time, rank, uncertainty };
}
