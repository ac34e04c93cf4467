// Cells of the phase diagram wider than the target: the spectral flow of every mode plus the initialization's own product, as in
// `theories.lazy_active.predicted_diagram(..., draws=0)`.
import { grouped } from "./spectra.js";

/** @typedef {import("./spectra.js").Spectrum} Spectrum */
/** @typedef {{ spectrum: Spectrum, table: Float64Array, g: number, width: number }} Cell */

const TIMES = 20, GROUPS = 24, WIDE = 2, MOST_LEFT_OUT = 0.01, PLATEAU = 0.5;
export const LIMIT = 0.01; // of the uncertainty, above which the map is hatched

/** One cell: what of the formula does not depend on time, laid out for the loop over modes. @param {Spectrum} spectrum @param {number} g @param {number} width @returns {Cell} */
export function cellOf(spectrum, g, width) {
  const M = spectrum.values.length, table = new Float64Array(8 * M);
  for (let i = 0, at = 0; i < M; i++, at += 8) {
    const S = spectrum.values[i], rho = Math.sqrt(S * S + g * g), a = (S + rho) / g, q = (S * (1 + S / (rho + g))) / (S + rho + g);
    table[at] = -2 * rho;
    table[at + 1] = a * q;
    table[at + 2] = q / a;
    table[at + 3] = 1 + a * q - q / a - q * q;
    table[at + 4] = S;
    table[at + 5] = spectrum.counts[i];
    table[at + 6] = spectrum.counts[i] * spectrum.overlaps[i];
  }
  return { spectrum, table, g, width };
}

/** |A - A*|^2 at one time: the inner loop of the map. @param {Cell} cell @param {number} t */
export function testAt({ spectrum, table, g, width }, t) {
  const gg = g * g, end = table.length;
  let sum = 0, side = 0;
  for (let at = 0; at < end; at += 8) {
    const E = Math.exp(table[at] * t), S = table[at + 4], count = table[at + 5];
    const left = (E * table[at + 3]) / ((1 + table[at + 1] * E) * (1 - table[at + 2] * E)), s = S * (1 - left);
    sum += s * (count * s - 2 * table[at + 6]);
    side += count * Math.sqrt(s * s + gg) * left;
  }
  return sum + spectrum.power + (side * side) / width;
}

/** Squared errors, the initialization's own part, stable rank and the leading modes at one time. @param {Cell} cell @param {number} t @param {number} [shown] */
export function everythingAt(cell, t, shown = 0) {
  const { table, g, width, spectrum } = cell, modes = [];
  let power = 0, missing = 0, side = 0, largest = 0;
  for (let at = 0; at < table.length; at += 8) {
    const E = Math.exp(table[at] * t), S = table[at + 4], count = table[at + 5];
    const left = (E * table[at + 3]) / ((1 + table[at + 1] * E) * (1 - table[at + 2] * E)), s = S * (1 - left);
    power += count * s * s;
    missing += count * (left * S) ** 2;
    side += count * Math.sqrt(s * s + g * g) * left;
    if (s > largest) largest = s;
    if (modes.length < shown) modes.push(s);
  }
  const own = (side * side) / width, unit = Math.sqrt(Math.max(own, 2.3e-308) / spectrum.dim), x = Math.max(largest / unit, 1);
  return { test: testAt(cell, t), train: missing + own, rank: (power + own) / (unit * (x + 1 / x)) ** 2, own, modes };
}

/** The times between which the minimum error lies. @param {Spectrum} spectrum @param {number} g @param {number} width @returns {[number, number]} */
export function span({ values, apart, dim, power }, g, width) {
  const first = values[0], last = values[Math.max(apart - 1, 0)], growth = Math.log(2 + first / g) / 2, start = (g * g * dim * dim) / width;
  return [(0.1 * growth) / Math.hypot(first, g), (4 * growth) / Math.hypot(last, g) + Math.log1p(start / power) / (2 * g)];
}

/** Where the parabola through three equidistant values is least, in steps from the middle. @param {number} before @param {number} middle @param {number} after */
function vertex(before, middle, after) {
  const bend = before - 2 * middle + after;
  return bend > 0 ? Math.max(-2, Math.min(2, (before - after) / (2 * bend))) : 0;
}

