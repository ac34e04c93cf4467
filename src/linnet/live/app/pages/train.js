// The page Train: a network of any width learns mode by mode, beside the closed form.
import { h, said } from "../view/dom.js";
import { grouped } from "../view/controls.js";
import { DOTS, predicted, trained } from "../view/figure.js";

/** @typedef {import("./kinds.js").Page} Page */
/** @typedef {import("./kinds.js").State} State */

const controls = grouped(
  "Target",
  { kind: "choice", name: "target", label: "Target", initial: "values", choices: { values: "singular values", low_rank: "low rank + noise", spiked: "one output, spiked inputs" }, help: "What the network is to learn." },
  { kind: "numbers", name: "values", label: "Singular values", initial: [8, 4, 2, 1], bounds: [0.05, 100], most: 8, help: "Of the target matrix; the inputs are white.", when: ["target", "values"] },
  { kind: "whole", name: "in_dim", label: "Inputs d", initial: 6, bounds: [2, 24], help: "Columns of the target." },
  { kind: "whole", name: "out_dim", label: "Outputs k", initial: 6, bounds: [1, 24], help: "Rows of the target.", when: ["target", "values", "low_rank"] },
  { kind: "whole", name: "rank", label: "Rank K", initial: 2, bounds: [1, 8], help: "Of the true matrix under the noise.", when: ["target", "low_rank"] },
  { kind: "number", name: "noise_std", label: "Noise", initial: 0.5, bounds: [0, 3], step: 0.05, help: "Standard deviation of the noise on what is learned from.", when: ["target", "low_rank", "spiked"] },
  { kind: "number", name: "spike", label: "Spike ρ", initial: 5, bounds: [0, 30], step: 0.5, help: "Extra variance of the inputs along one direction.", when: ["target", "spiked"] },
  { kind: "number", name: "alignment", label: "Alignment A", initial: 0.7, bounds: [0, 1], step: 0.01, help: "Cosine between the spike and the target.", when: ["target", "spiked"] },
  { kind: "whole", name: "samples", label: "Samples n", initial: 0, bounds: [0, 200], help: "Drawn to learn from; 0 means infinitely many, without noise.", when: ["target", "spiked"] },
  "Network",
  { kind: "log", name: "scale", label: "Initialization scale", initial: 0.01, bounds: [1e-7, 1], ends: [["small", 5e-4], ["large", 0.2]], help: "Standard deviation of the initial weights of both layers." },
  { kind: "log", name: "imbalance", label: "Imbalance W₂ : W₁", initial: 1, bounds: [0.01, 100], help: "Ratio of the two layers' standard deviations; the scale is their geometric mean." },
  { kind: "log", name: "width", label: "Width h", initial: 1000, bounds: [1, 1e12], step: 0.1, whole: true, help: "Hidden units. More cost nothing: the network is reduced exactly." },
  { kind: "whole", name: "seed", label: "Seed", initial: 0, bounds: [0, 999], help: "Of the initial weights and of what is drawn. The same seed in Python draws the same network." },
  "Training",
  { kind: "choice", name: "how", label: "Training", initial: "flow", choices: { flow: "gradient flow", descent: "gradient descent", spectral: "spectral descent (Muon’s limit)" }, help: "Gradient flow has no step size; descent has one, and may diverge. Spectral descent steps along the polar factor of each gradient, which is Muon with small steps and no momentum." },
  { kind: "number", name: "decay", label: "Weight decay λ", initial: 0, bounds: [0, 2], step: 0.02, help: "Of both layers. The threshold decays with them, and the run ends at S − λ.", when: ["how", "flow"] },
  { kind: "log", name: "learning_rate", label: "Learning rate η", initial: 0.05, bounds: [0.005, 20], help: "In units of a rate that is certainly stable.", when: ["how", "descent"] },
  { kind: "log", name: "until", label: "Length", initial: 1, bounds: [0.1, 5], step: 0.02, help: "In units of the time in which the weakest mode is learned." },
  "Time",
  { kind: "number", name: "cursor", label: "Cursor", initial: 0.5, bounds: [0, 1], step: 0.01, plays: true, help: "Where in the run the modes are called lazy or active." },
);

/** The index of the saved time that is next to the cursor. @param {number[]} time @param {number} share */
function cursorAt(time, share) {
  const goal = share * (time.at(-1) ?? 0);
  return time.reduce((best, t, i) => (Math.abs(t - goal) < Math.abs(time[best] - goal) ? i : best), 0);
}

/** @param {any} run */
const apart = ({ trained: a, predicted: b }) => Math.max(...a.map((/** @type {number[]} */ row, /** @type {number} */ i) => Math.max(...row.map((x, j) => Math.abs(x - b[i][j])))));

