// The singular values of a square task and how much of the truth each mode holds: `theories.lazy_active.task_spectrum`.

/**
 * @typedef {object} Spectrum
 * @property {Float64Array} values @property {Float64Array} overlaps @property {Float64Array} counts
 * @property {number} dim @property {number} power of the truth @property {number} apart modes that stand apart from the bulk
 */

const APART = 24, ABOVE_EDGE = 1.05, HOLDS = 0.2, NEAR_EDGE = 0.8;
const BULK_MEDIAN = 0.8079455065990344; // of the singular values of square noise, whose edge is 2

/**
 * Householder's bidiagonal form by reflections that act on the factors of the truth too, then QL on the matrix of Golub
 * and Kahan: no singular vector is ever formed.
 * @param {{ cross: import("./matrices.js").Matrix, factors: { left: Float64Array[], right: Float64Array[] } }} task
 * @returns {Spectrum}
 */
export function spectrumOf({ cross, factors }) {
  const n = cross.rows, A = cross.data.slice(), K = factors.left.length;
  const left = factors.left.map((row) => row.slice()), right = factors.right.map((row) => row.slice());
  const main = new Float64Array(n), above = new Float64Array(n), v = new Float64Array(n), w = new Float64Array(n);
  const reflect = (/** @type {Float64Array} */ row, /** @type {number} */ from, /** @type {number} */ twice) => {
    let sum = 0;
    for (let i = from; i < n; i++) sum += v[i] * row[i];
    sum *= twice;
    for (let i = from; i < n; i++) row[i] -= sum * v[i];
  };
  /** Makes v, from an entry on, the reflector that leaves only its first entry; that entry and 2/|v|^2. @param {number} from */
  const reflector = (from) => {
    let size = 0;
    for (let i = from; i < n; i++) size += v[i] * v[i];
    if (size === 0) return [0, 0];
    const end = v[from] > 0 ? -Math.sqrt(size) : Math.sqrt(size), twice = 1 / (size - v[from] * end);
    v[from] -= end;
    return [end, twice];
  };
  for (let k = 0; k < n; k++) {
    for (let i = k; i < n; i++) v[i] = A[i * n + k];
    let [end, twice] = reflector(k);
    main[k] = end;
    w.fill(0, k + 1);
    for (let i = k; i < n; i++) for (let x = v[i], at = i * n, j = k + 1; j < n; j++) w[j] += x * A[at + j];
    for (let i = k; i < n; i++) for (let x = twice * v[i], at = i * n, j = k + 1; j < n; j++) A[at + j] -= x * w[j];
    for (const row of left) reflect(row, k, twice);
    if (k + 1 >= n) continue;
    for (let j = k + 1; j < n; j++) v[j] = A[k * n + j];
    [end, twice] = reflector(k + 1);
    above[k] = end;
    for (let i = k + 1; i < n; i++) {
      const at = i * n;
      let sum = 0;
      for (let j = k + 1; j < n; j++) sum += v[j] * A[at + j];
      sum *= twice;
      for (let j = k + 1; j < n; j++) A[at + j] -= sum * v[j];
    }
    for (const row of right) reflect(row, k + 1, twice);
  }
  // the tridiagonal matrix with zeros on its diagonal has eigenvalues +-s and vectors (v1, u1, v2, ...)/sqrt 2
  const size = 2 * n, beside = new Float64Array(size), R = 2 * K, rows = new Float64Array(size * R), all = new Float64Array(size);
  for (let k = 0; k < n; k++) {
    beside[2 * k] = main[k];
    beside[2 * k + 1] = above[k];
  }
  for (let k = 0; k < K; k++) {
    for (let i = 0; i < n; i++) {
      rows[(2 * i + 1) * R + k] = left[k][i];
      rows[2 * i * R + K + k] = right[k][i];
    }
  }
  implicitQL(all, beside, rows);
  const order = Array.from(all.keys()).sort((i, j) => all[j] - all[i]).slice(0, n);
  const values = Float64Array.from(order, (i) => all[i]);
  const overlaps = Float64Array.from(order, (i) => {
    let sum = 0;
    for (let k = 0; k < K; k++) sum += rows[i * R + k] * rows[i * R + K + k];
    return 2 * sum;
  });
  let power = 0;
  for (let k = 0; k < K; k++) {
    for (let m = 0; m < K; m++) {
      let one = 0, two = 0;
      for (let i = 0; i < n; i++) {
        one += factors.left[k][i] * factors.left[m][i];
        two += factors.right[k][i] * factors.right[m][i];
      }
      power += one * two;
    }
  }
  return { values, overlaps, counts: new Float64Array(n).fill(1), dim: n, power, apart: standingApart(values, overlaps) };
}

