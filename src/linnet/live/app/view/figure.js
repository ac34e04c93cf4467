// Pictures: curves and marks as SVG over axes, maps on a canvas below them.
import { h, s, said } from "./dom.js";

/**
 * @typedef {{ label: string, log?: boolean, range?: [number, number], ticks?: number[], zero?: boolean }} Axis
 * @typedef {{ x: ArrayLike<number>, y: ArrayLike<number>, color: string, name?: string, width?: number, dash?: string, opacity?: number, group?: string, quiet?: boolean }} Curve
 * @typedef {{ x: number, y: number, color: string, name?: string, symbol?: string, size?: number, text?: string, low?: number, high?: number }} Mark
 * @typedef {{ x?: number, y?: number, name?: string, dash?: string }} Rule a straight line across the picture
 * @typedef {{ x: number[], y: number[], z: ArrayLike<number>, low: number, high: number, log?: boolean, signed?: boolean, label: string, hatched?: boolean[], told: (i: number, j: number) => string }} Heat rows of z go with y; x and y are centers
 * @typedef {{ x: number, y: number, text: string, dark?: boolean }} Note
 * @typedef {{ x: Axis, y: Axis, curves: Curve[], marks?: Mark[], rules?: Rule[], heat?: Heat, notes?: Note[], square?: boolean, comparable?: boolean }} Figure
 * @typedef {{ height: number, letters: number, pick?: (x: number, y: number) => void, about: string }} Look
 */

export const DASH = "7 5";
export const DOTS = "2 4";
const NARROW = 560; // pixels below which two panels lie below each other
const VIRIDIS = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37]];
const DIVERGING = [[33, 102, 172], [103, 169, 207], [209, 229, 240], [247, 247, 247], [253, 219, 199], [239, 138, 98], [178, 24, 43]];

/** Red, green and blue at a share from 0 to 1. @param {number} share @param {boolean} [signed] */
export function colorAt(share, signed = false) {
  const scale = signed ? DIVERGING : VIRIDIS, at = Math.max(0, Math.min(1, share)) * (scale.length - 1), i = Math.min(Math.floor(at), scale.length - 2);
  return scale[i].map((c, k) => Math.round(c + (at - i) * (scale[i + 1][k] - c)));
}

/** Colors for curves that have an order. @param {number} count */
export const ordered = (count) => Array.from({ length: count }, (_, i) => `var(--order${count === 1 ? 0 : Math.round((7 * i) / (count - 1))})`);

/** What was trained: broad and solid. @param {ArrayLike<number>} x @param {ArrayLike<number>} y @param {string} color @param {string} [name] @returns {Curve} */
export const trained = (x, y, color, name) => ({ x, y, color, name, width: 5.5, opacity: 0.55 });
/** What was predicted: dashed. @param {ArrayLike<number>} x @param {ArrayLike<number>} y @param {string} color @param {string} [name] @returns {Curve} */
export const predicted = (x, y, color, name) => ({ x, y, color, name, width: 2.2, dash: DASH });

/** Round numbers on an axis. @param {[number, number]} range @param {boolean} log @param {number} most */
function ticksOf([low, high], log, most) {
  if (log) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    if (last - first >= 2) {
      const every = Math.max(1, Math.ceil((last - first) / most));
      return Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, i) => 10 ** (first + i * every));
    }
    const fine = [];
    for (let p = Math.floor(Math.log10(low)); p <= last + 1; p++) for (const m of [1, 2, 5]) if (m * 10 ** p >= low * 0.999 && m * 10 ** p <= high * 1.001) fine.push(Number(`${m}e${p}`));
    if (fine.length >= 2) return fine;
  }
  const raw = (high - low) / most, unit = 10 ** Math.floor(Math.log10(raw || 1)), step = unit * ([1, 2, 2.5, 5, 10].find((m) => m * unit >= raw * 0.999) ?? 10);
  const from = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - from + 1) }, (_, i) => Number(((from + i) * step).toPrecision(12)));
}

