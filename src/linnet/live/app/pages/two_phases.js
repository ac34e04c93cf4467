// The page Two phases: learning under a spiked covariance, first along the correlation, then across it.
import { said } from "../view/dom.js";
import { grouped } from "../view/controls.js";
import { DOTS, predicted, trained } from "../view/figure.js";
import { errorOfFew, RATIOS } from "../numbers/spiked.js";

/** @typedef {import("./kinds.js").Page} Page */
/** @typedef {import("../view/figure.js").Curve} Curve */

const line = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ n) => Array.from({ length: n }, (_, i) => a + ((b - a) * i) / (n - 1));
const SPIKES = line(-1, 2, 49), ALIGNMENTS = line(0, 1, 41), CURVE = line(Math.log(1.02), Math.log(20), 121).map(Math.exp);

const controls = grouped(
  "Data",
  { kind: "number", name: "spike", label: "Spike ρ", initial: 20, bounds: [0, 100], step: 0.5, help: "Extra variance of the inputs along the spike: Σ = I + ρ μμᵀ." },
  { kind: "number", name: "alignment", label: "Alignment A", initial: 0.3, bounds: [0, 1], step: 0.01, help: "Cosine of spike μ and target β; at 0 and 1 there is no second phase." },
  { kind: "choice", name: "samples", label: "Trained on", initial: "population", choices: { population: "the population", 10000: "10 000 samples", 1000: "1000 samples", 100: "100 samples", 40: "40 samples" }, help: "The population's covariance, or that of so many samples of its 30 inputs." },
  "Network",
  { kind: "log", name: "scale", label: "Initialization scale s", initial: 1e-5, bounds: [1e-8, 0.1], step: 0.1, help: "W₁ has variance s²/d and W₂ has s²/m; a smaller one waits longer." },
  { kind: "whole", name: "seed", label: "Seed", initial: 0, bounds: [0, 99], help: "Of the initial weights and of the samples." },
  "Test error",
  { kind: "number", name: "ratio", label: "Inputs per sample d/n", initial: 2, bounds: [1.05, 20], step: 0.05, help: "For the test error alone: the paper's γ." },
);

/** Arrows as one curve with gaps: directions of the field, longer where it is faster. @param {{ at: number[], go: number[] }[]} arrows @returns {Curve} */
function strokes(arrows) {
  const speed = arrows.map(({ go }) => Math.hypot(go[0], go[1])), most = Math.max(...speed), x = /** @type {number[]} */ ([]), y = /** @type {number[]} */ ([]);
  arrows.forEach(({ at, go }, i) => {
    if (!(speed[i] > 0)) return;
    const long = (0.055 * (0.4 + 0.6 * Math.sqrt(speed[i] / most))) / speed[i], [u, v] = go.map((g) => long * g), tip = [at[0] + u, at[1] + v];
    const back = [tip[0] - 0.35 * u, tip[1] - 0.35 * v], aside = [-0.21 * v, 0.21 * u];
    for (const [p, q] of [at, tip, [NaN, NaN], [back[0] + aside[0], back[1] + aside[1]], tip, [back[0] - aside[0], back[1] - aside[1]], [NaN, NaN]]) {
      x.push(p);
      y.push(q);
    }
  });
  return { x, y, color: "var(--guide)", width: 1, quiet: true };
}

const column = (/** @type {number[][]} */ rows, /** @type {number} */ k) => rows.map((row) => row[k]);
const along = (/** @type {number[]} */ time, /** @type {number[]} */ values, /** @type {number} */ at) => {
  const i = Math.max(1, time.findIndex((t) => t >= at));
  return values[i - 1] + ((values[i] - values[i - 1]) * (at - time[i - 1])) / (time[i] - time[i - 1]);
};

