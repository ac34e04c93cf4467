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
