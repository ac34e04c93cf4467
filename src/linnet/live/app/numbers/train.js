// The page Train: one network of any width, trained, and the closed form from the same start.
import { oneOutput, selfConsistent } from "./consistent.js";
import { descend, integrate, productOf, twoLayers } from "./flow.js";
import { singularValues, symmetricEigen, times } from "./matrices.js";
import { timeOfShare } from "./modes.js";
import { reducedGaussian, stateOf } from "./starts.js";
import { lowRank, ofValues, spiked, testLoss } from "./tasks.js";

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
  const end = s.until * timeOfShare(weakest, threshold, SHARE), velocity = twoLayers(problem.cross, start.width, problem.cov);
  let clock = Array.from({ length: POINTS }, (_, i) => (end * i) / (POINTS - 1)), states, note = "";
  // the product of large layers is right to what their squares are
  if (s.how === "flow") states = integrate(velocity, stateOf(start), clock, Math.max(1e-14, 1e-10 / (1 + threshold / goal[0])));
  else {
    const rate = s.learning_rate * stableRate(problem, start), steps = Math.min(MOST_STEPS, Math.max(LEAST_STEPS, Math.ceil(end / rate)));
    const run = descend(velocity, stateOf(start), rate, steps, Math.max(1, Math.floor(steps / (POINTS - 1))));
    states = run.states;
    clock = run.at.map((step) => step * rate);
    if (run.diverged) note = `Descent diverged after ${run.at.at(-1)} steps: lower the learning rate.`;
    else if (steps === MOST_STEPS && steps * rate < 0.99 * end) note = `Descent was stopped after ${steps} steps, before the weakest mode was learned.`;
  }
  const trained = states.map((state) => productOf(state, k, d, start.width));
  const product = times(start.second, start.first);
  const predicted = problem.cov ? oneOutput(problem.cross, problem.cov, product, threshold, clock) : selfConsistent(problem.cross, product, threshold, clock);
  const modes = (/** @type {import("./matrices.js").Matrix[]} */ all) => all.map((A) => Array.from(singularValues(A)));
  return {
    time: clock,
    trained: modes(trained),
    predicted: modes(predicted),
    loss: trained.map(problem.loss),
    test: trained.map((A) => testLoss(problem, A)),
    predictedLoss: predicted.map(problem.loss),
    predictedTest: predicted.map((A) => testLoss(problem, A)),
    learnable: Array.from(singularValues(problem.solution)),
    threshold,
    units: start.width,
    steps: clock.length - 1,
    note,
    products: s.products ? trained.map((A) => Array.from(A.data)) : null, // for the tests
  };
}

