// What a reader of a page can set: named values with bounds, read from an address and written into it.

/** @typedef {"number" | "whole" | "log" | "choice" | "switch" | "numbers"} Kind */
/** @typedef {number | string | boolean | number[]} Value */
/** @typedef {Record<string, any>} State */
/**
 * @typedef {object} Control
 * @property {Kind} kind "log": a slider on a logarithmic axis, whole if `whole` is set
 * @property {string} name in the address
 * @property {string} label
 * @property {Value} initial where the page starts, and what an address without it stands for
 * @property {[number, number]} [bounds]
 * @property {string} help one sentence
 * @property {number} [step] of the slider; of "log" in decades
 * @property {boolean} [whole]
 * @property {Record<string, string>} [choices] words by value
 * @property {number} [most] entries of "numbers"
 * @property {string} [group] heading under which it stands
 * @property {[string, ...string[]]} [when] another control, and the values with which this one matters
 * @property {boolean} [plays]
 * @property {boolean} [hidden] set by a touch on a picture
 * @property {[[string, number], [string, number]]} [ends] buttons at the ends of the slider: a word and a value
 */

const MOST_CHARACTERS = 400;

/** The same controls, each under the heading that stands before it. @param {(string | Control)[]} all @returns {Control[]} */
export function grouped(...all) {
  let group = "";
  return all.flatMap((one) => {
    if (typeof one === "string") group = one;
    return typeof one === "string" ? [] : [{ ...one, group }];
  });
}

/** @param {Control} control */
export const isWhole = (control) => control.kind === "whole" || !!control.whole;
/** @param {Control} control */
export const hasSlider = (control) => ["number", "whole", "log"].includes(control.kind) && !control.hidden;
/** @param {Control[]} controls @returns {State} */
export const initials = (controls) => Object.fromEntries(controls.map((c) => [c.name, c.initial]));
/** Whether a control matters in a state. @param {Control} control @param {State} state */
export const matters = ({ when }, state) => !when || when.slice(1).includes(String(state[when[0]]));
/** Where the slider stands. @param {Control} control @param {number} value */
export const position = (control, value) => (control.kind === "log" ? Math.log10(value) : value);

/** Position of both ends of a slider, and its step. @param {Control} control */
export function range(control) {
  const [low, high] = (control.bounds ?? [0, 1]).map((v) => position(control, v));
  return { low, high, step: control.step ?? (control.kind === "log" ? 0.05 : control.kind === "whole" ? 1 : (high - low) / 100) };
}

/** The value at a position of the slider, of three digits. @param {Control} control @param {number} at */
export function valueAt(control, at) {
  const [low, high] = control.bounds ?? [0, 1], raw = control.kind === "log" ? 10 ** at : at;
  const short = isWhole(control) && raw < 1000 ? Math.round(raw) : Number(raw.toPrecision(3));
  return Math.min(high, Math.max(low, isWhole(control) ? Math.round(short) : short));
}

/** The text that stands for a value in an address and in a box. @param {Value} value */
export const written = (value) => (typeof value === "boolean" ? (value ? "on" : "off") : Array.isArray(value) ? value.join(",") : String(value));

/** The value that a text stands for; throws one sentence. @param {Control} control @param {string} text @returns {Value} */
export function read(control, text) {
  const refuse = (/** @type {string} */ why) => new Error(`${control.label} ${why}.`);
  const short = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  if (text.length > MOST_CHARACTERS) throw refuse(`must have at most ${MOST_CHARACTERS} characters`);
  const one = (/** @type {string} */ part) => {
    const clean = part.trim().replace("−", "-"), value = Number(clean);
    if (clean === "") throw refuse("is empty");
    if (!/^[-+.\deE]+$/.test(clean) || !Number.isFinite(value)) throw refuse(`must be a number: got “${short}”`);
    const [low, high] = control.bounds ?? [-Infinity, Infinity];
    if (value < low || value > high) throw refuse(`must be between ${low} and ${high}: got ${short}`);
    if (isWhole(control) && value !== Math.round(value)) throw refuse(`must be a whole number: got ${short}`);
    return value;
  };
  if (control.kind === "switch") {
    if (!["on", "off"].includes(text)) throw refuse(`must be on or off: got “${short}”`);
    return text === "on";
  }
  if (control.kind === "choice") {
    if (!Object.hasOwn(control.choices ?? {}, text)) throw refuse(`must be one of ${Object.keys(control.choices ?? {}).join(", ")}: got “${short}”`);
    return text;
  }
  if (control.kind !== "numbers") return one(text);
  const parts = text.split(/[,;\s]+/).filter(Boolean);
  if (!parts.length && /** @type {number[]} */ (control.initial).length) throw refuse("is empty");
  if (parts.length > (control.most ?? 32)) throw refuse(`must have at most ${control.most ?? 32} entries: got ${parts.length}`);
  return parts.map(one);
}

/**
 * The state of a query without what is wrong in it, and a sentence for each thing that is.
 * @param {Control[]} controls @param {string} query
 */
export function parse(controls, query) {
  const state = initials(controls), wrong = /** @type {string[]} */ ([]), seen = new Set();
  for (const [name, text] of new URLSearchParams(query)) {
    const control = controls.find((c) => c.name === name);
    try {
      if (!control) throw new Error(`This page has no control “${name.slice(0, 40)}”.`);
      if (seen.has(name)) throw new Error(`${control.label} is set more than once.`);
      seen.add(name);
      state[name] = read(control, text);
    } catch (error) {
      wrong.push(/** @type {Error} */ (error).message);
    }
    if (wrong.length > 20) break;
  }
  return { state, wrong };
}

/** What differs from where the page starts, as a query; `parse` is its inverse. @param {Control[]} controls @param {State} state */
export function query(controls, state) {
  const fields = controls.filter((c) => written(state[c.name]) !== written(c.initial)).map((c) => `${c.name}=${encodeURIComponent(written(state[c.name])).replaceAll("%2C", ",")}`);
  return fields.join("&");
}
