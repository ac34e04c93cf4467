// The page Feature learning: neurons turn towards the feature first, and grow along it then.
import { said } from "../view/dom.js";
import { grouped } from "../view/controls.js";
import { predicted, trained } from "../view/figure.js";

/** @typedef {import("./kinds.js").Page} Page */

const controls = grouped(
  "Data",
  { kind: "log", name: "dim", label: "Inputs d", initial: 1000, bounds: [20, 10000], whole: true, help: "With ten samples: the more inputs, the nearer XXᵀ is to a multiple of the identity." },
  { kind: "log", name: "signal", label: "Signal |β|", initial: 1, bounds: [0.1, 100], help: "Norm of the teacher; √d in the paper's own experiment." },
  { kind: "whole", name: "seed", label: "Seed", initial: 0, bounds: [0, 99], help: "Of the data and of the initial weights." },
  "Network",
  { kind: "log", name: "width", label: "Neurons m", initial: 128, bounds: [16, 1024], whole: true, help: "Hidden units; the first 24 are drawn." },
  { kind: "log", name: "magnitude", label: "Second layer v₀", initial: 1e-5, bounds: [1e-8, 0.1], step: 0.1, help: "Every second-layer weight begins at v₀ or −v₀." },
  { kind: "log", name: "first_std", label: "First layer σ₀", initial: 1e-6, bounds: [1e-8, 0.1], step: 0.1, help: "Of its entries; the theory wants σ₀ well below v₀." },
  { kind: "number", name: "growth", label: "Growth per step", initial: 0.05, bounds: [0.02, 0.3], step: 0.01, help: "Of the first stage, η√γ/(nm): it sets the learning rate η." },
);
const pluck = (/** @type {any[]} */ rows, /** @type {string} */ name) => rows.map((row) => row[name]);

/** Ends of both stages, where they lie within the run. @param {any} run */
const ends = (run) => [{ x: run.first, name: "t₁" }, { x: run.second, name: "t₂", dash: "6 3 2 3" }].filter(({ x }) => x <= run.rows.at(-1).step);

