// The first page: modes that are learned by formula as one looks, a lecture, and the pages.
import { h } from "./dom.js";
import { draw, ordered } from "./figure.js";
import { modeValue, timeOfShare } from "../numbers/modes.js";
import { STEPS } from "../pages/lecture.js";

const VALUES = [8, 4, 2, 1], POINTS = 161, SECONDS = 4, REST = 1.6;
/** @type {[number, string][]} */
const RUNS = [
  [1e-4, "a small initialization: one mode after the other"],
  [0.1, "a larger one: the plateaus shorten"],
  [3, "between lazy and active: weak modes below the threshold, strong ones above it"],
  [100, "a large one: all modes at once, lazily"],
];

/** @param {import("../pages/kinds.js").Page[]} pages */
export function home(pages) {
  const picture = h("div", { class: "picture", "aria-label": "Singular values of a network over time, from four initializations, by formula", role: "group" }), words = h("span", { class: "soft" });
  let on = !matchMedia("(prefers-reduced-motion: reduce)").matches, which = 0, passed = on ? 0 : SECONDS, last = 0, ended = false;
  const show = () => {
    const [g, text] = RUNS[which], end = timeOfShare(VALUES[3], g, 0.99), until = Math.min(1, passed / SECONDS), letters = parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.85;
    const shown = Math.max(2, Math.ceil(until * POINTS)), time = Array.from({ length: shown }, (_, i) => (end * until * i) / (shown - 1)), colors = ordered(4);
    words.textContent = text;
    draw(picture, [{
      x: { label: "time t", range: [0, end] }, y: { label: "singular value", range: [0, 9] },
      curves: VALUES.map((S, i) => ({ x: time, y: time.map((t) => modeValue(S, g, t)), color: colors[i], width: 3.5 })),
      rules: [...VALUES.map((y) => ({ y })), ...(g < 9 ? [{ y: g, name: "threshold", dash: "7 5" }] : [])],
    }], { height: innerWidth < 620 ? 260 : 340, letters, about: `Singular values over time from ${text}` });
  };
  const button = h("button", { type: "button", class: "small", text: on ? "Pause" : "Play", onclick: () => { on = !on; button.textContent = on ? "Pause" : "Play"; last = 0; if (on) requestAnimationFrame(frame); } });
  const frame = (/** @type {number} */ now) => {
    if (ended || !on) return;
    if (picture.isConnected) {
      passed += last ? Math.min(0.1, (now - last) / 1000) : 0;
      last = now;
      if (passed > SECONDS + REST) [which, passed] = [(which + 1) % RUNS.length, 0];
      show();
    }
    requestAnimationFrame(frame);
  };
  const node = h("section", { class: "page home" },
    h("div", { class: "opening" },
      h("div", {}, h("h1", { text: "linnet, live" }), h("p", { class: "what", text: "See how linear networks learn. Whenever a slider moves, a network of any width is trained anew in this page, beside the formula that predicts it. Nothing is installed and nothing is sent: it works on a phone, and the address of a page holds what was set on it." }),
        h("p", {}, h("a", { class: "button first", href: "#/train", text: "Train a network" }), " ", h("a", { class: "button", href: "#/lecture?step=1", text: "Start the lecture" }))),
      h("figure", { class: "moving view" }, picture, h("figcaption", {}, words, button))),
    h("h2", { text: "The pages" }),
    h("div", { class: "cards" }, pages.map((page) => h("a", { class: "card", href: `#/${page.name}` }, h("b", { text: page.title }), h("span", { text: page.card })))),
    h("h2", { id: "lecture", text: "A lecture in five steps" }),
    h("ol", { class: "steps" }, STEPS.map((step, i) => h("li", {}, h("a", { href: `#/lecture?step=${i + 1}`, text: step.title }), h("p", { text: step.says })))));
  requestAnimationFrame(() => {
    show();
    if (on) requestAnimationFrame(frame);
  });
  const resized = () => !on && show();
  addEventListener("resize", resized);
  return { node, stop: () => { ended = true; removeEventListener("resize", resized); } };
}
