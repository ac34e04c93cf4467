// The page Depth: deeper networks wait longer and learn their modes more sharply one after the other.
import { said } from "../view/dom.js";
import { grouped } from "../view/controls.js";
import { ordered, predicted, trained } from "../view/figure.js";
import { halfTime } from "../numbers/deep.js";

/** @typedef {import("./kinds.js").Page} Page */

const data = /** @type {any} */ (globalThis).linnetData?.depth ?? {};
const DEPTHS = [2, 3, 4, 5, 6];
const controls = grouped(
  "Network",
  { kind: "whole", name: "depth", label: "Depth L", initial: 3, bounds: [2, 6], help: "Number of layers, the last one included." },
  { kind: "log", name: "coupling", label: "Initialization c = √w σ", initial: 0.7, bounds: [0.5, 2], step: 0.02, ends: [["small", 0.5], ["large", 2]], help: "Below 1, deeper networks start smaller: the threshold is cᴸ." },
  { kind: "log", name: "width", label: "Width w", initial: 1e6, bounds: [1000, 1e12], step: 0.1, whole: true, help: "Of every hidden layer; more cost nothing." },
  { kind: "whole", name: "seed", label: "Seed", initial: 0, bounds: [0, 99], help: "Of the initial weights." },
  "Target",
  { kind: "numbers", name: "values", label: "Singular values S", initial: [4, 2, 1], bounds: [0.3, 10], most: 3, help: "One to three." },
);

/** When the largest and the smallest singular value are half learned at each depth. @param {{ values: number[], coupling: number }} settings */
function order({ values, coupling }) {
  const ends = [Math.max(...values), Math.min(...values)];
  return ends.map((S) => DEPTHS.map((L) => halfTime(S, coupling, L, data[L].half)));
}

