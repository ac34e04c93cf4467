// Modes of a two-layer linear network in closed form, on the canonical clock.

/**
 * s(t) under gradient flow from nothing: every bracket is positive and none cancels.
 * @param {number} S singular value of the target @param {number} g threshold @param {number} t
 */
export function modeValue(S, g, t) {
  if (!(g > 0 && S > 0)) return 0;
  const rho = Math.hypot(S, g), total = S + rho;
  const a = total / g, q = (S * (1 + S / (rho + g))) / (total + g);
  const x = 2 * rho * t, E = Math.exp(-x);
  return (S * -Math.expm1(-x) * (1 + q * q * E)) / ((1 + a * q * E) * (1 - (q * E) / a));
}

/** When a mode has reached the share of its target. @param {number} S @param {number} g @param {number} share */
export function timeOfShare(S, g, share) {
  const s = share * S, rho = Math.hypot(S, g);
  const grown = (S * s + g * g + rho * Math.hypot(s, g)) / (g * g + rho * g);
  return (Math.log(grown) - Math.log1p(-share)) / (2 * rho);
}

// Spectral descent: ds/dt = 2 (s^2 + g^2)^(1/4) up to S. With s = g sinh x, t = sqrt(g)/2 I(x), I(x) = int_0^x sqrt(cosh).
const STEP = 0.25, NODES = [0.2386191860831969, 0.6612093864662645, 0.932469514203152];
const WEIGHTS = [0.467913934572691, 0.3607615730481386, 0.1713244923791704];

/** Gauss's rule on one piece. @param {number} from @param {number} to */
function piece(from, to) {
  const half = (to - from) / 2, middle = (to + from) / 2;
  return half * NODES.reduce((sum, node, i) => sum + WEIGHTS[i] * (Math.sqrt(Math.cosh(middle - half * node)) + Math.sqrt(Math.cosh(middle + half * node))), 0);
}

const TABLE = [0];
for (let j = 1; j <= 280; j++) TABLE.push(TABLE[j - 1] + piece((j - 1) * STEP, j * STEP));

/** When the level that all modes share reaches s, under spectral descent. @param {number} s @param {number} g */
export function timeOfLevel(s, g) {
  const x = Math.asinh(s / g), j = Math.min(Math.floor(x / STEP), TABLE.length - 1);
  return (Math.sqrt(g) / 2) * (TABLE[j] + piece(j * STEP, x));
}

/** The level that all modes share at time t under spectral descent; a mode is min(S, level). @param {number} t @param {number} g */
export function levelAt(t, g) {
  const goal = (2 * t) / Math.sqrt(g);
  let low = 0, high = TABLE.length - 1;
  if (goal >= TABLE[high]) return Infinity;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (TABLE[middle] <= goal) low = middle;
    else high = middle;
  }
  let x = low * STEP + (goal - TABLE[low]) / Math.sqrt(Math.cosh(low * STEP));
  for (let i = 0; i < 6; i++) x -= (TABLE[low] + piece(low * STEP, x) - goal) / Math.sqrt(Math.cosh(x));
  return g * Math.sinh(x);
}
