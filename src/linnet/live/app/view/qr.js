// QR codes of addresses: bytes, error correction L, versions 1 to 20 (ISO/IEC 18004).

// By version: codewords in all, error-correcting codewords of a block, blocks.
const SIZES = [26, 44, 70, 100, 134, 172, 196, 242, 292, 346, 404, 466, 532, 581, 655, 733, 815, 901, 991, 1085];
const CHECKS = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28];
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8];

const POWERS = new Uint8Array(256), LOGS = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i++) {
  POWERS[i] = x;
  LOGS[x] = i;
  x = (x << 1) ^ (x & 128 ? 0x11d : 0);
}
const times = (/** @type {number} */ a, /** @type {number} */ b) => (a && b ? POWERS[(LOGS[a] + LOGS[b]) % 255] : 0);

/** Reed and Solomon's check bytes. @param {number[]} data @param {number} count */
function checks(data, count) {
  let divisor = [1];
  for (let i = 0; i < count; i++) {
    const next = [...divisor, 0];
    divisor.forEach((c, k) => (next[k + 1] ^= times(c, POWERS[i])));
    divisor = next;
  }
  const rest = new Array(count).fill(0);
  for (const byte of data) {
    const lead = byte ^ rest.shift();
    rest.push(0);
    for (let k = 0; k < count; k++) rest[k] ^= times(divisor[k + 1], lead);
  }
  return rest;
}

/** The modules of the code, dark where true; null if the text is too long. @param {string} text @returns {boolean[][] | null} */
export function code(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = SIZES.findIndex((all, v) => 4 + (v < 9 ? 8 : 16) + 8 * bytes.length <= 8 * (all - CHECKS[v] * BLOCKS[v])) + 1;
  if (!version) return null;
  const room = SIZES[version - 1] - CHECKS[version - 1] * BLOCKS[version - 1], bits = /** @type {number[]} */ ([]);
  const put = (/** @type {number} */ value, /** @type {number} */ size) => {
    for (let i = size - 1; i >= 0; i--) bits.push((value >>> i) & 1);
  };
  put(4, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, 8 * room - bits.length));
  while (bits.length % 8) bits.push(0);
  for (let pad = 0xec; bits.length < 8 * room; pad ^= 0xec ^ 0x11) put(pad, 8);
  const words = Array.from({ length: room }, (_, i) => bits.slice(8 * i, 8 * i + 8).reduce((a, b) => 2 * a + b, 0));
  const blocks = BLOCKS[version - 1], short = Math.floor(room / blocks), longer = room % blocks, parts = /** @type {number[][]} */ ([]);
  for (let b = 0, from = 0; b < blocks; b++) {
    const size = short + (b >= blocks - longer ? 1 : 0);
    parts.push(words.slice(from, from + size));
    from += size;
  }
  const tails = parts.map((part) => checks(part, CHECKS[version - 1])), stream = /** @type {number[]} */ ([]);
  for (let i = 0; i <= short; i++) for (const part of parts) if (i < part.length) stream.push(part[i]);
  for (let i = 0; i < CHECKS[version - 1]; i++) for (const tail of tails) stream.push(tail[i]);
  return placed(version, stream);
}