/** Least and most of what is drawn along an axis. @param {Figure} figure @param {"x" | "y"} along @returns {[number, number]} */
export function extent(figure, along) {
  const axis = figure[along];
  if (axis.range) return axis.range;
  let low = Infinity, high = -Infinity;
  const see = (/** @type {number} */ v) => {
    if (Number.isFinite(v) && (!axis.log || v > 0)) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
  };
  for (const curve of figure.curves) if (!curve.quiet || along === "x") for (let i = 0; i < curve[along].length; i++) see(curve[along][i]);
  for (const mark of figure.marks ?? []) see(mark[along]);
  if (axis.zero) see(0);
  if (!(low <= high)) return axis.log ? [1, 10] : [0, 1];
  if (low === high) return axis.log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  if (along === "x") return [low, high];
  return axis.log ? [low / 1.3, high * 1.3] : [low < 0 || low > 0.3 * high ? low - 0.05 * (high - low) : 0, high + 0.05 * (high - low)];
}

/** Draws a figure, or two side by side that share the upright axis, into a node. @param {HTMLElement} host @param {Figure[]} figures @param {Look} look @param {string[]} [titles] */
export function draw(host, figures, look, titles = []) {
  const whole = Math.max(200, host.clientWidth || 600), stacked = figures.length > 1 && whole < NARROW, many = stacked ? 1 : figures.length;
  const width = whole, height = stacked ? Math.round(0.8 * look.height) : look.height;
  host.replaceChildren();
  host.style.height = `${stacked ? height * figures.length : height}px`;
  const shared = figures.length > 1 ? figures.map((f) => extent(f, "y")).reduce((a, b) => /** @type {[number, number]} */ ([Math.min(a[0], b[0]), Math.max(a[1], b[1])])) : null;
  const high = Math.max(...figures.map((f) => legendRows(legendOf(f), width / many - 12, look.letters * 0.56, look.letters).length));
  figures.forEach((figure, i) => {
    const box = h("div", { class: "panel", style: `left:${stacked ? 0 : (i * width) / many}px;top:${stacked ? i * height : 0}px;width:${width / many}px;height:${height}px` });
    host.append(box);
    const one = shared ? { ...figure, y: { ...figure.y, range: shared } } : figure;
    panel(box, one, { ...look, height, about: titles[i] ? `${titles[i]}: ${look.about}` : look.about }, width / many, titles[i], high);
  });
}