/** @type {Page} */
export const page = {
  name: "feature-learning",
  title: "Feature learning",
  card: "Every neuron turns to the feature or away from it, then all grow. After paper 3.",
  introduction: "One output and ten samples. In the first stage the loss hardly moves while every neuron turns towards the feature Xᵀy or away from it; in the second all grow along it and the loss drops. A network is trained in this page and read neuron by neuron; dashed is the two-dimensional system (10) with the mean over neurons. Angles are those within the span of the samples. After Huang, Chen, Xu, Wang and Suzuki.",
  controls,
  freezes: true,
  parts: [{ name: "run", job: "featureLearning", settings: (state) => state }],
  views: [
    {
      name: "neurons",
      title: "Neurons turning",
      needs: ["run"],
      height: 430,
      draw({ run }) {
        const step = pluck(run.rows, "step"), seen = new Set();
        const curves = run.signs.map((/** @type {number} */ sign, /** @type {number} */ k) => {
          const name = sign > 0 ? "neurons with v(0) > 0" : "neurons with v(0) < 0", first = !seen.has(name) && seen.add(name);
          return { x: step, y: run.rows.map((/** @type {any} */ row) => row.angles[k]), color: sign > 0 ? "var(--blue)" : "var(--orange)", width: 1.5, opacity: 0.85, name: first ? name : undefined, group: `neuron ${k + 1}:` };
        });
        return { x: { label: "training step" }, y: { label: "angle to the feature Xᵀy (degrees)", range: [-4, 184], ticks: [0, 45, 90, 135, 180] }, curves, rules: ends(run), comparable: true };
      },
      about({ run }) {
        const last = run.rows.at(-1).angles, near = last.filter((/** @type {number} */ a) => a < 20 || a > 160).length;
        return `Look at the two bundles: the sign of v(0) decides whether a neuron turns to the feature or away from it. ${near} of the ${last.length} neurons drawn end within 20 degrees of it or of its opposite. t₁: where the median |ρ| is predicted to pass 1.`;
      },
    },
    {
      name: "stages",
      title: "The two stages",
      needs: ["run"],
      height: 430,
      draw({ run }) {
        const { rows, loss0 } = run, step = pluck(rows, "step"), share = (/** @type {string} */ name) => pluck(rows, name).map((x) => x / loss0);
        const reached = [run.firstTrained, run.secondTrained].filter((x) => typeof x === "number" && Number.isFinite(x));
        return {
          x: { label: "training step" }, y: { label: "share", range: [-0.06, 1.3] }, rules: ends(run), comparable: true,
          curves: [
            trained(step, share("loss"), "var(--blue)", "trained, loss / its start"), predicted(step, share("predictedLoss"), "var(--blue)", "loss by (10)"),
            trained(step, pluck(rows, "ratio"), "var(--orange)", "trained, median ρ/(v√γ)"), predicted(step, pluck(rows, "predictedRatio"), "var(--orange)", "the same by (10)"),
            { x: step, y: pluck(rows, "square"), color: "var(--green)", width: 1.5, name: "mean ρ² / its limit" },
          ],
          marks: reached.map((x) => ({ x, y: 0, color: "var(--pink)", symbol: "up", size: 7, name: "times of the network" })),
        };
      },
      about: ({ run }) => `Look at the order: the ratio of the layers settles at 1 before the loss drops. The first stage ends at step ${said(run.firstTrained)} (predicted ${said(run.first)}), the second at ${said(run.secondTrained)} (predicted ${said(run.second)}).`,
    },
    {
      name: "kernel",
      title: "The tangent kernel",
      needs: ["run"],
      height: 380,
      wide: true,
      draw({ run }) {
        const { rows } = run, step = pluck(rows, "step"), kept = (/** @type {string} */ name) => pluck(rows, name).map((x) => (x > 1e-12 ? x : NaN));
        return {
          x: { label: "training step" }, y: { label: "kernel (relative)", log: true }, rules: ends(run), comparable: true,
          curves: [
            trained(step, kept("away"), "var(--green)", "trained, 1 − cosine to target"), predicted(step, kept("predictedAway"), "var(--green)", "the same by (10)"),
            { x: step, y: pluck(rows, "distance"), color: "var(--blue)", name: "distance to target" }, { x: step, y: pluck(rows, "size").map((x) => x / run.size), color: "var(--gray)", name: "norm / its largest" },
          ],
        };
      },
      about: () => "Look at the green curves: the kernel takes the direction of the target-aligned kernel in the first stage and loses some of it in the second, which the system (10) does not see. The tangent kernel is how a step on one sample changes the output on another.",
    },
  ],
  python: ({ dim, signal, seed, width, magnitude, first_std, growth }) => `import numpy as np
import linnet as ln
from linnet.theories.feature_learning import Stages

data = ln.problems.gaussian_teacher(key=${seed}, samples=10, dim=${dim}, noise_variance=0.01, signal=${signal})
inputs = data.inputs @ np.linalg.qr(data.inputs.T)[0]  # the span of the samples: the rest of a neuron never moves
rate = ${growth} * 10 / np.linalg.norm(inputs.T @ data.outputs)
scales = {"first_std": ${first_std}, "magnitude": ${magnitude}}
stages = Stages(inputs, data.outputs, width=${width}, learning_rate=rate, **scales)
start = ln.inits.signed(key=[${seed}, 1], in_dim=10, width=${width}, **scales)
rise = np.log(np.sqrt(stages.limit / stages.gamma) / ${Math.max(first_std, magnitude)})
steps = int(np.ceil((max(rise, 0) + 6) / np.log1p(${growth})))
run = ln.gradient_descent(ln.Problem.from_data(inputs, data.outputs), start, learning_rate=rate, steps=steps)
print(run.loss / run.loss[0])
print("first stage ends at step", stages.first_time() / rate)
`,
};