/** Eigenvalues of a symmetric tridiagonal matrix into `d`; its rotations turn `rows`, (d.length, count). @param {Float64Array} d @param {Float64Array} e @param {Float64Array} rows */
function implicitQL(d, e, rows) {
  const n = d.length, count = rows.length / n;
  let scale = 0;
  for (let i = 0; i < n; i++) scale = Math.max(scale, Math.abs(d[i]) + Math.abs(e[i]));
  for (let l = 0; l < n; l++) {
    for (let tries = 0; tries < 60; tries++) {
      let m = l;
      while (m < n - 1 && Math.abs(e[m]) > 1.1e-16 * Math.max(Math.abs(d[m]) + Math.abs(d[m + 1]), 1e-3 * scale)) m++;
      if (m === l) break;
      let g = (d[l + 1] - d[l]) / (2 * e[l]), r = Math.sqrt(g * g + 1);
      g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
      let s = 1, c = 1, p = 0, i = m - 1;
      for (; i >= l; i--) {
        const f = s * e[i], b = c * e[i];
        r = Math.sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r === 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        for (let k = i * count, end = k + count; k < end; k++) {
          const y = rows[k], z = rows[k + count];
          rows[k + count] = s * y + c * z;
          rows[k] = c * y - s * z;
        }
      }
      if (r === 0 && i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  }
}

/** How many leading modes stand above the bulk, or hold the truth although inside it. @param {Float64Array} values @param {Float64Array} overlaps */
function standingApart(values, overlaps) {
  const n = values.length, edge = (values[n >> 1] + values[(n - 1) >> 1]) / BULK_MEDIAN;
  let above = 0, holding = 0;
  values.forEach((S, i) => {
    if (S > Math.max(ABOVE_EDGE * edge, 1e-12 * values[0])) above++;
    if (overlaps[i] > HOLDS * S && S > NEAR_EDGE * edge) holding = i + 1;
  });
  return Math.min(Math.max(above, holding), APART);
}

/** The bulk in so many groups of equally many modes: root mean square, mean overlap. @param {Spectrum} spectrum @param {number} points @returns {Spectrum} */
export function grouped(spectrum, points) {
  const { values, overlaps, counts, apart } = spectrum, bulk = values.length - apart;
  if (bulk <= points) return spectrum;
  const size = new Float64Array(points), squares = new Float64Array(points), sums = new Float64Array(points);
  const total = counts.subarray(apart).reduce((a, b) => a + b, 0);
  for (let i = apart, before = 0; i < values.length; before += counts[i++]) {
    const place = Math.min(Math.floor((points * (before + counts[i] / 2)) / total), points - 1);
    size[place] += counts[i];
    squares[place] += counts[i] * values[i] ** 2;
    sums[place] += counts[i] * overlaps[i];
  }
  const join = (/** @type {Float64Array} */ first, /** @type {number[]} */ rest) => Float64Array.from([...first.subarray(0, apart), ...rest]);
  const kept = Array.from(size.keys()).filter((i) => size[i] > 0);
  return {
    ...spectrum,
    values: join(values, kept.map((i) => Math.sqrt(squares[i] / size[i]))),
    overlaps: join(overlaps, kept.map((i) => sums[i] / size[i])),
    counts: join(counts, kept.map((i) => size[i])),
  };
}
