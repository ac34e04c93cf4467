// NumPy's random numbers: SeedSequence, PCG64 and the ziggurats, so that a seed draws here what it draws in Python.

const EXP = 7.69711747013104972, EXP_AREA = 0.0039496598225815571993;
const NORMAL = 3.6541528853610087963519472518, NORMAL_AREA = 0.0049286732339746519;

/**
 * Tables of a ziggurat of 256 strips under a falling density f with inverse g: widths, limits of whole numbers, heights.
 * @param {number} end @param {number} area @param {number} bits
 * @param {(x: number) => number} f @param {(y: number) => number} g
 */
function ziggurat(end, area, bits, f, g) {
  const unit = 2 ** bits, wide = new Float64Array(256), limit = new Float64Array(256), high = new Float64Array(256);
  let last = end;
  wide[255] = last / unit;
  high[255] = f(last);
  limit[0] = Math.floor((last * high[255] / area) * unit);
  wide[0] = area / high[255] / unit;
  high[0] = 1;
  for (let i = 254; i > 0; i--) {
    const x = g(area / last + high[i + 1]);
    limit[i + 1] = Math.floor((x / last) * unit);
    wide[i] = x / unit;
    high[i] = f(x);
    last = x;
  }
  limit[1] = 0;
  return { wide, limit, high };
}

const OF_NORMAL = ziggurat(NORMAL, NORMAL_AREA, 52, (x) => Math.exp(-0.5 * x * x), (y) => Math.sqrt(-2 * Math.log(y)));
const OF_EXP = ziggurat(EXP, EXP_AREA, 53, (x) => Math.exp(-x), (y) => -Math.log(y));

/**
 * The first words of SeedSequence(entropy, spawn_key=path).
 * @param {number[]} entropy @param {number[]} path @param {number} count
 */
export function seedWords(entropy, path, count) {
  const whole = entropy.slice();
  if (path.length) while (whole.length < 4) whole.push(0);
  whole.push(...path);
  let constant = 0x43b0d7e5;
  const hashed = (/** @type {number} */ value) => {
    let v = value ^ constant;
    constant = Math.imul(constant, 0x931e8875);
    v = Math.imul(v, constant);
    return v ^ (v >>> 16);
  };
  const mixed = (/** @type {number} */ x, /** @type {number} */ y) => {
    const r = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) | 0;
    return r ^ (r >>> 16);
  };
  const pool = [0, 1, 2, 3].map((i) => hashed(whole[i] ?? 0));
  for (let from = 0; from < 4; from++) for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
  for (let from = 4; from < whole.length; from++) for (let to = 0; to < 4; to++) pool[to] = mixed(pool[to], hashed(whole[from]));
  let second = 0x8b51f9dd;
  return Array.from({ length: count }, (_, i) => {
    let v = pool[i % 4] ^ second;
    second = Math.imul(second, 0x58f38ded);
    v = Math.imul(v, second);
    return (v ^ (v >>> 16)) >>> 0;
  });
}

const FACTOR = [0xf645, 0x9fcc, 0xdf64, 0x4385, 0x5da4, 0x1fc6, 0xed05, 0x2360]; // PCG's multiplier, 16 bits each

/**
 * numpy.random.default_rng(SeedSequence(key, spawn_key=path)): what `linnet._randomness.generator(key, *path)` is.
 * @param {number | number[]} key @param {number[]} path
 */
