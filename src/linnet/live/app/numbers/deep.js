// The page Depth: networks of two to six layers of any width, in their reduced form, and the equation of each mode.
import { deepLayers, deepProduct, integrate } from "./flow.js";
import { diagonal, matrix, singularValues, transpose } from "./matrices.js";
import { modeValue } from "./modes.js";
import { generator } from "./random.js";
import { reducedGaussian, stateOf } from "./starts.js";

/** @typedef {import("./matrices.js").Matrix} Matrix */
const SIDE = 3, ORDER = 6, POINTS = 101;

/** The matrix in the upper left corner of a larger one. @param {Matrix} m @param {number} rows @param {number} cols @param {number} fill */
function padded(m, rows, cols, fill) {
  const out = matrix(rows, cols, new Float64Array(rows * cols).fill(fill));
  for (let i = 0; i < m.rows; i++) for (let j = 0; j < m.cols; j++) out.data[i * cols + j] = m.data[i * m.cols + j];
  return out;
}

/**
 * Standard normal layers in the spaces that words of up to `order` letters span, drawn as `inits.reduced_gaussian` does.
 * @param {{ inputs: number, outputs: number, width: number, depth: number, order: number, key: number }} of
 */
export function reducedDeep({ inputs, outputs, width, depth, order, key }) {
  const random = generator(key), spaces = depth - 1, held = new Array(spaces).fill(0), up = held.slice(), down = held.slice();
  const inner = Array.from({ length: spaces - 1 }, () => matrix(0, 0));
  const hold = (/** @type {number} */ space, /** @type {number} */ count) => {
    held[space] += count;
    const fresh = held[space] - count;
    if (space > 0) {
      const layer = padded(inner[space - 1], held[space], held[space - 1], NaN);
      for (let i = fresh; i < held[space]; i++) for (let j = 0; j < up[space - 1]; j++) layer.data[i * layer.cols + j] = 0;
      inner[space - 1] = layer;
    }
    if (space + 1 < spaces) {
      const layer = padded(inner[space], held[space + 1], held[space], NaN);
      for (let i = 0; i < down[space + 1]; i++) for (let j = fresh; j < held[space]; j++) layer.data[i * layer.cols + j] = 0;
      inner[space] = layer;
    }
  };
  const directions = (/** @type {number} */ space, /** @type {number} */ columns) => {
    const left = width - held[space];
    if (left < columns) {
      hold(space, left);
      return matrix(left, columns, random.normals(left * columns));
    }
    const triangle = matrix(columns, columns, random.normals(columns * columns));
    for (let i = 0; i < columns; i++) for (let j = 0; j <= i; j++) triangle.data[i * columns + j] = 0;
    for (let i = 0; i < columns; i++) triangle.data[i * columns + i] = Math.sqrt(random.chisquare(left - i));
    hold(space, columns);
    return triangle;
  };
  const images = (/** @type {number} */ space, /** @type {number} */ until, /** @type {boolean} */ upwards) => {
    const to = upwards ? space + 1 : space - 1, shown = upwards ? up : down, since = shown[space], there = held[to];
    if (until === since) return;
    const layer = Math.min(space, to), beyond = directions(to, until - since), known = inner[layer], along = random.normals(there * (until - since));
    const place = (/** @type {number} */ i, /** @type {number} */ j) => (upwards ? i * known.cols + j : j * known.cols + i);
    for (let i = 0; i < there; i++) for (let j = since; j < until; j++) if (Number.isNaN(known.data[place(i, j)])) known.data[place(i, j)] = along[i * (until - since) + j - since];
    for (let i = 0; i < beyond.rows; i++) for (let j = since; j < until; j++) known.data[place(there + i, j)] = beyond.data[i * beyond.cols + j - since];
    shown[space] = until;
  };
  let first = directions(0, inputs);
  const reached = random.normals(held[spaces - 1] * outputs), begun = held[spaces - 1], beyond = directions(spaces - 1, outputs);
  let last = matrix(begun + beyond.rows, outputs, [...reached, ...beyond.data]);
  for (let letter = 0; letter < order; letter++) {
    const before = held.slice();
    for (let space = 0; space < spaces; space++) {
      if (space + 1 < spaces) images(space, before[space], true);
      if (space > 0) images(space, before[space], false);
    }
    if (held.every((x, i) => x === before[i])) break;
  }
  const between = inner.map((m) => {
    const rest = random.normals(m.data.length);
    return { ...m, data: m.data.map((x, i) => (Number.isNaN(x) ? rest[i] : x)) };
  });
  first = padded(first, held[0], inputs, 0);
  last = padded(last, held[spaces - 1], outputs, 0);
  return [first, ...between, transpose(last)];
}

