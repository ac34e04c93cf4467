// The page Two phases: one output, inputs with one strong direction; training, the two equations, and few samples.
import { integrate, twoLayers } from "./flow.js";
import { dot, matrix } from "./matrices.js";
import { generator } from "./random.js";
import { stateOf } from "./starts.js";
import { spiked } from "./tasks.js";

const DIM = 30, WIDTH = 50, DELTA = 3, POINTS = 201, ARROWS = 17;
const SAMPLED_DIM = 120, DRAWS = 8;
export const RATIOS = [1.25, 1.5, 2, 3, 4, 6, 10]; // inputs per sample at which least-norm fits are drawn

/** The constants of the model, `theories.spiked.TwoPhase`. @param {number} rho @param {number} A */
export function twoPhase(rho, A) {
  const B = Math.sqrt((1 - A) * (1 + A)), size = Math.hypot((1 + rho) * A, B), along = ((1 + rho) * A) / size, across = B / size;
  const lambda1 = 1 + rho * along ** 2, lambda2 = ((1 + rho) / size) * ((1 + rho * A * A) / size), nu = Math.abs(rho) * along * across;
  const end = Math.hypot(lambda2, nu), q = nu / lambda2, reach = q * -Math.expm1(-DELTA);
  return {
    correlation: size, lambda1, lambda2, nu, v1: [along, across], v2: [-across, along], fixed: [lambda2 / end, nu / end], turns: nu > 0,
    /** When the first component has grown. @param {number} scale */
    earlyTime(scale) {
      const ratio = Math.log(size / lambda1) - 2 * Math.log(scale);
      if (!(ratio > 0)) throw new Error("The initialization is too large for an early phase: lower its scale.");
      return ratio / (2 * size);
    },
    laterBound: nu > 0 ? (q * Math.atan(reach) + 0.5 * Math.log1p(reach ** 2) + DELTA) / lambda2 : NaN,
    /** The velocity of (18) and (19). @param {Iterable<number>} w */
    field([x, y]) {
      const norm = Math.hypot(x, y);
      return [norm * (size + norm * (nu * y - lambda1 * x)), norm * (norm * (nu * x - lambda2 * y))];
    },
    /** w1 of the early phase (17). @param {number} u0 @param {number} t */
    early(u0, t) {
      const height = size / lambda1, x = 2 * size * t;
      return Math.sqrt(height / (-Math.expm1(-x) + Math.exp(Math.log(height) - 2 * Math.log(u0) - x)));
    },
  };
}

/** When a curve first reaches a level, between saved times by a straight line. @param {ArrayLike<number>} times @param {number[]} values @param {number} level */
export function crossing(times, values, level) {
  const i = values.findIndex((v) => v >= level);
  if (i <= 0) return i < 0 ? NaN : times[0];
  return times[i - 1] + ((times[i] - times[i - 1]) * (level - values[i - 1])) / (values[i] - values[i - 1]);
}

