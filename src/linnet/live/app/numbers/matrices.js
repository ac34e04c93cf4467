// Matrices of float64, row by row, and what of linear algebra the pages need.

/** @typedef {{ rows: number, cols: number, data: Float64Array }} Matrix */

/** @param {number} rows @param {number} cols @param {ArrayLike<number>} [data] @returns {Matrix} */
export const matrix = (rows, cols, data) => ({ rows, cols, data: data ? Float64Array.from(data) : new Float64Array(rows * cols) });

/** out (m, n) = a (m, k) b (k, n), four rows of b at a time. @param {Float64Array} out @param {Float64Array} a @param {Float64Array} b @param {number} m @param {number} k @param {number} n */
export function product(out, a, b, m, k, n) {
  out.fill(0, 0, m * n);
  const four = k - (k % 4);
  for (let i = 0; i < m; i++) {
    const row = i * n, from = i * k;
    let l = 0;
    for (; l < four; l += 4) {
      const a0 = a[from + l], a1 = a[from + l + 1], a2 = a[from + l + 2], a3 = a[from + l + 3];
      const b0 = l * n, b1 = b0 + n, b2 = b1 + n, b3 = b2 + n;
      for (let j = 0; j < n; j++) out[row + j] += a0 * b[b0 + j] + a1 * b[b1 + j] + a2 * b[b2 + j] + a3 * b[b3 + j];
    }
    for (; l < k; l++) {
      const x = a[from + l], at = l * n;
      for (let j = 0; j < n; j++) out[row + j] += x * b[at + j];
    }
  }
}

/** out = a' (m rows, n columns) turned. @param {Float64Array} out @param {Float64Array} a @param {number} m @param {number} n */
export function turned(out, a, m, n) {
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) out[j * m + i] = a[i * n + j];
}

/** @param {Matrix} a @param {Matrix} b */
export function times(a, b) {
  const out = matrix(a.rows, b.cols);
  product(out.data, a.data, b.data, a.rows, a.cols, b.cols);
  return out;
}

/** @param {Matrix} a */
export function transpose(a) {
  const out = matrix(a.cols, a.rows);
  turned(out.data, a.data, a.rows, a.cols);
  return out;
}

/** @param {number[] | Float64Array} values @returns {Matrix} */
export function diagonal(values) {
  const out = matrix(values.length, values.length);
  for (let i = 0; i < values.length; i++) out.data[i * values.length + i] = values[i];
  return out;
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * Singular values, largest first, and the singular vectors as rows, by one-sided Jacobi rotations.
 * @param {Matrix} a @param {boolean} [vectors]
 */
export function svd(a, vectors = false) {
  const wide = a.cols > a.rows, n = Math.min(a.rows, a.cols), m = Math.max(a.rows, a.cols);
  const columns = Array.from({ length: n }, (_, j) => Float64Array.from({ length: m }, (_, i) => (wide ? a.data[j * m + i] : a.data[i * n + j])));
  const others = vectors ? Array.from({ length: n }, (_, i) => Float64Array.from({ length: n }, (_, j) => +(i === j))) : [];
  const turn = (/** @type {Float64Array} */ x, /** @type {Float64Array} */ y, /** @type {number} */ c, /** @type {number} */ s) => {
    for (let i = 0; i < x.length; i++) {
      const p = x[i], q = y[i];
      x[i] = c * p - s * q;
      y[i] = s * p + c * q;
    }
  };
  for (let moved = true, sweep = 0; moved && sweep < 40; sweep++) {
    moved = false;
    for (let p = 0; p < n - 1; p++) {
      for (let q = p + 1; q < n; q++) {
        const x = columns[p], y = columns[q], xx = dot(x, x), yy = dot(y, y), xy = dot(x, y);
        if (Math.abs(xy) <= 1e-15 * Math.sqrt(xx * yy) || xx * yy === 0) continue;
        moved = true;
        const z = (yy - xx) / (2 * xy), t = (z >= 0 ? 1 : -1) / (Math.abs(z) + Math.hypot(1, z)), c = 1 / Math.hypot(1, t);
        turn(x, y, c, c * t);
        if (vectors) turn(others[p], others[q], c, c * t);
      }
    }
  }
  const sizes = columns.map((x) => Math.sqrt(dot(x, x))), order = sizes.map((_, i) => i).sort((i, j) => sizes[j] - sizes[i]);
  const values = Float64Array.from(order, (i) => sizes[i]);
  const long = vectors ? order.map((i) => columns[i].map((x) => (sizes[i] > 0 ? x / sizes[i] : 0))) : [];
  const short = vectors ? order.map((i) => others[i]) : [];
  return { values, left: wide ? short : long, right: wide ? long : short };
}

/** Singular values alone. @param {Matrix} a */
export const singularValues = (a) => svd(a).values;

/** Eigenvalues, largest first, and eigenvectors as rows, of a symmetric matrix, by Jacobi rotations. @param {Matrix} a */
export function symmetricEigen(a) {
  const n = a.rows, A = a.data.slice(), V = diagonal(new Float64Array(n).fill(1)).data;
  for (let moved = true, sweep = 0; moved && sweep < 60; sweep++) {
    moved = false;
    for (let p = 0; p < n - 1; p++) {
      for (let q = p + 1; q < n; q++) {
        const pq = A[p * n + q], pp = A[p * n + p], qq = A[q * n + q];
        if (Math.abs(pq) <= 1e-17 * (Math.abs(pp) + Math.abs(qq)) || pq === 0) continue;
        moved = true;
        const z = (qq - pp) / (2 * pq), t = (z >= 0 ? 1 : -1) / (Math.abs(z) + Math.hypot(1, z)), c = 1 / Math.hypot(1, t), s = c * t;
        for (let i = 0; i < n; i++) {
          const x = A[i * n + p], y = A[i * n + q];
          A[i * n + p] = c * x - s * y;
          A[i * n + q] = s * x + c * y;
        }
        for (let i = 0; i < n; i++) {
          const x = A[p * n + i], y = A[q * n + i], v = V[p * n + i], w = V[q * n + i];
          A[p * n + i] = c * x - s * y;
          A[q * n + i] = s * x + c * y;
          V[p * n + i] = c * v - s * w;
          V[q * n + i] = s * v + c * w;
        }
      }
    }
  }
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => A[j * n + j] - A[i * n + i]);
  return { values: Float64Array.from(order, (i) => A[i * n + i]), vectors: order.map((i) => V.slice(i * n, (i + 1) * n)) };
}