export function generator(key, ...path) {
  const w = seedWords(Array.isArray(key) ? key : [key], path, 8);
  /** From two pairs of words, high then low. @param {number} at */
  const limbs = (at) => [w[at + 2], w[at + 3], w[at], w[at + 1]].flatMap((x) => [x & 0xffff, x >>> 16]);
  const state = new Array(8).fill(0), add = limbs(4);
  for (let i = 7; i >= 0; i--) add[i] = ((add[i] << 1) & 0xffff) | (i ? add[i - 1] >>> 15 : 1);
  const step = () => {
    const [a, b, c, d, e, f, g, h] = state;
    const [p, q, r, s, t, u, v, z] = FACTOR;
    let x = a * p + add[0];
    state[0] = x & 0xffff; x = Math.floor(x / 65536) + a * q + b * p + add[1];
    state[1] = x % 65536; x = Math.floor(x / 65536) + a * r + b * q + c * p + add[2];
    state[2] = x % 65536; x = Math.floor(x / 65536) + a * s + b * r + c * q + d * p + add[3];
    state[3] = x % 65536; x = Math.floor(x / 65536) + a * t + b * s + c * r + d * q + e * p + add[4];
    state[4] = x % 65536; x = Math.floor(x / 65536) + a * u + b * t + c * s + d * r + e * q + f * p + add[5];
    state[5] = x % 65536; x = Math.floor(x / 65536) + a * v + b * u + c * t + d * s + e * r + f * q + g * p + add[6];
    state[6] = x % 65536; x = Math.floor(x / 65536) + a * z + b * v + c * u + d * t + e * s + f * r + g * q + h * p + add[7];
    state[7] = x % 65536;
  };
  step();
  const first = limbs(0);
  for (let i = 0, carry = 0; i < 8; i++) {
    const x = state[i] + first[i] + carry;
    state[i] = x & 0xffff;
    carry = x >>> 16;
  }
  step();
  let high = 0, low = 0;
  /** The next 64 bits, into `high` and `low`. */
  const bits = () => {
    step();
    const a = ((state[5] << 16) | state[4]) ^ ((state[1] << 16) | state[0]);
    const b = ((state[7] << 16) | state[6]) ^ ((state[3] << 16) | state[2]);
    const turn = state[7] >>> 10, [x, y] = turn & 32 ? [a, b] : [b, a], by = turn & 31; // high x, low y, to the right
    high = by ? (x >>> by) | (y << (32 - by)) : x;
    low = by ? (y >>> by) | (x << (32 - by)) : y;
    high >>>= 0;
    low >>>= 0;
  };
  const double = () => {
    bits();
    return (high * 2097152 + (low >>> 11)) / 9007199254740992;
  };
  const normal = () => {
    const { wide, limit, high: height } = OF_NORMAL;
    for (;;) {
      bits();
      const strip = low & 0xff, sign = (low >>> 8) & 1, size = (low >>> 9) + (high & 0x1fffffff) * 8388608, beyond = (low >>> 17) & 1;
      const x = (sign ? -size : size) * wide[strip];
      if (size < limit[strip]) return x;
      if (strip === 0) {
        for (;;) {
          const far = -Math.log1p(-double()) / NORMAL, up = -Math.log1p(-double());
          if (up + up > far * far) return beyond ? -(NORMAL + far) : NORMAL + far;
        }
      }
      if ((height[strip - 1] - height[strip]) * double() + height[strip] < Math.exp(-0.5 * x * x)) return x;
    }
  };
  const exponential = () => {
    const { wide, limit, high: height } = OF_EXP;
    for (;;) {
      bits();
      const strip = (low >>> 3) & 0xff, size = high * 2097152 + (low >>> 11), x = size * wide[strip];
      if (size < limit[strip]) return x;
      if (strip === 0) return EXP - Math.log1p(-double());
      if ((height[strip - 1] - height[strip]) * double() + height[strip] < Math.exp(-x)) return x;
    }
  };
  /** @param {number} shape @returns {number} */
  const gamma = (shape) => {
    if (shape === 1) return exponential();
    if (shape < 1) {
      for (;;) {
        const u = double(), v = exponential();
        if (u <= 1 - shape) {
          const x = u ** (1 / shape);
          if (x <= v) return x;
        } else {
          const y = -Math.log((1 - u) / shape), x = (1 - shape + shape * y) ** (1 / shape);
          if (x <= v + y) return x;
        }
      }
    }
    const b = shape - 1 / 3, c = 1 / Math.sqrt(9 * b);
    for (;;) {
      let x = normal();
      while (1 + c * x <= 0) x = normal();
      const v = (1 + c * x) ** 3, u = double();
      if (u < 1 - 0.0331 * (x * x) * (x * x) || Math.log(u) < 0.5 * x * x + b * (1 - v + Math.log(v))) return b * v;
    }
  };
  /** Signs as `Generator.choice([-1, 1])` draws them: the first bit of each half of 64 bits, low half first. @param {number} count */
  const signs = (count) => {
    const out = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      if (i % 2 === 0) bits();
      out[i] = (i % 2 === 0 ? low : high) >>> 31 ? 1 : -1;
    }
    return out;
  };
  return {
    double,
    signs,
    normal,
    exponential,
    /** @param {number} degrees */
    chisquare: (degrees) => 2 * gamma(degrees / 2),
    /** @param {number} count */
    normals: (count) => Float64Array.from({ length: count }, normal),
  };
}
