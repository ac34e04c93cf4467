// The page Phase diagram: a task drawn here or named in the data, its map, and cells that are really trained.
import { cellOf, everythingAt, leastError, leastErrors, plane } from "./diagram.js";
import { descend, overStep, polar, productOf, twoLayers, withDecay } from "./flow.js";
import { levelAt, timeOfLevel } from "./modes.js";
import { bestLevel, clippedErrors, decayedErrors, decayedModes } from "./others.js";
import { grouped, spectrumOf } from "./spectra.js";
import { reducedGaussian, stateOf } from "./starts.js";
import { lowRank } from "./tasks.js";

const TIMES = 90, MOST_STEPS = 1500, SPECTRAL_STEPS = 360, MOST_SPECTRAL = 60;
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
  const spectrum = spectrumFor(s), axes = plane(spectrum.dim), found = s.how === "spectral" ? clippedErrors(spectrum, axes.widths, axes.variances) : s.decay > 0 ? decayedErrors(spectrum, axes.widths, axes.variances, s.decay) : leastErrors(spectrum, axes.widths, axes.variances);
  return { ...found, ...axes, power: spectrum.power, size: Math.max(...spectrum.values.subarray(0, Math.max(1, spectrum.apart))), values: spectrum.values, overlaps: spectrum.overlaps };
}

/**
 * One cell: its curves by formula, and of a network that is trained by gradient flow (Runge and Kutta's steps of order
 * four) or spectral descent from drawn weights, at the dimension of the map.
 * @param {Record<string, any>} s @param {(partial: any) => void} tell what is known so far
 */
export function cell(s, tell) {
  const spectrum = spectrumFor(s), { dim } = spectrum, variance = dim ** s.cell[0], width = Math.max(1, Math.round(dim ** s.cell[1])), g = variance * width;
  const spectral = s.how === "spectral", decay = spectral ? 0 : s.decay, unit = spectrum.power, shown = Math.min(s.rank + 2, 8);
  const other = spectral ? clippedErrors(spectrum, [width], [variance]) : decay > 0 ? decayedErrors(spectrum, [width, width], [variance, variance * 1.001], decay) : null;
  const best = other ? { test: other.test[0], time: other.time[0] } : leastError(spectrum, grouped(spectrum, 24), g, width), table = cellOf(spectrum, g, width);
  const end = spectral ? 1.1 * timeOfLevel(spectrum.values[0], g) : 2.5 * (Number.isFinite(best.time) ? best.time : Math.max(1 / decay, leastError(spectrum, grouped(spectrum, 24), g, width).time));
  const clock = Array.from({ length: TIMES + 1 }, (_, i) => (end * i) / TIMES), wide = spectral ? width >= dim : width >= 2 * dim;
  const errors = (/** @type {ArrayLike<number>} */ modes) => {
    let test = spectrum.power, train = 0;
    for (let i = 0; i < modes.length; i++) {
      test += spectrum.counts[i] * modes[i] * (modes[i] - 2 * spectrum.overlaps[i]);
      train += spectrum.counts[i] * (spectrum.values[i] - modes[i]) ** 2;
    }
    return { test, train, modes: Array.from(modes).slice(0, shown) };
  };
  const formula = spectral ? clock.map((t) => errors(spectrum.values.map((S) => Math.min(S, levelAt(t, g))))) : decay > 0 ? decayedModes(spectrum, g, decay, clock).map(errors) : clock.map((t) => everythingAt(table, t, shown));
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
  if (spectral && dim > MOST_SPECTRAL) {
    out.done = true;
    out.note = `Each step of spectral descent takes two singular value decompositions, so it is trained here up to d = ${MOST_SPECTRAL}: the curves are the formula's.`;
    return out;
  }
  tell(out);
  const { task } = drawn(s);
  if (!task) return out;
  const start = reducedGaussian({ inputs: dim, outputs: dim, width, stds: [Math.sqrt(variance), Math.sqrt(variance)], key: [s.key, 1] });
  const plain = twoLayers(task.cross, start.width), fastest = Math.max(g * (1 + Math.sqrt(dim / width)) ** 2, spectrum.values[0], decay);
  const steps = spectral ? SPECTRAL_STEPS : Math.min(MOST_STEPS, Math.max(TIMES, Math.ceil((end * fastest) / CAREFUL))), h = end / steps;
  let heard = Date.now();
  const keep = (/** @type {Float64Array} */ y, /** @type {number} */ step) => {
    const A = productOf(y, dim, dim, start.width);
    let test = 0, train = 0;
    for (let i = 0; i < A.data.length; i++) {
      test += (A.data[i] - task.truth.data[i]) ** 2;
      train += (A.data[i] - task.cross.data[i]) ** 2;
    }
    out.trainedTime.push(step * h);
    out.test.push(test / unit);
    out.train.push(train / unit);
    out.steps = step;
    if (!(test / unit >= out.least)) [out.least, out.leastTime] = [test / unit, step * h];
    if (Date.now() - heard < 150) return;
    heard = Date.now();
    tell(out);
  };
  const move = spectral ? polar(plain, [[start.width, dim], [dim, start.width]]) : overStep(withDecay(plain, decay), h);
  descend(move, stateOf(start), h, steps, Math.max(1, Math.round(steps / TIMES)), keep);
  out.done = true;
  return out;
}