/** @param {HTMLElement} box @param {Figure} figure @param {Look} look @param {number} width @param {string | undefined} title @param {number} legends rows of the highest legend */
function panel(box, figure, look, width, title, legends) {
  const { letters, height } = look, wide = letters * 0.56, small = letters * 0.85, { heat } = figure;
  const entries = legendOf(figure), rows = legendRows(entries, width - 12, wide, letters);
  const top = (title ? letters * 1.5 : 0) + legends * letters * 1.45 + 8;
  const yRange = extent(figure, "y"), xRange = extent(figure, "x");
  const yTicks = figure.y.ticks ?? ticksOf(yRange, !!figure.y.log, Math.max(2, Math.round(height / (letters * 5)))), yTexts = yTicks.map((t) => said(t));
  const left = letters * 1.9 + Math.max(2, ...yTexts.map((t) => t.length)) * wide, right = heat ? letters * 4.6 : letters * 1.1, bottom = letters * 3.4;
  const place = { left, top, width: Math.max(40, width - left - right), height: Math.max(40, height - top - bottom) };
  const xTicks = figure.x.ticks ?? ticksOf(xRange, !!figure.x.log, Math.max(2, Math.round(place.width / (letters * 6))));
  if (figure.square) {
    const side = Math.min(place.width, place.height);
    place.left += (place.width - side) / 2;
    place.width = place.height = side;
  }
  const along = (/** @type {number} */ v, /** @type {[number, number]} */ [low, high], /** @type {boolean | undefined} */ log) => (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
  const px = (/** @type {number} */ v) => place.left + place.width * along(v, xRange, figure.x.log);
  const py = (/** @type {number} */ v) => place.top + place.height * (1 - along(v, yRange, figure.y.log));
  const root = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": look.about, "font-size": letters });
  const words = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ text, /** @type {any} */ more = {}) => s("text", { x, y, fill: "var(--ink)", ...more, text });
  if (heat) box.append(canvasOf(heat, place));
  for (const [i, t] of xTicks.entries()) {
    if (t < xRange[0] * (xRange[0] > 0 ? 0.999 : 1.001) - 1e-12 || t > xRange[1] + Math.abs(xRange[1]) * 1e-3) continue;
    const x = px(t);
    if (!heat) root.append(s("path", { d: `M${x} ${place.top}V${place.top + place.height}`, stroke: "var(--grid)" }));
    root.append(words(x, place.top + place.height + letters * 1.2, said(t), { "text-anchor": "middle", "font-size": small, "data-tick": i }));
  }
  for (const [i, t] of yTicks.entries()) {
    const y = py(t);
    if (!(y >= place.top - 1 && y <= place.top + place.height + 1)) continue;
    if (!heat) root.append(s("path", { d: `M${place.left} ${y}H${place.left + place.width}`, stroke: "var(--grid)" }));
    root.append(words(place.left - 6, y + small * 0.36, yTexts[i], { "text-anchor": "end", "font-size": small }));
  }
  root.append(words(place.left + place.width / 2, height - letters * 0.7, fitting(figure.x.label, place.width + place.left, wide), { "text-anchor": "middle" }));
  const up = place.top + place.height / 2;
  root.append(words(letters, up, fitting(figure.y.label, place.height + top, wide), { "text-anchor": "middle", transform: `rotate(-90 ${letters} ${up})` }));
  if (title) root.append(words(place.left, letters * 1.1, title, { "font-weight": 700 }));
  drawLegend(root, rows, letters, title ? letters * 1.5 : 0);
  const cut = `cut${++count}`;
  root.append(s("defs", {}, s("clipPath", { id: cut }, s("rect", { x: place.left - 1, y: place.top - 1, width: place.width + 2, height: place.height + 2 }))));
  const inside = s("g", { "clip-path": `url(#${cut})` });
  root.append(inside);
  for (const rule of figure.rules ?? []) {
    const d = rule.x === undefined ? `M${place.left} ${py(rule.y ?? 0)}H${place.left + place.width}` : `M${px(rule.x)} ${place.top}V${place.top + place.height}`;
    inside.append(s("path", { d, stroke: "var(--guide)", "stroke-width": 1.5, "stroke-dasharray": rule.dash ?? DOTS, fill: "none" }));
    if (rule.x !== undefined && rule.name && px(rule.x) > place.left && px(rule.x) < place.left + place.width) inside.append(words(px(rule.x) + 4, place.top + small, rule.name, { "font-size": small }));
    if (rule.y !== undefined && rule.name) inside.append(words(place.left + place.width - 4, py(rule.y) - 4, rule.name, { "font-size": small, "text-anchor": "end", fill: "var(--soft)" }));
  }
  for (const curve of figure.curves) {
    inside.append(s("path", { d: pathOf(curve, px, py, figure), fill: "none", style: `stroke:${curve.color}`, "stroke-width": curve.width ?? 2, "stroke-dasharray": curve.dash ?? "none", "stroke-opacity": curve.opacity ?? 1, "stroke-linejoin": "round" }));
  }
  for (const mark of figure.marks ?? []) {
    if (!Number.isFinite(px(mark.x)) || !Number.isFinite(py(mark.y))) continue;
    if (mark.low !== undefined && mark.high !== undefined) inside.append(s("path", { d: `M${px(mark.x)} ${py(mark.low)}V${py(mark.high)}`, style: `stroke:${mark.color}`, "stroke-width": 2 }));
    inside.append(symbol(mark, px(mark.x), py(mark.y)));
    if (mark.text) inside.append(words(px(mark.x) - 8, py(mark.y) - 8, mark.text, { "text-anchor": "end" }));
  }
  for (const note of figure.notes ?? []) {
    inside.append(words(px(note.x), py(note.y), note.text, { "text-anchor": "middle", "font-weight": 700, fill: note.dark ? "#111" : "#fff", stroke: note.dark ? "#fff" : "#111", "stroke-width": 2.5, "paint-order": "stroke", "stroke-linejoin": "round" }));
  }
  if (heat) drawScale(root, heat, place, letters, width);
  box.append(root);
  listen(box, root, figure, look, { place, px, py, xRange, yRange });
}

