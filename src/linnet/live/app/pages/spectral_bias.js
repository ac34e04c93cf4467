// The page Spectral bias: the scale of the initialization decides whether modes come together or one after the other.
import { said } from "../view/dom.js";
import { grouped } from "../view/controls.js";
import { DOTS, ordered, predicted, trained } from "../view/figure.js";

/** @typedef {import("./kinds.js").Page} Page */

const CLOCKS = { canonical: "canonical", log: "in units of ln(1/γ)" };
const controls = grouped(
  "Initialization",
  { kind: "log", name: "gamma", label: "Scale γ", initial: 0.01, bounds: [1e-10, 10], step: 0.1, ends: [["small", 1e-8], ["large", 10]], help: "W₁ᵀW₁ = 2γ I and W₂ = 0; small ones learn mode by mode." },
  "Target",
  { kind: "numbers", name: "values", label: "Singular values s", initial: [4, 2, 1, 0.5], bounds: [0.1, 10], most: 8, help: "One to eight, each from 0.1 to 10." },
  { kind: "choice", name: "clock", label: "Clock", initial: "canonical", choices: CLOCKS, help: "In units of ln(1/γ) the modes tend to jumps at 1/(2s) as γ falls." },
  "Label noise",
  { kind: "number", name: "noise", label: "Label noise δ", initial: 1, bounds: [0, 2], step: 0.05, help: "Drawn anew at every step, on labels divided by √n." },
  { kind: "log", name: "learning_rate", label: "Learning rate η", initial: 0.05, bounds: [0.01, 0.1], step: 0.02, help: "The small singular values decay at a rate of about ηδ²/2." },
  { kind: "whole", name: "seed", label: "Seed", initial: 0, bounds: [0, 99], help: "Of data and noise." },
);
const column = (/** @type {number[][]} */ rows, /** @type {number} */ k) => rows.map((row) => row[k]);

