// Elements, made in one call.

/**
 * @typedef {Record<string, any>} Attributes names that begin with "on" are listeners; "text" is the text
 * @typedef {Node | string | number | null | undefined | false} Child
 */

/** @param {Element} node @param {Attributes} attributes @param {(Child | Child[])[]} children */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== false) node.append(child instanceof Node ? child : String(child));
  return node;
}

/** An element of HTML. @param {string} tag @param {Attributes} [attributes] @param {...(Child | Child[])} children */
export const h = (tag, attributes = {}, ...children) => /** @type {HTMLElement} */ (fill(document.createElement(tag), attributes, children));

/** An element of SVG. @param {string} tag @param {Attributes} [attributes] @param {...(Child | Child[])} children */
export const s = (tag, attributes = {}, ...children) => /** @type {SVGElement} */ (fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children));

/** A number as people write it: few digits, powers of ten above a million and below a thousandth. @param {number} x @param {number} [digits] */
export function said(x, digits = 3) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "unknown" : x > 0 ? "infinity" : "minus infinity";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) {
    const [front, power] = x.toExponential(digits - 1).split("e"), short = String(+front);
    const up = String(+power).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[+d]);
    return short === "1" ? `10${up}` : short === "-1" ? `−10${up}` : `${short.replace("-", "−")}·10${up}`;
  }
  return String(+x.toPrecision(size >= 10 ** digits ? Math.ceil(Math.log10(size + 1)) : digits)).replace("-", "−");
}