let count = 0;

/** What fits into so many pixels. @param {string} text @param {number} room @param {number} wide */
const fitting = (text, room, wide) => (text.length * wide <= room ? text : text.length * wide * 0.9 <= room ? text : `${text.slice(0, Math.max(4, Math.floor(room / wide) - 1))}…`);

/** @param {Curve} curve @param {(v: number) => number} px @param {(v: number) => number} py @param {Figure} figure */
function pathOf(curve, px, py, figure) {
  let d = "", open = false;
  for (let i = 0; i < curve.x.length; i++) {
    const x = px(curve.x[i]), y = figure.y.log && !(curve.y[i] > 0) ? NaN : py(curve.y[i]);
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      open = false;
      continue;
    }
    d += `${open ? "L" : "M"}${x.toFixed(1)} ${Math.max(-4000, Math.min(8000, y)).toFixed(1)}`;
    open = true;
  }
  return d;
}

/** @param {Mark} mark @param {number} x @param {number} y */
function symbol(mark, x, y) {
  const r = mark.size ?? 5, style = `fill:${mark.color}`;
  if (mark.symbol === "box") return s("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, style: `fill:none;stroke:${mark.color}`, "stroke-width": 3 });
  if (mark.symbol === "diamond") return s("path", { d: `M${x - r} ${y}L${x} ${y - r}L${x + r} ${y}L${x} ${y + r}Z`, style });
  if (mark.symbol === "up") return s("path", { d: `M${x - r} ${y + r}L${x} ${y - r}L${x + r} ${y + r}Z`, style });
  if (mark.symbol === "star") {
    const points = Array.from({ length: 10 }, (_, i) => [x + Math.sin((i * Math.PI) / 5) * (i % 2 ? r * 0.45 : r), y - Math.cos((i * Math.PI) / 5) * (i % 2 ? r * 0.45 : r)]);
    return s("path", { d: `M${points.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L")}Z`, style: `${style};stroke:#111`, "stroke-width": 0.8 });
  }
  return s("circle", { cx: x, cy: y, r, style });
}

/** @param {Figure} figure */
function legendOf(figure) {
  const seen = new Set(), all = [...figure.curves, ...(figure.marks ?? [])].filter((e) => e.name && !seen.has(e.name) && seen.add(e.name));
  return /** @type {(Curve | Mark)[]} */ (all);
}

/** @param {(Curve | Mark)[]} entries @param {number} room @param {number} wide @param {number} letters */
function legendRows(entries, room, wide, letters) {
  /** @type {{ entry: Curve | Mark, x: number }[][]} */
  const rows = [];
  let x = room + 1;
  for (const entry of entries) {
    const size = letters * 3.2 + (entry.name ?? "").length * wide;
    if (x + size > room) {
      rows.push([]);
      x = 6;
    }
    rows[rows.length - 1].push({ entry, x });
    x += size;
  }
  return rows;
}

/** @param {SVGElement} root @param {{ entry: Curve | Mark, x: number }[][]} rows @param {number} letters @param {number} top */
function drawLegend(root, rows, letters, top) {
  rows.forEach((row, i) => {
    for (const { entry, x } of row) {
      const y = top + letters * (0.9 + 1.45 * i), end = x + letters * 2;
      if ("symbol" in entry || typeof entry.x === "number") root.append(symbol(/** @type {Mark} */ ({ ...entry, size: 5 }), x + letters, y));
      else {
        const { color, width, dash, opacity } = /** @type {Curve} */ (entry);
        root.append(s("path", { d: `M${x} ${y}H${end}`, style: `stroke:${color}`, "stroke-width": width ?? 2, "stroke-dasharray": dash ?? "none", "stroke-opacity": opacity ?? 1, fill: "none" }));
      }
      root.append(s("text", { x: end + letters * 0.4, y: y + letters * 0.34, fill: "var(--ink)", text: entry.name }));
    }
  });
}

/** @param {Heat} heat @param {number} value */
const shareOf = (heat, value) => (heat.log ? Math.log(value / heat.low) / Math.log(heat.high / heat.low) : (value - heat.low) / (heat.high - heat.low));

/** @param {Heat} heat @param {{ left: number, top: number, width: number, height: number }} place */
function canvasOf(heat, place) {
  const ratio = Math.min(3, devicePixelRatio || 1), wide = Math.round(place.width * ratio), high = Math.round(place.height * ratio);
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { width: wide, height: high, "aria-hidden": "true", style: `left:${place.left}px;top:${place.top}px;width:${place.width}px;height:${place.height}px` }));
  const c = canvas.getContext("2d"), nx = heat.x.length, ny = heat.y.length;
  if (!c) return canvas;
  for (let i = 0; i < ny; i++) {
    for (let j = 0; j < nx; j++) {
      const value = heat.z[i * nx + j], x = Math.round((j * wide) / nx), y = Math.round(((ny - 1 - i) * high) / ny), w = Math.round(((j + 1) * wide) / nx) - x, t = Math.round(((ny - i) * high) / ny) - y;
      c.fillStyle = Number.isFinite(value) ? `rgb(${colorAt(shareOf(heat, value), heat.signed).join()})` : "#8884";
      c.fillRect(x, y, w, t);
    }
  }
  if (heat.hatched?.some(Boolean)) {
    c.strokeStyle = "#0009";
    c.lineWidth = ratio;
    c.beginPath();
    heat.hatched.forEach((on, at) => {
      if (!on) return;
      const i = Math.floor(at / nx), j = at % nx, x = (j * wide) / nx, y = ((ny - 1 - i) * high) / ny;
      c.moveTo(x, y + high / ny);
      c.lineTo(x + wide / nx, y);
    });
    c.stroke();
    c.strokeStyle = "#fff9";
    c.beginPath();
    heat.hatched.forEach((on, at) => {
      if (!on) return;
      const i = Math.floor(at / nx), j = at % nx, x = (j * wide) / nx, y = ((ny - 1 - i) * high) / ny;
      c.moveTo(x + ratio, y + high / ny + ratio);
      c.lineTo(x + wide / nx + ratio, y + ratio);
    });
    c.stroke();
  }
  return canvas;
}