/** @type {Page} */
export const page = {
  name: "spectral-bias",
  title: "Spectral bias",
  card: "Small initializations prefer low rank; what label noise does to it. After paper 2.",
  introduction: "From the orthogonal initialization of scale γ, gradient flow learns the singular values of the target one after the other when γ is small, the largest first, and all at once when it is large. It is a mirror flow: its potential passes from the nuclear norm (low rank) to the Frobenius norm. Noise on the labels shrinks the singular values of W₁ that carry no signal. After Varre, Vladarean, Pillaud-Vivien and Flammarion.",
  controls,
  freezes: true,
  parts: [
    { name: "run", job: "spectralBias", settings: ({ gamma, values, clock }) => ({ gamma, values, clock }) },
    { name: "noise", job: "labelNoise", settings: ({ gamma, noise, learning_rate, seed }) => ({ gamma, noise, learning_rate, seed }) },
  ],
  views: [
    {
      name: "modes",
      title: "Modes over time",
      needs: ["run"],
      height: 430,
      draw({ run }, { clock }) {
        const colors = ordered(run.values.length), jumps = run.jumps ?? [];
        return {
          x: { label: `time t (${CLOCKS[/** @type {"log"} */ (clock)]})` }, y: { label: "singular values of W₂W₁", zero: true }, comparable: true,
          curves: run.values.flatMap((/** @type {number} */ s, /** @type {number} */ k) => [
            trained(run.time, column(run.trained, k), colors[k], `trained, s = ${said(s)}`),
            { ...predicted(run.time, column(run.predicted, k), colors[k], k ? undefined : "Theorem C.12"), group: `Theorem C.12, s = ${said(s)}:` },
            ...(jumps.length ? [{ x: [0, jumps[k], jumps[k], run.time.at(-1)], y: [0, 0, s, s], color: colors[k], dash: DOTS, width: 1.2, name: k ? undefined : "limit γ → 0", group: "limit" }] : []),
          ]),
          marks: run.half.map((/** @type {number} */ x, /** @type {number} */ k) => ({ x, y: run.values[k] / 2, color: "var(--gray)", symbol: "diamond", name: "half height" })),
        };
      },
      about({ run }, { gamma }) {
        const ratio = run.half.at(-1) / run.half[0];
        return `Look at the diamonds: the last mode is half learned ${said(ratio)} times as late as the first. ${gamma < 0.1 * run.values.at(-1) ? "γ is small against every singular value, so each mode waits and then rises." : gamma > run.values[0] ? "γ is larger than every singular value, so all modes rise together." : "γ lies among the singular values: those above it wait, those below it do not."}`;
      },
    },
    {
      name: "layers",
      title: "Both layers",
      needs: ["run"],
      height: 430,
      draw({ run }, { clock }) {
        const count = run.values.length, ends = [run.time[0], run.time.at(-1)], curves = [];
        for (const [name, rows, final, color] of [["W₁", run.first, run.firstFinal, "var(--blue)"], ["W₂", run.second, run.secondFinal, "var(--orange)"]]) {
          for (let k = 0; k < Math.min(count + 1, final.length); k++) {
            const idle = k === count, look = idle ? "var(--gray)" : color;
            curves.push({ ...trained(run.time, column(rows, k), look, idle ? `${name}, no signal` : k ? undefined : `trained, ${name}`), group: name, ...(name === "W₂" ? { width: 3 } : {}) });
            curves.push({ ...predicted(ends, [final[k], final[k]], look, name === "W₁" && k === 0 ? "end by Corollary 3.1" : undefined), width: 1.5, group: `end, ${name}` });
          }
        }
        return { x: { label: `time t (${CLOCKS[/** @type {"log"} */ (clock)]})` }, y: { label: "singular values of the layers", zero: true }, curves, comparable: true };
      },
      about: (_, { gamma }) => `Look at the gray line: where there is no signal, W₁ stays at √(2γ) = ${said(Math.sqrt(2 * gamma))}. A small initialization therefore leaves a first layer of low rank.`,
    },
    {
      name: "potential",
      title: "The mirror's potential",
      needs: ["run"],
      height: 380,
      draw: ({ run }, { gamma }) => ({
        x: { label: "singular value D / the target's largest" }, y: { label: "Ψ(D) − Ψ(0), over that at 1" },
        curves: [
          { x: run.heights, y: run.heights, color: "var(--guide)", dash: DOTS, name: "γ → 0: nuclear norm" },
          { x: run.heights, y: run.heights.map((/** @type {number} */ x) => x * x), color: "var(--guide)", dash: "8 3 2 3", name: "γ → ∞: Frobenius norm" },
          { x: run.heights, y: run.potential, color: "var(--blue)", width: 3, name: `Ψ at γ = ${said(gamma)}` },
        ],
      }),
      about: () => "Look between which of the two limits the blue curve lies. A mirror flow is gradient flow in other coordinates; its potential is what a singular value of this size costs.",
    },
    {
      name: "noise",
      title: "Label noise",
      needs: ["noise"],
      height: 380,
      draw({ noise: run }) {
        const curves = [], all = [...run.clean.flat(), ...run.noisy.flat(), run.flattest];
        for (let k = 0; k < 5; k++) curves.push({ x: run.time, y: column(run.clean, k), color: "var(--gray)", width: 5, opacity: 0.55, name: k ? undefined : "trained, clean labels", group: "clean" });
        for (let k = 0; k < 5; k++) curves.push({ x: run.time, y: column(run.noisy, k), color: k ? "var(--amber)" : "var(--blue)", width: 2, name: k === 0 ? "largest, noisy" : k === 1 ? "the others, noisy" : undefined, group: "noisy" });
        curves.push(predicted(run.time, run.decay, "var(--pink)", "√(2γ) exp(−ηδ²t/2)"));
        const low = Math.max(1e-12, Math.min(...all));
        return { x: { label: "time t" }, y: { label: "singular values of W₁", log: true, range: [low / 1.6, Math.max(...all) * 1.6] }, curves, rules: [{ y: run.flattest, name: "flattest solution" }] };
      },
      about: ({ noise: run }, { noise }) => (noise > 0 ? `Look at the amber curves: the four singular values without signal decay, to ${said(run.noisy.at(-1)[1])} at the end, as the dashed line predicts; with clean labels they stay at ${said(run.clean.at(-1)[1])}.` : "Without noise nothing decays: raise the label noise."),
    },
  ],
  python: ({ gamma, values }) => `import numpy as np
import linnet as ln
from linnet.theories import spectral_bias

gamma, values = ${gamma}, np.array(${JSON.stringify([...values].sort((a, b) => b - a))})
half = spectral_bias.half_times(values, gamma)
times = np.linspace(0, float((half + 2.5 / np.hypot(values, gamma)).max()), 121)
target = np.diag([*values, *[0.0] * (8 - values.size)])
start = ln.inits.balanced(np.zeros((8, 8)), 2 * gamma)  # the orthogonal initialization, reduced to its inputs
run = ln.gradient_flow(ln.Problem.from_target(target), start, times=times, rtol=1e-10)
predicted = spectral_bias.singular_values(values, gamma, times)
print(np.abs(run.singular_values[:, : values.size] - predicted).max())
`,
};