/** The inverse of a square matrix, by elimination with pivots. @param {Matrix} a */
export function inverse(a) {
  const n = a.rows, A = a.data.slice(), B = diagonal(new Float64Array(n).fill(1)).data;
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(A[i * n + k]) > Math.abs(A[best * n + k])) best = i;
    for (const M of [A, B]) for (let j = 0; j < n && best !== k; j++) [M[k * n + j], M[best * n + j]] = [M[best * n + j], M[k * n + j]];
    const pivot = A[k * n + k];
    for (let j = 0; j < n; j++) {
      A[k * n + j] /= pivot;
      B[k * n + j] /= pivot;
    }
    for (let i = 0; i < n; i++) {
      const x = A[i * n + k];
      if (i === k || x === 0) continue;
      for (let j = 0; j < n; j++) {
        A[i * n + j] -= x * A[k * n + j];
        B[i * n + j] -= x * B[k * n + j];
      }
    }
  }
  return { rows: n, cols: n, data: B };
}

/** Orthonormal columns of a thin QR, with LAPACK's signs, for a tall matrix. @param {Matrix} a */
export function orthonormal(a) {
  const { rows: m, cols: n } = a, A = a.data.slice(), reflectors = [];
  for (let k = 0; k < n; k++) {
    let size = 0;
    for (let i = k; i < m; i++) size += A[i * n + k] ** 2;
    size = Math.sqrt(size);
    const v = new Float64Array(m);
    for (let i = k; i < m; i++) v[i] = A[i * n + k];
    v[k] += v[k] > 0 ? size : -size;
    const twice = 2 / dot(v, v);
    reflectors.push({ v, twice });
    for (let j = k; j < n; j++) {
      let sum = 0;
      for (let i = k; i < m; i++) sum += v[i] * A[i * n + j];
      for (let i = k; i < m; i++) A[i * n + j] -= twice * sum * v[i];
    }
  }
  const Q = matrix(m, n);
  for (let j = 0; j < n; j++) Q.data[j * n + j] = 1;
  for (const { v, twice } of reflectors.reverse()) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let i = 0; i < m; i++) sum += v[i] * Q.data[i * n + j];
      for (let i = 0; i < m; i++) Q.data[i * n + j] -= twice * sum * v[i];
    }
  }
  return Q;
}