/** @param {Record<string, any>} s */
export function twoPhases(s) {
  const model = twoPhase(s.spike, s.alignment), first = model.earlyTime(s.scale), second = first + model.laterBound;
  const end = model.turns ? 1.6 * second : 2 * first + 2 / model.lambda1, time = Array.from({ length: POINTS }, (_, i) => (end * i) / (POINTS - 1));
  const samples = s.samples === "population" ? 0 : Number(s.samples);
  const task = spiked({ dim: DIM, spike: s.spike, alignment: s.alignment, samples, noise: 0, key: s.seed }), random = generator([s.seed, 1]);
  const weights = { first: matrix(WIDTH, DIM, random.normals(WIDTH * DIM).map((x) => (s.scale / Math.sqrt(DIM)) * x)), second: matrix(1, WIDTH, random.normals(WIDTH).map((x) => (s.scale / Math.sqrt(WIDTH)) * x)) };
  // the direction in which both layers grow: W1 v + W2' with v along the correlation that is seen
  const size = Math.sqrt(dot(task.cross.data, task.cross.data));
  const grows = Float64Array.from({ length: WIDTH }, (_, i) => (dot(weights.first.data.subarray(i * DIM, (i + 1) * DIM), task.cross.data) / size + weights.second.data[i]) / 2);
  const start = Math.sqrt(dot(grows, grows));
  const states = integrate(twoLayers(task.cross, WIDTH, task.cov), stateOf(weights), time, 1e-9);
  const trained = states.map((state) => [0, 1].map((j) => grows.reduce((sum, g, i) => sum + (g / start) * state[i * DIM + j], 0)));
  const loss = states.map((state) => {
    const A = matrix(1, DIM);
    for (let i = 0; i < WIDTH; i++) for (let j = 0; j < DIM; j++) A.data[j] += state[WIDTH * DIM + i] * state[i * DIM + j];
    return task.loss(A);
  });
  const velocity = (/** @type {Float64Array} */ w, /** @type {Float64Array} */ v) => v.set(model.field(w));
  const reduced = integrate(velocity, [start, 0], time, 1e-10).map((w) => [w[0], w[1]]);
  const inPlane = (/** @type {number[]} */ [x, y]) => [0, 1].map((j) => x * model.v1[j] + y * model.v2[j]);
  const onAxes = (/** @type {number[]} */ [x, y]) => [x * model.v1[0] + y * model.v1[1], x * model.v2[0] + y * model.v2[1]];
  const components = trained.map(onAxes), last = components[POINTS - 1][1];
  const side = Array.from({ length: ARROWS }, (_, i) => -0.1 + (1.2 * i) / (ARROWS - 1));
  const arrows = side.flatMap((y) => side.map((x) => ({ at: [x, y], go: inPlane(model.field(onAxes([x, y]))) })));
  // where one component rests: |w|^2 = c/(lambda1 cos - nu sin), and a straight line
  const tilt = Math.atan2(model.nu, model.lambda1), least = Math.min(1, model.correlation / Math.hypot(model.lambda1, model.nu) / 4), reach = Math.acos(least);
  const bend = Array.from({ length: 160 }, (_, i) => {
    const angle = -reach + (2 * reach * i) / 159 - tilt, long = Math.sqrt(model.correlation / (model.lambda1 * Math.cos(angle) - model.nu * Math.sin(angle)));
    return inPlane([long * Math.cos(angle), long * Math.sin(angle)]);
  });
  return {
    time, trained, components, reduced: reduced.map(inPlane), reducedComponents: reduced, early: time.map((t) => model.early(start, t)),
    loss: loss.map((x) => x / loss[0]), arrows, nullclines: [bend, [-2, 2].map((x) => inPlane([x * model.fixed[0], x * model.fixed[1]]))], target: inPlane(model.fixed),
    first, second, turns: model.turns, start,
    firstTrained: crossing(time, components.map((c) => c[0] ** 2), model.correlation / model.lambda1 / 2),
    secondTrained: model.turns ? crossing(time, components.map((c) => c[1]), -Math.expm1(-DELTA) * last) : NaN,
  };
}

/** Test error over signal power of the network from a small initialization, eq. (27). @param {number} rho @param {number} A @param {number} ratio d/n */
export function errorOfFew(rho, A, ratio) {
  const stretch = 1 + rho / ratio;
  return ((1 - 1 / ratio) * ((1 - A) * (1 + A) + A * A * ((1 + rho) / stretch / stretch))) / (1 + rho * A * A);
}

/** Errors of least-norm fits of drawn samples, where networks of small initialization end: (ratio, draw). @param {Record<string, any>} s */
export function sampledErrors({ spike, alignment, seed }) {
  const d = SAMPLED_DIM, beta = new Float64Array(d);
  beta[0] = alignment;
  beta[1] = Math.sqrt(1 - alignment ** 2);
  return RATIOS.map((ratio, which) => {
    const random = generator([seed, which]), n = roundHalfEven(d / ratio), all = random.normals(DRAWS * n * d);
    return Array.from({ length: DRAWS }, (_, draw) => {
      const X = all.subarray(draw * n * d, (draw + 1) * n * d);
      for (let i = 0; i < n; i++) X[i * d] *= Math.sqrt(1 + spike);
      const row = (/** @type {number} */ i) => X.subarray(i * d, (i + 1) * d), gram = matrix(n, n);
      for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) gram.data[i * n + j] = gram.data[j * n + i] = dot(row(i), row(j));
      const weights = solved(gram, Float64Array.from({ length: n }, (_, i) => dot(row(i), beta)));
      const miss = beta.map((b) => -b);
      weights.forEach((w, i) => row(i).forEach((x, j) => (miss[j] += w * x)));
      return (dot(miss, miss) + spike * miss[0] ** 2) / (1 + spike * alignment ** 2);
    });
  });
}

/** Rounds as Python does. @param {number} x */
const roundHalfEven = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** The solution of a positive definite system, by Cholesky's factor. @param {import("./matrices.js").Matrix} A @param {Float64Array} b */
function solved({ rows: n, data }, b) {
  const L = data.slice(), x = b.slice();
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let sum = L[i * n + j];
      for (let k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i === j ? Math.sqrt(sum) : sum / L[j * n + j];
    }
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
    x[i] /= L[i * n + i];
  }
  return x;
}
