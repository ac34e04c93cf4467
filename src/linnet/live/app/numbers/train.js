// The page Train: one network of any width, trained, and the closed form from the same initialization.
import { decaying, oneOutput, selfConsistent } from "./consistent.js";
import { descend, integrate, polar, productOf, twoLayers, withDecay } from "./flow.js";
import { matrix, singularValues, svd, symmetricEigen, times } from "./matrices.js";
import { levelAt, timeOfLevel, timeOfShare } from "./modes.js";
import { reducedGaussian, stateOf } from "./starts.js";
import { lowRank, ofValues, spiked, testLoss } from "./tasks.js";

const SPECTRAL_STEPS = 600; // of spectral descent: a mode oscillates within one of its target
const POINTS = 121, LEAST_STEPS = 64, MOST_STEPS = 10000, SHARE = 0.97;

/** @param {Record<string, any>} s the settings of the page */
export function task(s) {
  if (s.target === "values") return ofValues(s.values, s.in_dim, s.out_dim);
  if (s.target === "low_rank") return lowRank({ inputs: s.in_dim, outputs: s.out_dim, rank: s.rank, noise: s.noise_std, key: s.seed });
  return spiked({ dim: s.in_dim, spike: s.spike, alignment: s.alignment, samples: s.samples, noise: s.samples ? s.noise_std : 0, key: s.seed });
}

/** Standard deviations of both layers: the geometric mean is the scale, their ratio W2 over W1 the imbalance. @param {Record<string, any>} s @returns {[number, number]} */
export const stds = (s) => [s.scale / Math.sqrt(s.imbalance), s.scale * Math.sqrt(s.imbalance)];

/** `ln.stable_learning_rate`. @param {import("./tasks.js").Task} problem @param {{ first: any, second: any }} start */
function stableRate(problem, start) {
  const [one, two] = [start.first, start.second].map((layer) => singularValues(layer)[0] ** 2);
  const top = problem.cov ? symmetricEigen(problem.cov).values[0] : 1;
  const solution = singularValues(problem.solution)[0], goal = singularValues(problem.cross)[0], bound = Math.max(one, two);
  return 1 / Math.max(top * (one + two) + goal + Math.sqrt(one * two) * top, top * (bound + Math.hypot(bound, 2 * solution)));
}

/** @param {Record<string, any>} s */
export function train(s) {
  const problem = task(s), k = problem.cross.rows, d = problem.cross.cols, [one, two] = stds(s);
  const threshold = ((one * one + two * two) * s.width) / 2;
  if (!(threshold > 0 && Number.isFinite(threshold))) throw new Error("The initial weights are zero in floating point: raise the width or the scale.");
  const start = reducedGaussian({ inputs: d, outputs: k, width: s.width, stds: [one, two], key: s.seed });
  const goal = singularValues(problem.truth), weakest = goal.filter((x) => x > 1e-9 * goal[0]).at(-1) ?? 1;
  const spectral = s.how === "spectral", decay = s.how === "flow" ? s.decay : 0;
  if (spectral && problem.cov) throw new Error("Spectral descent is predicted for white inputs: choose another target, or another training.");
  const end = s.until * (spectral ? 1.15 * timeOfLevel(singularValues(problem.cross)[0], threshold) : timeOfShare(weakest, threshold, SHARE)), velocity = twoLayers(problem.cross, start.width, problem.cov);
  let clock = Array.from({ length: POINTS }, (_, i) => (end * i) / (POINTS - 1)), states, note = "";
  // the product of large layers is right to what their squares are
  if (s.how === "flow") states = integrate(withDecay(velocity, decay), stateOf(start), clock, Math.max(1e-14, 1e-10 / (1 + threshold / goal[0])));
  else if (spectral) {
    const rate = end / SPECTRAL_STEPS, run = descend(polar(velocity, [[start.width, d], [k, start.width]]), stateOf(start), rate, SPECTRAL_STEPS, SPECTRAL_STEPS / (POINTS - 1));
    states = run.states;
    clock = run.at.map((step) => step * rate);
  } else {
    const rate = s.learning_rate * stableRate(problem, start), steps = Math.min(MOST_STEPS, Math.max(LEAST_STEPS, Math.ceil(end / rate)));
    const run = descend(velocity, stateOf(start), rate, steps, Math.max(1, Math.floor(steps / (POINTS - 1))));
    states = run.states;
    clock = run.at.map((step) => step * rate);
    if (run.diverged) note = `Descent diverged after ${run.at.at(-1)} steps: lower the learning rate.`;
    else if (steps === MOST_STEPS && steps * rate < 0.99 * end) note = `Descent was stopped after ${steps} steps, before the weakest mode was learned.`;
  }
  const trained = states.map((state) => productOf(state, k, d, start.width));
  const product = times(start.second, start.first);
  const predicted = spectral ? clipped(problem.cross, threshold, clock) : decay ? decaying(problem.cross, problem.cov, product, threshold, decay, clock) : problem.cov ? oneOutput(problem.cross, problem.cov, product, threshold, clock) : selfConsistent(problem.cross, product, threshold, clock);
  const modes = (/** @type {import("./matrices.js").Matrix[]} */ all) => all.map((A) => Array.from(singularValues(A)));
  return {
    time: clock,
    trained: modes(trained),
    predicted: modes(predicted),
    loss: trained.map(problem.loss),
    test: trained.map((A) => testLoss(problem, A)),
    predictedLoss: predicted.map(problem.loss),
    predictedTest: predicted.map((A) => testLoss(problem, A)),
    learnable: Array.from(singularValues(problem.solution), (x) => (problem.cov ? x : Math.max(0, x - decay))),
    threshold,
    thresholds: clock.map((t) => threshold * Math.exp(-2 * decay * t)),
    units: start.width,
    steps: clock.length - 1,
    note,
    products: s.products ? trained.map((A) => Array.from(A.data)) : null, // for the tests
  };
}


/** The target clipped at the level that all modes share. @param {import("./matrices.js").Matrix} target @param {number} g @param {number[]} clock */
function clipped(target, g, clock) {
  const { values, left, right } = svd(target, true);
  return clock.map((t) => {
    const level = levelAt(t, g), A = matrix(target.rows, target.cols);
    values.forEach((S, k) => {
      for (let i = 0; i < A.rows; i++) for (let j = 0; j < A.cols; j++) A.data[i * A.cols + j] += Math.min(S, level) * left[k][i] * right[k][j];
    });
    return A;
  });
}