/** @type {Page} */
export const page = {
  name: "depth",
  title: "Depth",
  card: "Two to six layers: longer plateaus, and modes further apart in time.",
  introduction: "A linear network of L layers, wide and with Gaussian initial weights, trained in this page in its reduced form. Each singular value S of the target follows an equation of its own; only S/cᴸ decides whether it is learned lazily (like an exponential) or actively (a plateau, then a jump). The deeper the network, the further apart in time the modes.",
  controls,
  freezes: true,
  parts: [
    { name: "run", job: "deep", settings: (state) => state },
    { name: "order", now: order, settings: ({ values, coupling }) => ({ values, coupling }) },
  ],
  views: [
    {
      name: "modes",
      title: "Modes over time",
      needs: ["run"],
      height: 430,
      draw({ run }, { depth }) {
        const colors = ordered(run.values.length), row = (/** @type {number[][]} */ rows, /** @type {number} */ k) => rows.map((r) => r[k]);
        return {
          x: { label: `time t, depth ${depth}` }, y: { label: "singular value", zero: true }, comparable: true,
          curves: run.values.flatMap((/** @type {number} */ S, /** @type {number} */ k) => [trained(run.time, row(run.trained, k), colors[k], `trained, S = ${said(S)}`), { ...predicted(run.time, row(run.predicted, k), colors[k], k ? undefined : "mode equations"), group: `mode equation, S = ${said(S)}:` }]),
          rules: run.threshold < 1.5 * run.values[0] ? [{ y: run.threshold, name: "threshold cᴸ" }] : [],
        };
      },
      about({ run }, { width }) {
        const off = Math.max(...run.trained.map((/** @type {number[]} */ row, /** @type {number} */ i) => Math.max(...row.map((x, k) => Math.abs(x - run.predicted[i][k])))));
        return `Look at the plateaus: a mode below the threshold cᴸ = ${said(run.threshold)} is lazy, one above it waits and then jumps. ${said(width, 13)} units in each hidden layer, trained as a network of ${run.widths.join(", ")}; at most ${said(off, 2)} from the mode equations.`;
      },
    },
    {
      name: "order",
      title: "The order of learning by depth",
      needs: ["order"],
      height: 430,
      draw: ({ order: [largest, smallest] }, { depth }) => ({
        x: { label: "depth L", ticks: DEPTHS, range: [1.8, 6.2] }, y: { label: "time to half of it", log: true },
        curves: [predicted(DEPTHS, largest, "var(--blue)", "largest singular value"), predicted(DEPTHS, smallest, "var(--orange)", "smallest singular value")],
        marks: [[largest, "var(--blue)"], [smallest, "var(--orange)"]].map(([row, color]) => ({ x: depth, y: row[depth - 2], color, size: 6 })),
      }),
      about: ({ order: [largest, smallest] }, { depth }) => `Look at the distance between the curves: at depth ${depth} the smallest mode is half learned ${said(smallest[depth - 2] / largest[depth - 2])} times as late as the largest, at depth 2 ${said(smallest[0] / largest[0])} times. By formula.`,
    },
    {
      name: "map",
      title: "The phase diagram by formula",
      needs: [],
      height: 430,
      wide: true,
      draw(_, { depth }) {
        const map = data[depth].map, half = [(map.x[1] - map.x[0]) / 2, (map.y[1] - map.y[0]) / 2], ends = [map.y[0] - half[1], map.y.at(-1) + half[1]];
        const z = map.test.map((/** @type {number | null} */ x) => (x !== null && x > 0 ? x : NaN));
        return {
          x: { label: "variance, log₁₀ σ²", range: [map.x[0] - half[0], map.x.at(-1) + half[0]] }, y: { label: "width, log₁₀ w", range: [ends[0], ends[1]] },
          curves: map.strengths.map((/** @type {number} */ S) => ({ x: ends.map((y) => (2 / depth) * Math.log10(S) - y), y: ends, color: "#fff", width: 1.6, quiet: true })),
          heat: { x: map.x, y: map.y, z, low: 0.02, high: 1.5, log: true, label: "minimum test error / |A*|²", hatched: map.covered.map((/** @type {number} */ x) => !x), told: (i, j) => `σ² = ${said(10 ** map.x[j])}, w = ${said(10 ** map.y[i])}\nminimum test error ${said(z[i * map.x.length + j])} of |A*|²\nstable rank ${said(map.rank[i * map.x.length + j] ?? NaN)}, at t = ${said(map.time[i * map.x.length + j] ?? NaN)}` },
        };
      },
      about: (_, { depth }) => `Look at the white lines: above (σ²w)ᴸ = S² a mode S of the truth is lazy, and the error rises. A matrix of rank 3 in unit noise at d = 100, depth ${depth}, computed by Python. Hatched: the uncertainty is above 3%.`,
    },
  ],
  python: ({ depth, coupling, width, seed, values }) => `import numpy as np
import linnet as ln

values, depth, coupling = np.array(${JSON.stringify([...values].sort((a, b) => b - a))}), ${depth}, ${coupling}
start = ln.inits.reduced_gaussian(
    in_dim=3, out_dim=3, width=${width}, depth=depth, stds=coupling * ${width}**-0.5, key=${seed}${depth > 2 ? ", order=6" : ""}
)
lazy = 1 / (depth * max(coupling ** (2 * depth - 2), values[-1] ** (2 - 2 / depth)))
plateau = ${depth === 2 ? "np.log(2 + values[-1] / coupling**2)" : "coupling ** (2 - depth)"}
times = np.linspace(0, 2 * (lazy + plateau / max(values[-1], coupling**depth)), 101)
problem = ln.Problem.from_target(np.diag([*values, *[0.0] * (3 - values.size)]))
run = ln.gradient_flow(problem, start, times=times, rtol=1e-8)
modes = ln.theories.deep.gaussian_modes(values, coupling, depth, times${depth > 2 ? ", order=6" : ""})
print(np.abs(run.singular_values[:, : values.size] - modes).max())
`,
};
