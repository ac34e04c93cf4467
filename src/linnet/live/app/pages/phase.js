// The page Phase diagram: the minimum test error over every initialization by formula; a touch trains that network.
import { said } from "../view/dom.js";
import { grouped } from "../view/controls.js";
import { DASH, DOTS, predicted, trained } from "../view/figure.js";
import { LIMIT } from "../numbers/diagram.js";

/** @typedef {import("./kinds.js").Page} Page */
/** @typedef {import("./kinds.js").State} State */
/** @typedef {import("../view/figure.js").Figure} Figure */

const data = /** @type {any} */ (globalThis).linnetData ?? { tasks: {}, maps: {} };
const tasks = Object.fromEntries(Object.entries(data.tasks).map(([name, task]) => [name, /** @type {any} */ (task).title]));
const maps = Object.fromEntries(Object.entries(data.maps).map(([name, one]) => [name, /** @type {any} */ (one).title]));
const QUANTITIES = { test: "minimum test error", rank: "stable rank there", time: "time to it" };

const controls = grouped(
  "Task",
  { kind: "choice", name: "task", label: "Task", initial: "drawn", choices: { drawn: "drawn in this page", ...tasks }, help: "What is learned: a matrix A* of low rank in noise. Named tasks bring the narrow cells that Python computed from drawn networks." },
  { kind: "whole", name: "dim", label: "Dimension d", initial: 100, bounds: [20, 200], help: "Inputs and outputs; the axes of the map are exponents of it.", when: ["task", "drawn"] },
  { kind: "whole", name: "rank", label: "Rank K", initial: 5, bounds: [1, 10], help: "Of the true matrix A*.", when: ["task", "drawn"] },
  { kind: "number", name: "noise", label: "Noise", initial: 1, bounds: [0.05, 4], step: 0.05, help: "Standard deviation of the entries of the noise E in A* + E.", when: ["task", "drawn"] },
  { kind: "whole", name: "key", label: "Draw", initial: 0, bounds: [0, 999], help: "Seed of the task and of trained cells; the same seed in Python draws the same matrix.", when: ["task", "drawn"] },
  "Optimizer",
  { kind: "choice", name: "how", label: "Training", initial: "flow", choices: { flow: "gradient flow", spectral: "spectral descent (Muon’s limit)" }, help: "Spectral descent steps along the polar factor of each gradient, which is Muon with small steps and no momentum. No formula is known for networks narrower than d." },
  { kind: "number", name: "decay", label: "Weight decay λ", initial: 0, bounds: [0, 40], step: 0.5, help: "Of both layers, under gradient flow. It lets the threshold decay, so that lazy initializations turn active.", when: ["how", "flow"] },
  "Map",
  { kind: "choice", name: "show", label: "Colors", initial: "test", choices: QUANTITIES, help: "What the colors of the map show." },
  { kind: "switch", name: "borders", label: "Borders", initial: true, help: "Of the regions, by theory." },
  { kind: "choice", name: "compare", label: "Compare with", initial: "none", choices: { none: "nothing", ...maps }, help: "Maps that were trained network by network, at their own d." },
  { kind: "numbers", name: "cells", label: "Cells", initial: [], bounds: [-3, 2.8], most: 4, hidden: true, help: "Exponents of variance and width of each trained cell." },
);

const AXES = { x: "variance, log σ² / log d", y: "width, log w / log d" };
const COLORS = ["var(--blue)", "var(--orange)"];

/** The task of a state as the worker takes it. @param {State} state */
function taskOf(state) {
  const named = data.tasks[state.task], training = { how: state.how, decay: state.how === "flow" ? state.decay : 0 };
  if (!named) return { ...training, dim: state.dim, rank: Math.min(state.rank, state.dim), noise: state.noise, key: state.key };
  return { ...training, dim: named.dim, rank: named.rank, noise: named.noise, key: named.key ?? 0, ...(named.spectrum ? { spectrum: named.spectrum } : {}) };
}

/** @param {State} state @param {number} which */
function cellSettings(state, which) {
  const cell = state.cells.slice(2 * which, 2 * which + 2);
  return cell.length === 2 ? { ...taskOf(state), cell } : null;
}

/** Whether the training is gradient flow without decay. @param {State} state */
const plain = (state) => state.how === "flow" && state.decay === 0;