/** @param {State} s */
function python(s) {
  const made = {
    values: `target = np.zeros((${s.out_dim}, ${s.in_dim}))
np.fill_diagonal(target, ${JSON.stringify([...s.values].sort((a, b) => b - a).concat(new Array(Math.max(0, Math.min(s.in_dim, s.out_dim) - s.values.length)).fill(0)))})
problem = ln.Problem.from_target(target, truth=target)`,
    low_rank: `problem = ln.problems.low_rank_plus_noise(${s.in_dim}, out_dim=${s.out_dim}, rank=${s.rank}, noise_std=${s.noise_std}, key=${s.seed})`,
    spiked: `problem = ln.problems.spiked_covariance(${s.in_dim}, spike=${s.spike}, alignment=${s.alignment}${s.samples ? `, samples=${s.samples}, noise_std=${s.noise_std}, key=${s.seed}` : ""})`,
  }[/** @type {"values"} */ (s.target)];
  const run = s.how === "flow" ? `times = np.linspace(0, end, 121)\nrun = ln.gradient_flow(problem, start, times=times${s.decay ? `, weight_decay=${s.decay}` : ""})` : s.how === "spectral" ? `update = ln.trainers.updates.SpectralDescent()
run = ln.gradient_descent(problem, start, learning_rate=end / 600, steps=600, save_every=5, update=update)` : `rate = ${s.learning_rate} * ln.stable_learning_rate(problem, start)
steps = int(np.clip(np.ceil(end / rate), 64, 10_000))
run = ln.gradient_descent(problem, start, learning_rate=rate, steps=steps, save_every=max(1, steps // 120))`;
  return `import numpy as np
import linnet as ln

${made}
scale, imbalance, width = ${s.scale}, ${s.imbalance}, ${s.width}
stds = (scale / imbalance**0.5, scale * imbalance**0.5)
start = ln.inits.reduced_gaussian(key=${s.seed}, in_dim=problem.in_dim, out_dim=problem.out_dim, width=width, stds=stds)
threshold = (stds[0] ** 2 + stds[1] ** 2) * width / 2
modes = np.linalg.svd(problem.truth, compute_uv=False)
weakest = modes[modes > 1e-9 * modes[0]][-1]
${s.how === "spectral" ? `top = np.linalg.norm(problem.cross, 2)
end = ${s.until} * 1.15 * float(ln.theories.spectral_descent.time_of_level(top, threshold))` : `end = ${s.until} * float(ln.theories.lazy_active.crossing_times([weakest], [0.0], threshold, level=0.97 * weakest)[0])`}
${run}
trained = np.linalg.svd(run.products, compute_uv=False)
predicted = ${s.how === "spectral" ? "ln.theories.spectral_descent.product(problem, threshold, run.times)" : `${s.target === "spiked" ? "ln.theories.lazy_active.integrate" : "ln.theories.lazy_active.self_consistent"}(problem, start.product, threshold, run.times${s.decay && s.how === "flow" ? `, weight_decay=${s.decay}` : ""})`}
print(trained)
print(np.abs(trained - np.linalg.svd(predicted, compute_uv=False)).max())
`;
}