/** The bar beside a map. @param {SVGElement} root @param {Heat} heat @param {any} place @param {number} letters @param {number} width */
function drawScale(root, heat, place, letters, width) {
  const id = `scale${++count}`, x = Math.min(place.left + place.width + letters * 0.6, width - letters * 4), stops = Array.from({ length: 11 }, (_, i) => s("stop", { offset: i / 10, "stop-color": `rgb(${colorAt(i / 10, heat.signed).join()})` }));
  root.append(s("defs", {}, s("linearGradient", { id, x1: 0, x2: 0, y1: 1, y2: 0 }, stops)));
  root.append(s("rect", { x, y: place.top, width: letters * 0.8, height: place.height, fill: `url(#${id})` }));
  for (const t of ticksOf([heat.low, heat.high], !!heat.log, 5)) {
    const y = place.top + place.height * (1 - shareOf(heat, t));
    root.append(s("text", { x: x + letters, y: y + letters * 0.3, fill: "var(--ink)", "font-size": letters * 0.8, text: said(t) }));
  }
}

/**
 * Numbers under the pointer or the finger, and choosing a cell of a map.
 * @param {HTMLElement} box @param {SVGElement} root @param {Figure} figure @param {Look} look
 * @param {{ place: any, px: (v: number) => number, py: (v: number) => number, xRange: [number, number], yRange: [number, number] }} axes
 */
