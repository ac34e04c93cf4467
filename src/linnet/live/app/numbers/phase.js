// The page Phase diagram: a task drawn here or named in the data, its map, and cells that are really trained.
import { cellOf, everythingAt, leastError, leastErrors, plane } from "./diagram.js";
import { productOf, twoLayers } from "./flow.js";
import { grouped, spectrumOf } from "./spectra.js";
import { reducedGaussian, stateOf } from "./starts.js";
import { lowRank } from "./tasks.js";

const TIMES = 90, MOST_STEPS = 1500;
const CAREFUL = 0.3; // the step of a trained cell times its fastest rate

/** @typedef {{ values: number[], overlaps: number[], counts: number[], dim: number, power: number, apart: number }} Given */

/** @type {{ name: string, task: ReturnType<typeof lowRank> | null, spectrum: import("./spectra.js").Spectrum } | null} */
let kept = null;

/** The drawn task and its spectrum; the last one is kept. @param {Record<string, any>} s */
export function drawn(s) {
  const name = [s.dim, s.rank, s.noise, s.key].join();
  if (kept?.name === name) return kept;
  const task = lowRank({ inputs: s.dim, outputs: s.dim, rank: s.rank, noise: s.noise, key: s.key });
  kept = { name, task, spectrum: spectrumOf(task) };
  return kept;
}

/** @param {Record<string, any>} s */
function spectrumFor(s) {
  /** @type {Given | undefined} */
  const given = s.spectrum;
  if (!given) return drawn(s).spectrum;
  const [values, overlaps, counts] = [given.values, given.overlaps, given.counts].map((x) => Float64Array.from(x));
  return { ...given, values, overlaps, counts };
}

/** @param {Record<string, any>} s */
export function map(s) {
  const spectrum = spectrumFor(s), axes = plane(spectrum.dim), found = leastErrors(spectrum, axes.widths, axes.variances);
  return { ...found, ...axes, power: spectrum.power, size: Math.max(...spectrum.values.subarray(0, Math.max(1, spectrum.apart))), values: spectrum.values, overlaps: spectrum.overlaps };
}

/**
 * One cell: its curves by formula, and of a network that is trained by gradient flow (Runge and Kutta's steps of order
 * four) from drawn weights, at the dimension of the map.
 * @param {Record<string, any>} s @param {(partial: any) => void} tell what is known so far
 */
export function cell(s, tell) {
  const spectrum = spectrumFor(s), { dim } = spectrum, variance = dim ** s.cell[0], width = Math.max(1, Math.round(dim ** s.cell[1])), g = variance * width;
  const best = leastError(spectrum, grouped(spectrum, 24), g, width), table = cellOf(spectrum, g, width), shown = Math.min(s.rank + 2, 8);
  const end = 2.5 * best.time, wide = width >= 2 * dim;
  const at = (/** @type {number} */ t) => everythingAt(table, t, shown), unit = spectrum.power;
  const clock = Array.from({ length: TIMES + 1 }, (_, i) => (end * i) / TIMES), formula = clock.map(at);
  const out = {
    width, variance, threshold: g, wide, dim, time: clock, unit,
    predictedTest: formula.map((x) => x.test / unit), predictedTrain: formula.map((x) => x.train / unit), predictedModes: formula.map((x) => x.modes),
    predictedLeast: best.test / unit, predictedTime: best.time,
    trainedTime: /** @type {number[]} */ ([]), test: /** @type {number[]} */ ([]), train: /** @type {number[]} */ ([]), least: NaN, leastTime: NaN, done: false, steps: 0, note: "",
  };
  if (s.spectrum) {
    out.done = true;
    out.note = "This task is known by its spectrum alone, so no network of it can be trained: the curves are the formula's.";
    return out;
  }
  tell(out);
  const { task } = drawn(s);
  if (!task) return out;
  const start = reducedGaussian({ inputs: dim, outputs: dim, width, stds: [Math.sqrt(variance), Math.sqrt(variance)], key: [s.key, 1] });
  const f = twoLayers(task.cross, start.width), n = 2 * dim * start.width;
  const fastest = Math.max(g * (1 + Math.sqrt(dim / width)) ** 2, spectrum.values[0]), steps = Math.min(MOST_STEPS, Math.max(TIMES, Math.ceil((end * fastest) / CAREFUL)));
  const h = end / steps, every = Math.max(1, Math.round(steps / TIMES));
  let y = stateOf(start), heard = Date.now();
  const [k1, k2, k3, k4, z] = Array.from({ length: 5 }, () => new Float64Array(n));
  const keep = (/** @type {number} */ t) => {
    const A = productOf(y, dim, dim, start.width);
    let test = 0, train = 0;
    for (let i = 0; i < A.data.length; i++) {
      test += (A.data[i] - task.truth.data[i]) ** 2;
      train += (A.data[i] - task.cross.data[i]) ** 2;
    }
    out.trainedTime.push(t);
    out.test.push(test / unit);
    out.train.push(train / unit);
    if (!(test / unit >= out.least)) [out.least, out.leastTime] = [test / unit, t];
  };
  const add = (/** @type {Float64Array} */ k, /** @type {number} */ by) => {
    for (let i = 0; i < n; i++) z[i] = y[i] + by * k[i];
    return z;
  };
  keep(0);
  for (let step = 1; step <= steps; step++) {
    f(y, k1);
    f(add(k1, h / 2), k2);
    f(add(k2, h / 2), k3);
    f(add(k3, h), k4);
    for (let i = 0; i < n; i++) y[i] += (h / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    if (step % every === 0 || step === steps) keep(step * h);
    if (Date.now() - heard > 150) {
      heard = Date.now();
      out.steps = step;
      tell(out);
    }
  }
  out.steps = steps;
  out.done = true;
  return out;
}