/** What the map shows: cells of a named task's file in place of the formula where Python draws networks. @param {any} map @param {State} state */
function mapOf(map, state) {
  const file = plain(state) ? data.tasks[state.task]?.narrow : null, test = Array.from(map.test, (x) => x / map.power), uncertainty = Array.from(map.uncertainty), time = Array.from(map.time), rank = Array.from(map.rank);
  file?.cells.forEach((/** @type {number} */ at, /** @type {number} */ i) => {
    [test[at], uncertainty[at], time[at], rank[at]] = [file.test[i], file.uncertainty[i], file.time[i] ?? NaN, file.rank[i]];
  });
  return { test, uncertainty, time, rank, hatched: uncertainty.map((x) => !(x <= LIMIT)) };
}

/** Exponents at which regions meet. @param {{ dim: number, rank: number }} task @param {number} size of the target @param {number[]} heights */
function borders({ dim, rank }, size, heights) {
  const ends = [-3.1, 0.1], lazy = Math.log(size) / Math.log(dim);
  const line = (/** @type {ArrayLike<number>} */ x, /** @type {ArrayLike<number>} */ y, /** @type {any} */ more) => ({ x, y, color: "#fff", quiet: true, width: 2, ...more });
  const narrow = Math.log(rank) / Math.log(dim);
  return [
    line(heights.map((w) => lazy - w), heights, {}),
    line(heights.map((w) => -w / 2), heights, { dash: DASH }),
    line(ends, [1, 1], { width: 1.2 }),
    line(ends, [narrow, narrow], { width: 1.2, dash: DOTS }),
  ];
}

/** @param {number[]} centers @returns {[number, number]} */
const edges = (centers) => [centers[0] - (centers[1] - centers[0]) / 2, centers[centers.length - 1] + (centers[1] - centers[0]) / 2];