/** Which hidden units are coupled at infinite width, of words up to `order`: 0 or 1, as layers. @param {number} depth @param {number} order */
export function couplings(depth, order) {
  const spaces = depth - 1, held = new Array(spaces).fill(0), links = Array.from({ length: spaces - 1 }, () => /** @type {number[][]} */ ([]));
  let fresh = [0, spaces - 1].map((space) => [space, held[space]++]);
  for (let letter = 0; letter < order; letter++) {
    const grown = [];
    for (const [space, unit] of fresh) {
      for (const [to, layer] of [[space + 1, space], [space - 1, space - 1]]) {
        if (to < 0 || to >= spaces) continue;
        links[layer].push(to > space ? [held[to], unit] : [unit, held[to]]);
        grown.push([to, held[to]++]);
      }
    }
    if (!grown.length) break;
    fresh = grown;
  }
  const first = matrix(held[0], 1), last = matrix(1, held[spaces - 1]);
  first.data[0] = 1;
  last.data[spaces === 1 ? 1 : 0] = 1;
  return [first, ...links.map((pairs, l) => {
    const m = matrix(held[l + 1], held[l]);
    for (const [above, below] of pairs) m.data[above * m.cols + below] = 1;
    return m;
  }), last];
}

/** @param {Matrix[]} layers @param {number} scale */
function flat(layers, scale) {
  const all = new Float64Array(layers.reduce((sum, m) => sum + m.data.length, 0));
  let at = 0;
  for (const { data } of layers) {
    all.set(data.map((x) => scale * x), at);
    at += data.length;
  }
  return all;
}

/** Twice the time in which a mode is learned: a plateau that ends at c^(2 - L)/S, then an exponential. @param {number} weakest @param {number} c @param {number} L */
export function horizon(weakest, c, L) {
  const lazy = 1 / (L * Math.max(c ** (2 * L - 2), weakest ** (2 - 2 / L))), plateau = L === 2 ? Math.log(2 + weakest / c ** 2) : c ** (2 - L);
  return 2 * (lazy + plateau / Math.max(weakest, c ** L));
}

/** A mode of a wide network, `theories.deep.gaussian_modes`. @param {number} S @param {number} c @param {number} L @param {number[]} time */
export function mode(S, c, L, time) {
  if (L === 2) return time.map((t) => modeValue(S, c * c, t));
  const layers = couplings(L, ORDER), sizes = [1, ...layers.map((m) => m.rows)];
  return integrate(deepLayers(matrix(1, 1, [S]), sizes), flat(layers, c), time, 1e-8).map((state) => deepProduct(state, sizes).data[0]);
}

/** @param {Record<string, any>} s */
export function deep({ depth: L, coupling: c, width, values, seed }) {
  const S = [...values].sort((a, b) => b - a), end = horizon(S[S.length - 1], c, L), time = Array.from({ length: POINTS }, (_, i) => (end * i) / (POINTS - 1));
  const target = diagonal([...S, ...new Array(SIDE - S.length).fill(0)]), std = c / Math.sqrt(width);
  let sizes, start;
  if (L === 2) {
    const two = reducedGaussian({ inputs: SIDE, outputs: SIDE, width, stds: [std, std], key: seed });
    [sizes, start] = [[SIDE, two.width, SIDE], stateOf(two)];
  } else {
    const layers = reducedDeep({ inputs: SIDE, outputs: SIDE, width, depth: L, order: ORDER, key: seed });
    [sizes, start] = [[SIDE, ...layers.map((m) => m.rows)], flat(layers, std)];
  }
  const states = integrate(deepLayers(target, sizes), start, time, 1e-8);
  const predicted = S.map((x) => mode(x, c, L, time));
  return { values: S, time, trained: states.map((state) => Array.from(singularValues(deepProduct(state, sizes))).slice(0, S.length)), predicted: time.map((_, i) => predicted.map((row) => row[i])), widths: sizes.slice(1, -1), threshold: c ** L };
}

/**
 * When a mode is half learned, from the table that Python wrote: logarithms of that time for S = 1 over evenly spaced
 * logarithms of kappa = c S^(-1/L); below them the plateau grows as kappa^(2 - L), above them learning is lazy.
 * @param {number} S @param {number} c @param {number} L @param {{ least: number, most: number, logs: number[] }} table
 */
export function halfTime(S, c, L, { least, most, logs }) {
  const kappa = c * S ** (-1 / L), unit = S ** (2 / L - 2);
  if (kappa >= most) return (Math.LN2 / (L * kappa ** (2 * L - 2))) * unit;
  const held = Math.max(kappa, least), place = (Math.log(held / least) / Math.log(most / least)) * (logs.length - 1);
  const i = Math.min(Math.max(Math.floor(place) - 1, 0), logs.length - 4), x = place - i;
  const weights = [(-(x - 1) * (x - 2) * (x - 3)) / 6, (x * (x - 2) * (x - 3)) / 2, (-x * (x - 1) * (x - 3)) / 2, (x * (x - 1) * (x - 2)) / 6];
  const log = weights.reduce((sum, w, k) => sum + w * logs[i + k], 0);
  return Math.exp(log) * (held / kappa) ** (L - 2) * unit;
}