/** @type {Page} */
export const page = {
  name: "train",
  title: "Train",
  card: "A network of any width learns mode by mode, beside the closed form.",
  introduction: "A two-layer linear network W₂W₁ is trained in this page, from Gaussian initial weights, at any width. Broad and solid is trained, dashed is predicted by the self-consistent dynamics of Tu et al. A mode below the threshold g = (σ₁² + σ₂²)h/2 learns lazily, one above it actively.",
  controls,
  freezes: true,
  python,
  parts: [{ name: "run", job: "train", settings: ({ cursor: _, ...rest }) => (rest.target === "spiked" ? { ...rest, out_dim: 1 } : rest) }],
  views: [
    {
      name: "modes",
      title: "Singular values of the product",
      needs: ["run"],
      height: 430,
      draw({ run }, state) {
        const at = cursorAt(run.time, state.cursor), curves = [], top = Math.max(...run.learnable, ...run.trained.flat().filter(Number.isFinite));
        const count = run.trained[0].length, seen = new Set();
        for (let i = 0; i < count; i++) {
          const active = run.trained[at][i] > run.thresholds[at], color = active ? "var(--active)" : "var(--lazy)", word = active ? "trained, active at the cursor" : "trained, lazy at the cursor";
          const column = (/** @type {number[][]} */ rows) => rows.map((row) => row[i]);
          curves.push({ ...trained(run.time, column(run.trained), color, seen.has(word) ? undefined : word), group: `trained, mode ${i + 1}:` });
          curves.push({ ...predicted(run.time, column(run.predicted), color, seen.size ? undefined : "predicted"), group: `predicted, mode ${i + 1}:` });
          seen.add(word);
        }
        const end = run.time.at(-1);
        if (state.decay > 0 && run.thresholds.at(-1) < 1.2 * top) curves.push({ x: run.time, y: run.thresholds, color: "var(--guide)", dash: DOTS, width: 1.5, name: "threshold g(t)", quiet: true });
        return {
          x: { label: "time t" }, y: { label: "singular value of W₂W₁", zero: true }, curves, comparable: true,
          marks: run.learnable.map((/** @type {number} */ y) => ({ x: end, y, color: "var(--guide)", name: "target", size: 4 })),
          rules: [{ x: run.time[at], dash: "none" }, ...(run.threshold < 1.2 * top && state.decay === 0 ? [{ y: run.threshold, name: "threshold g", dash: DOTS }] : [])],
        };
      },
      about({ run }, { how, decay }) {
        const moving = run.learnable.filter((/** @type {number} */ s) => s > 1e-9 * run.learnable[0]), g = run.threshold, weakest = moving.at(-1);
        const what = g < 0.02 * weakest ? "Look at the waiting times: each mode stays near zero, then rises along a sigmoid, the largest first." : g > run.learnable[0] ? "Look at the beginning: all modes rise at once and no mode crosses the threshold, which is lazy learning." : "Look at the threshold: modes that rise above it turn active and speed up, those that end below it approach their target steadily.";
        if (how === "spectral") return `Look at the modes: all rise at one speed and each stops at its own target, so that the target is clipped, where gradient flow selects its large modes. Trained and predicted differ by at most ${said(apart(run), 2)}.`;
        if (decay > 0 && how === "flow") return `Look at the threshold: it decays, so lazy modes turn active, and each mode ends at S − λ or at zero. Trained and predicted differ by at most ${said(apart(run), 2)}.`;
        return `${what} Threshold g = ${said(g)}; trained and predicted differ by at most ${said(apart(run), 2)}. ${run.note}`;
      },
    },
    {
      name: "losses",
      title: "Losses",
      needs: ["run"],
      height: 430,
      draw({ run }, state) {
        const at = cursorAt(run.time, state.cursor), same = run.loss.every((/** @type {number} */ x, /** @type {number} */ i) => Math.abs(x - run.test[i]) <= 1e-9 * Math.max(x, run.test[i]) + 1e-12);
        const pair = (/** @type {string} */ name, /** @type {number[]} */ a, /** @type {number[]} */ b, /** @type {string} */ color) => [{ ...trained(run.time, a, color, name), group: name }, { ...predicted(run.time, b, color), group: `${name}, predicted` }];
        const top = Math.max(...run.loss.filter(Number.isFinite));
        const least = Math.max(1e-14 * top, Math.min(...[...run.loss, ...run.test].filter((/** @type {number} */ x) => x > 0)));
        return {
          x: { label: "time t" }, y: { label: "loss", log: true, range: [least / 1.5, Math.max(top, ...run.test) * 1.5] }, comparable: true,
          curves: [...pair("training loss", run.loss, run.predictedLoss, "var(--ink)"), ...(same ? [] : pair("test error", run.test, run.predictedTest, "var(--test)"))],
          rules: [{ x: run.time[at], dash: "none" }],
        };
      },
      about({ run }) {
        const least = run.test.reduce((/** @type {number} */ best, /** @type {number} */ x, /** @type {number} */ i) => (x < run.test[best] ? i : best), 0), last = run.test.length - 1;
        if (run.test[last] > 1.02 * run.test[least]) return `Look at the test error: it is least, ${said(run.test[least])}, at t = ${said(run.time[least])} and ends at ${said(run.test[last])}, because noise is learned after the signal.`;
        if (run.learnable.filter((/** @type {number} */ s) => s > 0).length < 2) return `Look at both ends: the training loss ends at ${said(run.loss[last])}, the test error at ${said(run.test[last])}.`;
        return "Look at the steps of the training loss: each is one mode that is learned.";
      },
    },
    {
      name: "cursor",
      title: "At the cursor",
      needs: ["run"],
      wide: true,
      show({ run }, state) {
        const at = cursorAt(run.time, state.cursor), rows = run.learnable.map((/** @type {number} */ goal, /** @type {number} */ i) => [String(i + 1), said(goal, 4), said(run.trained[at][i], 4), said(run.predicted[at][i], 4), run.trained[at][i] > run.thresholds[at] ? "active" : "lazy"]);
        const head = ["mode", "target", "trained", "predicted", "regime"].map((text) => h("th", { scope: "col", text }));
        return h("div", { class: "scrolls", tabindex: 0, role: "region", "aria-label": "Modes at the cursor" }, h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows.map((/** @type {string[]} */ row) => h("tr", {}, row.map((text) => h("td", { text })))))));
      },
      about: ({ run }, state) => `t = ${said(run.time[cursorAt(run.time, state.cursor)])} of ${said(run.time.at(-1))}. A network of ${said(state.width, 13)} hidden units was trained as one of ${run.units}, which has exactly the same product.`,
    },
  ],
};