/** @param {number} version @param {number[]} stream */
function placed(version, stream) {
  const size = 17 + 4 * version, dark = Array.from({ length: size }, () => new Array(size).fill(false)), fixed = Array.from({ length: size }, () => new Array(size).fill(false));
  const set = (/** @type {number} */ x, /** @type {number} */ y, /** @type {boolean} */ on) => {
    if (x < 0 || y < 0 || x >= size || y >= size) return;
    dark[y][x] = on;
    fixed[y][x] = true;
  };
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]]) {
    for (let dy = -4; dy <= 4; dy++) for (let dx = -4; dx <= 4; dx++) set(cx + dx, cy + dy, ![2, 4].includes(Math.max(Math.abs(dx), Math.abs(dy))));
  }
  const centers = /** @type {number[]} */ ([]);
  if (version > 1) {
    const number = Math.floor(version / 7) + 2, step = Math.ceil((4 * version + 4) / (2 * number - 2)) * 2;
    centers.push(6);
    for (let at = size - 7, rest = []; rest.length < number - 1; at -= step) {
      rest.unshift(at);
      if (rest.length === number - 1) centers.push(...rest);
    }
  }
  const last = centers.length - 1;
  centers.forEach((cy, i) => centers.forEach((cx, j) => {
    if ((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)) return;
    for (let dy = -2; dy <= 2; dy++) for (let dx = -2; dx <= 2; dx++) set(cx + dx, cy + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
  }));
  /** What says which mask there is; correction level L is 01. @param {number} mask */
  const format = (mask) => {
    const data = (1 << 3) | mask;
    let rest = data;
    for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
    const word = ((data << 10) | rest) ^ 0x5412, bit = (/** @type {number} */ i) => ((word >>> i) & 1) === 1;
    for (let i = 0; i <= 5; i++) set(8, i, bit(i));
    set(8, 7, bit(6));
    set(8, 8, bit(7));
    set(7, 8, bit(8));
    for (let i = 9; i < 15; i++) set(14 - i, 8, bit(i));
    for (let i = 0; i < 8; i++) set(size - 1 - i, 8, bit(i));
    for (let i = 8; i < 15; i++) set(8, size - 15 + i, bit(i));
    set(8, size - 8, true);
  };
  format(0);
  if (version >= 7) {
    let rest = version;
    for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    const word = (version << 12) | rest;
    for (let i = 0; i < 18; i++) {
      const a = size - 11 + (i % 3), b = Math.floor(i / 3), on = ((word >>> i) & 1) === 1;
      set(a, b, on);
      set(b, a, on);
    }
  }
  let at = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let up = 0; up < size; up++) {
      for (let j = 0; j < 2; j++) {
        const x = right - j, y = ((right + 1) & 2) === 0 ? size - 1 - up : up;
        if (!fixed[y][x] && at < stream.length * 8) {
          dark[y][x] = ((stream[at >>> 3] >>> (7 - (at & 7))) & 1) === 1;
          at++;
        }
      }
    }
  }
  const masks = [(/** @type {number} */ x, /** @type {number} */ y) => (x + y) % 2, (/** @type {number} */ _x, /** @type {number} */ y) => y % 2, (/** @type {number} */ x) => x % 3, (/** @type {number} */ x, /** @type {number} */ y) => (x + y) % 3, (/** @type {number} */ x, /** @type {number} */ y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2];
  const turn = (/** @type {number} */ mask) => dark.forEach((row, y) => row.forEach((_, x) => {
    if (!fixed[y][x] && masks[mask](x, y) === 0) row[x] = !row[x];
  }));
  let best = 0, least = Infinity;
  masks.forEach((_, mask) => {
    turn(mask);
    format(mask);
    const bad = penalty(dark);
    if (bad < least) [best, least] = [mask, bad];
    turn(mask);
  });
  turn(best);
  format(best);
  return dark;
}

/** How hard a code is to read: long runs, squares of one color, and more of one color than of the other. @param {boolean[][]} dark */
function penalty(dark) {
  const size = dark.length;
  let bad = 0, count = 0;
  for (let turned = 0; turned < 2; turned++) {
    for (let y = 0; y < size; y++) {
      for (let x = 0, run = 0, before = null; x < size; x++) {
        const on = turned ? dark[x][y] : dark[y][x];
        run = on === before ? run + 1 : 1;
        before = on;
        if (run === 5) bad += 3;
        else if (run > 5) bad++;
      }
    }
  }
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (dark[y][x]) count++;
      if (x && y && dark[y][x] === dark[y][x - 1] && dark[y][x] === dark[y - 1][x] && dark[y][x] === dark[y - 1][x - 1]) bad += 3;
    }
  }
  return bad + 10 * Math.floor(Math.abs((20 * count) / (size * size) - 10));
}