function listen(box, root, figure, look, { place, px, py, xRange, yRange }) {
  const tip = h("div", { class: "tip", hidden: true }), dot = s("circle", { r: 4.5, fill: "var(--ink)", stroke: "var(--paper)", visibility: "hidden" });
  box.append(tip);
  root.append(dot);
  const at = (/** @type {PointerEvent | MouseEvent} */ event) => {
    const edge = root.getBoundingClientRect();
    return [event.clientX - edge.left, event.clientY - edge.top];
  };
  const value = (/** @type {number} */ share, /** @type {[number, number]} */ [low, high], /** @type {boolean | undefined} */ log) => (log ? low * (high / low) ** share : low + share * (high - low));
  const spot = (/** @type {number[]} */ [x, y]) => [value((x - place.left) / place.width, xRange, figure.x.log), value(1 - (y - place.top) / place.height, yRange, figure.y.log)];
  const within = (/** @type {number[]} */ [x, y]) => x >= place.left && x <= place.left + place.width && y >= place.top && y <= place.top + place.height;
  const hide = () => {
    tip.hidden = true;
    dot.setAttribute("visibility", "hidden");
  };
  const show = (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) => {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(x + 12, box.clientWidth - tip.offsetWidth - 2))}px`;
    tip.style.top = `${y + 14 + tip.offsetHeight > look.height ? y - tip.offsetHeight - 8 : y + 14}px`;
  };
  const read = (/** @type {PointerEvent} */ event) => {
    const [x, y] = at(event), { heat } = figure;
    if (!within([x, y])) return hide();
    if (heat) {
      const j = Math.min(heat.x.length - 1, Math.floor(((x - place.left) / place.width) * heat.x.length)), i = heat.y.length - 1 - Math.min(heat.y.length - 1, Math.floor(((y - place.top) / place.height) * heat.y.length));
      return show(heat.told(i, j), x, y);
    }
    let best = 40, found = "", where = [0, 0];
    for (const curve of figure.curves) {
      for (let k = 0; k < curve.x.length; k++) {
        const cx = px(curve.x[k]), cy = py(curve.y[k]), far = Math.hypot(cx - x, (cy - y) * 1.5);
        if (far < best && !curve.quiet) {
          best = far;
          where = [cx, cy];
          found = `${curve.name ?? curve.group ?? ""} ${said(curve.y[k], 4)} at ${said(curve.x[k], 4)}`.trim();
        }
      }
    }
    if (!found) return hide();
    dot.setAttribute("cx", String(where[0]));
    dot.setAttribute("cy", String(where[1]));
    dot.setAttribute("visibility", "visible");
    show(found, where[0], where[1]);
  };
  root.addEventListener("pointermove", read);
  root.addEventListener("pointerdown", read); // a finger does not hover
  root.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
  const { pick } = look;
  if (!pick) return;
  root.style.cursor = "crosshair";
  root.addEventListener("click", (event) => {
    const where = at(event);
    if (within(where)) pick(...snapped(figure, /** @type {[number, number]} */ (spot(where))));
  });
}

/** The center of the cell of a map that holds a point. @param {Figure} figure @param {[number, number]} point @returns {[number, number]} */
export function snapped({ heat, x, y }, point) {
  if (!heat) return point;
  const near = (/** @type {number[]} */ all, /** @type {number} */ v, /** @type {boolean | undefined} */ log) => all.reduce((best, one) => (Math.abs(log ? Math.log(one / v) : one - v) < Math.abs(log ? Math.log(best / v) : best - v) ? one : best), all[0]);
  return [near(heat.x, point[0], x.log), near(heat.y, point[1], y.log)];
}