/** @type {Page} */
export const page = {
  name: "phase-diagram",
  title: "Phase diagram",
  card: "The minimum test error over every initialization, by formula; a touch trains that network.",
  introduction: "A network of width w, its initial weights of variance σ², learns A* + E, a matrix of low rank in noise, and is stopped at its minimum test error (the plane of Figure 2 of Tu et al.). Every cell of the map is a formula; touch one, and that network is trained in this page.",
  controls,
  parts: [
    { name: "map", job: "map", settings: taskOf },
    { name: "first", job: "cell", settings: (state) => cellSettings(state, 0) },
    { name: "second", job: "cell", settings: (state) => cellSettings(state, 1) },
  ],
  views: [
    {
      name: "map",
      title: "Every cell a network",
      needs: ["map"],
      height: 470,
      draw({ map }, state) {
        const found = mapOf(map, state), task = taskOf(state), { show } = state;
        const z = show === "test" ? found.test : show === "rank" ? found.rank : found.time;
        const range = show === "test" ? { low: 0.02, high: 1.5, log: true } : show === "rank" ? { low: 1, high: 2 * task.rank + 2 } : { low: 0.01 / task.dim, high: 100 / task.dim, log: true };
        /** @type {Figure} */
        const figure = {
          x: { label: AXES.x, range: edges(map.variancePowers) }, y: { label: AXES.y, range: edges(map.widthPowers) }, curves: [],
          heat: {
            x: map.variancePowers, y: map.widthPowers, z, ...range, label: QUANTITIES[/** @type {"test"} */ (show)], hatched: found.hatched,
            told(i, j) {
              const at = i * map.variancePowers.length + j, off = found.uncertainty[at];
              return `width ${said(map.widths[i], 7)}, variance ${said(map.variances[j])}\nminimum test error ${said(found.test[at])} of |A*|²${off <= LIMIT ? ` ± ${said(100 * off, 2)}%` : Number.isFinite(off) ? ` ± ${said(100 * off, 2)}%: uncertain` : ": not claimed"}\nat t = ${Number.isFinite(found.time[at]) ? said(found.time[at]) : found.time[at] === Infinity ? "the end" : "no sharp time"}, stable rank ${said(found.rank[at])}\nTouch to train it.`;
            },
          },
          marks: [0, 1].flatMap((k) => (state.cells.length >= 2 * k + 2 ? [{ x: state.cells[2 * k], y: state.cells[2 * k + 1], color: k ? "#ff9d3c" : "#4dc3ff", symbol: "box", size: 7 }] : [])),
        };
        if (state.borders && plain(state)) {
          figure.curves = borders(task, map.size, map.widthPowers);
          const lazy = Math.log(map.size) / Math.log(task.dim), at = (/** @type {number} */ w) => [lazy - w, -w / 2];
          figure.notes = [
            { x: (at(1.75)[0] - 3) / 2, y: 1.75, text: "active" },
            { x: (at(2.6)[0] + at(2.6)[1]) / 2, y: 2.6, text: "lazy", dark: true },
            { x: Math.max(...at(2.1)) / 2, y: 2.1, text: "infinite noise", dark: true },
          ];
        }
        return figure;
      },
      about({ map }, state) {
        const { hatched, test } = mapOf(map, state), least = Math.min(...test.filter((_, i) => !hatched[i])), share = hatched.filter(Boolean).length / hatched.length;
        const known = Number.isFinite(least) ? said(least, 2) : "no known part", hatching = `Hatched (${said(100 * share, 2)}%): the formula is not claimed to 1%.`;
        if (state.how === "spectral") return `Look at the color: it is the same everywhere. Spectral descent clips the target, and the initialization only sets the time scale, so no initialization at least as wide as the target is active: the error is ${known} of |A*|². ${hatching}`;
        if (state.decay > 0) return `Look at the upper right: there learning was lazy, and decay turns it active, because the threshold decays with the weights. The least error is ${known} of |A*|². ${hatching} The product of the initial weights is left out, and counted as uncertainty.`;
        return `Look at the dark region: small and active initializations reach ${said(least, 2)} of |A*|², where 1 is what a network that has learned nothing has. Above the white line σ²w = |A*| learning is lazy, and above the dashed one σ⁴w = 1 the initial product is noise itself. Thin: w = d; dotted: w = K. Hatched (${said(100 * share, 2)}%): the formula is not claimed to 1%.`;
      },
      pick(x, y, state) {
        const cells = state.cells.slice(), same = [0, 2].find((k) => cells[k] === x && cells[k + 1] === y);
        if (same !== undefined) cells.splice(same, 2);
        else if (cells.length === 4) cells.splice(2, 2, x, y);
        else cells.push(x, y);
        return { ...state, cells };
      },
      picked: (state) => (state.cells.length >= 2 ? /** @type {[number, number]} */ (state.cells.slice(-2)) : null),
    },
    {
      name: "cells",
      title: "The touched cells, trained",
      needs: ["first"],
      empty: "Touch a cell of the map, or move to one with the arrow keys and press Enter: that network is trained here.",
      height: 470,
      draw({ first, second }) {
        const cells = [first, second].filter(Boolean), curves = [], marks = [];
        for (const [k, cell] of cells.entries()) {
          const of = `w = ${said(cell.width, 4)}, σ² = ${said(cell.variance, 2)}`;
          curves.push({ ...trained(cell.trainedTime, cell.test, COLORS[k], `test error, ${of}`), group: "test error, trained:" });
          if (cell.wide) curves.push({ ...predicted(cell.time, cell.predictedTest, COLORS[k], k ? undefined : "by formula"), group: "test error by formula:" });
          curves.push({ x: cell.trainedTime, y: cell.train, color: COLORS[k], width: 1.5, opacity: 0.9, name: k ? undefined : "thin: error on A* + E", group: "training error:" });
          if (cell.done && Number.isFinite(cell.leastTime)) marks.push({ x: cell.leastTime, y: cell.least, color: COLORS[k], size: 6, name: k ? undefined : "least" });
        }
        const ends = cells.map((c) => c.time.at(-1)), from = Math.min(...ends) / 60;
        const seen = cells.flatMap((c) => [...c.test, ...c.predictedTest]).filter((x) => x > 0);
        return { x: { label: "time t", log: true, range: [from, Math.max(...ends)] }, y: { label: "error / |A*|²", log: true, range: [Math.max(1e-3, Math.min(...seen) / 1.5), Math.max(...seen) * 1.3] }, curves, marks };
      },
      about({ first, second }) {
        const one = (/** @type {any} */ cell) => {
          if (cell.note) return cell.note;
          const off = cell.wide && Number.isFinite(cell.predictedLeast) ? `, by formula ${said(cell.predictedLeast)} (${said(100 * (cell.predictedLeast / cell.least - 1), 2)}%)` : "; the formula does not hold for so narrow a network";
          return cell.done ? `Minimum test error of the network of width ${said(cell.width, 7)}, trained at d = ${cell.dim}: ${said(cell.least)}${off}.` : `Training width ${said(cell.width, 7)}: step ${cell.steps} …`;
        };
        const both = [first, second].filter(Boolean), rising = both.find((c) => c.done && c.test.at(-1) > 1.05 * c.least);
        return `${rising ? "Look at the minimum: the error on the truth falls, then rises, because noise is learned after the signal. " : ""}${both.map(one).join(" ")}${both.length < 2 ? " Touch another cell to compare." : " Touch a cell again to remove it."}`;
      },
    },
    {
      name: "compared",
      title: "A map that was trained",
      needs: [],
      when: (state) => state.compare !== "none",
      height: 430,
      draw(_, state) {
        const one = data.maps[state.compare];
        return compared(one, { z: one.trained, low: one.low, high: one.high, log: true, label: "test error per entry" }, state);
      },
      about: (_, state) => `${data.maps[state.compare].what}, d = ${data.maps[state.compare].dim}: every cell is a network that was trained. Errors per entry of the matrix.`,
    },
    {
      name: "difference",
      title: "Formula / trained − 1",
      needs: [],
      when: (state) => state.compare !== "none",
      height: 430,
      draw(_, state) {
        const one = data.maps[state.compare], z = one.predicted.map((/** @type {number | null} */ p, /** @type {number} */ i) => (p === null || one.trained[i] === null ? NaN : 100 * (p / one.trained[i] - 1)));
        const sorted = z.filter(Number.isFinite).map(Math.abs).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b), reach = Math.max(1, sorted[Math.floor(0.98 * (sorted.length - 1))]);
        return compared(one, { z, low: -reach, high: reach, signed: true, label: "percent" }, state);
      },
      about(_, state) {
        const one = data.maps[state.compare], off = one.predicted.flatMap((/** @type {number | null} */ p, /** @type {number} */ i) => (p === null || one.trained[i] === null ? [] : [Math.abs(100 * (p / one.trained[i] - 1))])).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
        return `The formula needs no training: in ${off.length} cells where it is claimed it is ${said(off[off.length >> 1], 2)}% off in the median and at most ${said(off[Math.floor(0.9 * (off.length - 1))], 2)}% in nine of ten. Gray: not claimed.`;
      },
    },
  ],
  python(state) {
    const named = data.tasks[state.task], t = taskOf(state), made = named?.script ?? `task = ln.problems.low_rank_plus_noise(${t.dim}, rank=${t.rank}, noise_std=${t.noise}, key=${t.key})`;
    return `import numpy as np
import linnet as ln
from linnet.theories.lazy_active import predicted_diagram

${made}
d = ${t.dim}
widths = np.round(float(d) ** np.linspace(0, 2.8, 35))
variances = float(d) ** np.linspace(-3, 0, 35)
${plain(state) ? "# draws=0 is the formula that the page computes; leave it out to draw narrow networks too\n" : ""}diagram = predicted_diagram(task, variances, widths, ${state.how === "spectral" ? "update=ln.trainers.updates.SpectralDescent()" : t.decay > 0 ? `weight_decay=${t.decay}` : "draws=0"})
print(diagram.min_test_loss)  # (width, variance); the page shows 2/|A*|^2 times this
`;
  },
};

/** @param {any} one @param {any} heat @param {State} state @returns {Figure} */
function compared(one, heat, state) {
  const z = heat.z.map((/** @type {number | null} */ x) => x ?? NaN);
  return {
    x: { label: AXES.x, range: edges(one.x) }, y: { label: AXES.y, range: edges(one.y) }, curves: state.borders ? borders(one, one.size, one.y) : [],
    heat: { ...heat, x: one.x, y: one.y, z, told: (i, j) => `log σ² / log d = ${said(one.x[j])}, log w / log d = ${said(one.y[i])}\ntrained ${said(one.trained[i * one.x.length + j] ?? NaN)}, formula ${said(one.predicted[i * one.x.length + j] ?? NaN)}` },
  };
}