/** The first index of the least value. @param {number[]} values */
const leastOf = (values) => values.reduce((best, x, i) => (x < values[best] ? i : best), 0);

/** The minimum test error of a cell: a coarse grid of times with few modes, halved twice, then all modes. @param {Spectrum} spectrum @param {Spectrum} few @param {number} g @param {number} width */
export function leastError(spectrum, few, g, width) {
  const [early, late] = span(spectrum, g, width), coarse = cellOf(few, g, width);
  let step = Math.log(late / early) / (TIMES - 1);
  const found = Array.from({ length: TIMES }, (_, i) => testAt(coarse, early * Math.exp(i * step)));
  let at = Math.max(1, Math.min(TIMES - 2, leastOf(found))), around = found.slice(at - 1, at + 2), middle = early * Math.exp(at * step);
  for (let halving = 0; halving < 2; halving++) {
    step /= 2;
    const five = [around[0], testAt(coarse, middle * Math.exp(-step)), around[1], testAt(coarse, middle * Math.exp(step)), around[2]];
    at = Math.max(1, Math.min(3, leastOf(five)));
    around = five.slice(at - 1, at + 2);
    middle *= Math.exp(step * (at - 2));
  }
  let time = middle * Math.exp(step * vertex(around[0], around[1], around[2]));
  const cell = cellOf(spectrum, g, width), fine = Math.log(1.03), near = [-1, 0, 1].map((k) => testAt(cell, time * Math.exp(fine * k)));
  time *= Math.exp(fine * vertex(near[0], near[1], near[2]));
  const bend = Math.max(near[0] - 2 * near[1] + near[2], 0) / fine ** 2 / near[1];
  return { time, bend, ...everythingAt(cell, time) };
}

/** What a finite width changes that the formula leaves out, as Python measured it. @param {Spectrum} spectrum @param {number} width @param {number} g @param {number} share of the initialization's own product in the error */
export function leftOut(spectrum, width, g, share) {
  const part = spectrum.dim / width;
  return ((1.6 * part) / (1 + 2 * part)) * share + (0.08 * part ** 2 * g * g) / (g * g + spectrum.values[0] ** 2);
}

/**
 * Every cell, row by row of widths: minimum test error, its time (NaN on a plateau), stable rank and uncertainty (NaN
 * where Python draws networks).
 * @param {Spectrum} spectrum @param {number[]} widths @param {number[]} variances
 */
export function leastErrors(spectrum, widths, variances) {
  const few = grouped(spectrum, GROUPS), size = widths.length * variances.length;
  const [test, time, rank, uncertainty] = Array.from({ length: 4 }, () => new Float64Array(size));
  widths.forEach((width, i) => variances.forEach((variance, j) => {
    const g = width * variance, at = i * variances.length + j, best = leastError(spectrum, few, g, width);
    const left = leftOut(spectrum, width, g, best.own / best.test), off = 0.05 / spectrum.dim + 0.0005 + left;
    const drawn = width / spectrum.dim < WIDE || left > MOST_LEFT_OUT;
    test[at] = best.test;
    rank[at] = best.rank;
    uncertainty[at] = drawn ? NaN : off;
    time[at] = drawn || Math.sqrt((2 * off) / Math.max(best.bend, 1e-300)) < PLATEAU ? best.time : NaN;
  }));
  return { test, time, rank, uncertainty };
}

export const POINTS = 35;
/** Exponents of the plane, and widths and variances at a dimension. @param {number} dim */
export function plane(dim) {
  const line = (/** @type {number} */ a, /** @type {number} */ b) => Array.from({ length: POINTS }, (_, i) => a + ((b - a) * i) / (POINTS - 1));
  const widthPowers = line(0, 2.8), variancePowers = line(-3, 0);
  return { widthPowers, variancePowers, widths: widthPowers.map((p) => Math.max(1, Math.round(dim ** p))), variances: variancePowers.map((p) => dim ** p) };
}