/** @type {Page} */
export const page = {
  name: "two-phases",
  title: "Two phases",
  card: "One strong direction of the inputs: learning turns a corner. After paper 1.",
  introduction: "One output, and inputs with one strong direction, the spike. From a small initialization the network first grows along v₁, the correlation of inputs and output, up to time t₁; then it turns and goes along v₂ to the target. A network of 30 inputs and 50 hidden units is trained in this page. After Watanabe, Karakida and Teramae.",
  controls,
  freezes: true,
  parts: [
    { name: "run", job: "twoPhases", settings: ({ ratio: _, ...rest }) => rest },
    { name: "drawn", job: "sampledErrors", settings: ({ spike, alignment, seed }) => ({ spike, alignment, seed }) },
  ],
  views: [
    {
      name: "plane",
      title: "The plane of spike and target",
      needs: ["run"],
      height: 500,
      draw({ run }) {
        const places = [["t₁", run.first], ["t₂", run.second]].filter(([, t]) => t < run.time.at(-1)).map(([text, t]) => ({ x: along(run.time, column(run.reduced, 0), t), y: along(run.time, column(run.reduced, 1), t), color: "var(--blue)", text }));
        return {
          x: { label: "along the spike, W₁μ", range: [-0.1, 1.1] }, y: { label: "across it, W₁μ⊥", range: [-0.1, 1.1] }, square: true,
          curves: [
            strokes(run.arrows),
            { x: column(run.nullclines[0], 0), y: column(run.nullclines[0], 1), color: "var(--sky)", width: 1.5, name: "w₁ rests", quiet: true },
            { x: column(run.nullclines[1], 0), y: column(run.nullclines[1], 1), color: "var(--amber)", width: 1.5, name: "w₂ rests", quiet: true },
            trained(column(run.trained, 0), column(run.trained, 1), "var(--pink)", "trained"),
            predicted(column(run.reduced, 0), column(run.reduced, 1), "var(--blue)", "equations (18)-(19)"),
          ],
          marks: [{ x: run.target[0], y: run.target[1], color: "var(--orange)", symbol: "star", size: 10, name: "target β" }, ...places],
        };
      },
      about: ({ run }) => (run.turns ? `Look at the corner: the path leaves zero along v₁ and turns at about t₁ = ${said(run.first)} towards the target. Arrows: where the two equations lead, longer where they are faster.` : "There is no corner here: spike and target are parallel or orthogonal, so the path goes straight to the target."),
    },
    {
      name: "components",
      title: "Components over time",
      needs: ["run"],
      height: 500,
      draw({ run }) {
        const pair = (/** @type {number} */ k, /** @type {string} */ color) => [trained(run.time, column(run.components, k), color, `w${"₁₂"[k]} trained`), predicted(run.time, column(run.reducedComponents, k), color, k ? undefined : "equations (18)-(19)")];
        return {
          x: { label: "time t" }, y: { label: "components along v₁, v₂" }, comparable: true,
          curves: [...pair(0, "var(--blue)"), ...pair(1, "var(--orange)"), { x: run.time, y: run.early, color: "var(--green)", dash: DOTS, name: "w₁ by (17)" }, { x: run.time, y: run.loss, color: "var(--gray)", width: 1.5, name: "loss / its start" }],
          rules: [{ x: run.first, name: "t₁" }, ...(run.turns ? [{ x: run.second, name: "t₁ + (20)", dash: "6 3 2 3" }] : [])],
        };
      },
      about: ({ run }) => `Look at w₂: it grows before w₁ has peaked. w₁² stands at half its plateau at t = ${said(run.firstTrained)}, where t₁ = ${said(run.first)} was predicted${run.turns ? `; w₂ has settled at t = ${said(run.secondTrained)}, long before the bound ${said(run.second)} of eq. (20)` : ""}.`,
    },
    {
      name: "error",
      title: "Test error on few samples",
      needs: ["drawn"],
      height: 430,
      draw({ drawn }, { spike, alignment, ratio }) {
        const means = drawn.map ? drawn : Object.values(drawn);
        const marks = RATIOS.map((x, i) => {
          const all = means[i], mean = all.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) / all.length, spread = Math.sqrt(all.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + (b - mean) ** 2, 0) / (all.length - 1) / all.length);
          return { x, y: mean, low: mean - spread, high: mean + spread, color: "var(--pink)", name: "least-norm fits, d = 120" };
        });
        return {
          x: { label: "inputs per sample d/n", log: true, ticks: [1, 2, 3, 5, 10, 20], range: [1, 21] }, y: { label: "test error / signal power", range: [0, 1.05] },
          curves: [{ x: CURVE, y: CURVE.map((r) => errorOfFew(0, 0, r)), color: "var(--guide)", dash: DOTS, name: "without a spike" }, predicted(CURVE, CURVE.map((r) => errorOfFew(spike, alignment, r)), "var(--blue)", "eq. (27)")],
          marks: [...marks, { x: ratio, y: errorOfFew(spike, alignment, ratio), color: "var(--orange)", symbol: "star", size: 9, name: "d/n of the slider" }],
        };
      },
      about: (_, { spike, alignment, ratio }) => `Look at the distance to the dotted curve: with ${said(ratio)} inputs per sample the error is ${said(errorOfFew(spike, alignment, ratio))} of the signal's power, and ${said(errorOfFew(0, 0, ratio))} without a spike. Marks: drawn samples, with one standard error over 8 draws.`,
    },
    {
      name: "map",
      title: "Test error over spike and alignment",
      needs: [],
      height: 430,
      draw: (_, { spike, alignment, ratio }) => ({
        x: { label: `log₁₀ of the spike ρ, at d/n = ${said(ratio)}`, range: [-1.03, 2.03] }, y: { label: "alignment A", range: [-0.0125, 1.0125] }, curves: [],
        heat: { x: SPIKES, y: ALIGNMENTS, z: ALIGNMENTS.flatMap((A) => SPIKES.map((x) => errorOfFew(10 ** x, A, ratio))), low: 0, high: 1, label: "test error / signal power", told: (i, j) => `ρ = ${said(10 ** SPIKES[j])}, A = ${said(ALIGNMENTS[i])}\nerror ${said(errorOfFew(10 ** SPIKES[j], ALIGNMENTS[i], ratio))}\nTouch to take it.` },
        marks: spike > 0 ? [{ x: Math.log10(spike), y: alignment, color: "#ffb454", symbol: "star", size: 9 }] : [],
      }),
      about: () => "Look at the upper right: a strong spike helps only where it points at the target. A touch sets spike and alignment.",
      pick: (x, y, state) => ({ ...state, spike: Number((10 ** x).toPrecision(3)), alignment: Number(y.toFixed(3)) }),
      picked: ({ spike, alignment }) => [Math.log10(Math.max(spike, 0.1)), alignment],
    },
  ],
  python: ({ spike, alignment, scale, samples, seed }) => `import numpy as np
import linnet as ln
from linnet.theories.aligned_flow import growth_direction

theory = ln.theories.spiked.TwoPhase(${spike}, ${alignment})
problem = ln.problems.spiked_covariance(30, spike=${spike}, alignment=${alignment}${samples === "population" ? "" : `, samples=${samples}, key=${seed}`})
weights = ln.inits.gaussian(key=[${seed}, 1], in_dim=30, out_dim=1, width=50, stds=(${scale} / 30**0.5, ${scale} / 50**0.5))
start, direction = growth_direction(problem, weights)
end = 1.6 * theory.later_time(${scale}) if theory.has_second_phase else 2 * theory.early_time(${scale}) + 2 / theory.lambda1
times = np.linspace(0, end, 201)
run = ln.gradient_flow(ln.Problem.from_moments(problem.cov, problem.cross), weights, times=times)
trained = (direction @ run.weights.first)[:, :2]  # along the spike and across it
predicted = theory.reduced(start, times) @ theory.basis
print(np.abs(trained - predicted).max())
`,
};
