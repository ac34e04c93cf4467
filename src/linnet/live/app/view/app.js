// The application: which page an address names, what stands around every page, and presenting.
import { h } from "./dom.js";
import { home } from "./home.js";
import { code } from "./qr.js";
import { run } from "./page.js";
import { STEPS, pageOf } from "../pages/lecture.js";
import { PAGES } from "../pages/all.js";

const RESERVED = ["step", "frozen", "present", "embed"];
/** Controls of a page that is inside another one. @type {Record<string, string[]>} */
const EMBEDDED = { train: ["scale", "width", "cursor"] };
const root = document.documentElement;

/** @typedef {{ name: string, fields: URLSearchParams, rest: string }} Route */
/** @returns {Route} */
function route() {
  const [, name = "", query = ""] = /^#?\/?([^?]*)\??(.*)$/s.exec(location.hash) ?? [];
  const fields = new URLSearchParams(), rest = [];
  for (const part of query.split("&").filter(Boolean)) {
    const key = part.split("=")[0];
    if (RESERVED.includes(key)) fields.set(key, new URLSearchParams(part).get(key) ?? "");
    else rest.push(part);
  }
  return { name: name.replace(/\/$/, ""), fields, rest: rest.join("&") };
}

/** @param {string} name @param {string} query @param {Record<string, string | number | null>} more */
const address = (name, query, more) => `#/${name}${[query, ...Object.entries(more).filter(([, v]) => v !== null).map(([k, v]) => `${k}=${encodeURIComponent(String(v))}`)].filter(Boolean).reduce((a, b) => `${a}${a ? "&" : "?"}${b}`, "")}`;

const nav = h("nav", { "aria-label": "Pages" }), main = h("main", { id: "content", tabindex: -1 });
const presenter = h("button", { type: "button", text: "Present", onclick: () => present(root.dataset.present !== "on") });
const sharer = h("button", { type: "button", text: "QR code", onclick: share });
const themes = h("button", { type: "button", text: "Dark", onclick: () => theme(root.dataset.theme === "dark" ? "light" : "dark") });
const folder = h("button", { type: "button", class: "folder", text: "Controls", onclick: () => { root.dataset.controls = root.dataset.controls === "shown" ? "" : "shown"; current?.redraw(); } });
const header = h("header", {}, h("a", { href: "#/", class: "brand", text: "linnet" }), nav, h("div", { class: "switches" }, folder, presenter, sharer, themes));

/** @type {ReturnType<typeof run> | null} */ let current = null;
/** @type {(() => void) | null} */ let leave = null;
/** @type {string | null} */ let written = null;

/** @param {boolean} on */
function present(on) {
  root.dataset.present = on ? "on" : "off";
  root.dataset.controls = "";
  presenter.textContent = on ? "Stop presenting" : "Present";
  current?.redraw();
  dispatchEvent(new Event("resize"));
}

/** @param {string} name */
function theme(name) {
  root.dataset.theme = name;
  themes.textContent = name === "dark" ? "Light" : "Dark";
  try {
    localStorage.setItem("linnet-theme", name);
  } catch { /* a page that was opened from a folder may not have it */ }
}

/** Shows the address as a QR code. */
function share() {
  const here = location.href, made = location.protocol === "file:" ? null : code(here), box = h("dialog", { class: "share", "aria-label": "Address of this view", onclick: (/** @type {Event} */ e) => e.target === box && /** @type {HTMLDialogElement} */ (box).close(), onclose: () => box.remove() });
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const note = location.protocol === "file:" ? "This page was opened from a folder: put the folder on a web server, or open it from the documentation site, and others can follow by its address." : !made ? "This address is too long for a QR code: reset some controls." : local ? "This address is that of your own machine: others need the page from a web server." : "";
  box.append(h("p", {}, h("a", { href: here, text: here.length > 160 ? `${here.slice(0, 160)}…` : here })), h("p", { class: "soft", text: note }));
  if (made) {
    const size = made.length + 8, canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { width: size, height: size, class: "code", role: "img", "aria-label": "QR code of this address" })), c = canvas.getContext("2d");
    if (c) {
      c.fillStyle = "#fff";
      c.fillRect(0, 0, size, size);
      c.fillStyle = "#000";
      made.forEach((row, y) => row.forEach((on, x) => on && c.fillRect(x + 4, y + 4, 1, 1)));
    }
    box.prepend(canvas);
  }
  box.append(h("button", { type: "button", text: "Close", onclick: () => /** @type {HTMLDialogElement} */ (box).close() }));
  document.body.append(box);
  /** @type {HTMLDialogElement} */ (box).showModal();
}

/** Shows the page that the address names. */
function go() {
  if (location.hash === written) return;
  const { name, fields, rest } = route(), lecture = name === "lecture";
  const number = Math.min(STEPS.length, Math.max(1, Math.round(Number(fields.get("step"))) || 1)), step = lecture ? STEPS[number - 1] : null;
  const page = step ? pageOf(step) : PAGES.find((one) => one.name === name);
  current?.stop();
  leave?.();
  current = leave = null;
  if (fields.get("embed") === "on") root.dataset.embed = "on";
  if (fields.has("present") && root.dataset.present !== fields.get("present")) present(fields.get("present") === "on");
  for (const link of nav.querySelectorAll("a")) link.toggleAttribute("aria-current", false);
  const link = nav.querySelector(`[data-page="${CSS.escape(name)}"]`);
  link?.setAttribute("aria-current", "page");
  if (link && nav.scrollWidth > nav.clientWidth) nav.scrollLeft = /** @type {HTMLElement} */ (link).offsetLeft - nav.offsetLeft - 40;
  document.title = page ? `${page.title} — linnet` : "linnet, live";
  if (!page) {
    const first = home(PAGES);
    main.replaceChildren(first.node);
    leave = first.stop;
    if (name) first.node.prepend(h("p", { class: "error", role: "status", text: `There is no page “${name.slice(0, 40)}”: this is the first one.` }));
    return;
  }
  const made = run(page, {
    query: rest, frozen: fields.get("frozen"), lead: step?.lead, only: step?.only ?? (root.dataset.embed === "on" ? EMBEDDED[page.name] : undefined),
    onaddress(query, frozen) {
      written = address(name, query, { step: step ? number : null, frozen, embed: root.dataset.embed === "on" ? "on" : null });
      history.replaceState(null, "", written);
    },
  });
  current = made;
  const top = step ? lectureHead(number, made.buttons) : h("div", { class: "top" }, h("h1", { text: page.title }), h("div", { class: "buttons" }, made.buttons), h("p", { class: "introduction", text: page.introduction }));
  const whole = h("a", { class: "whole", href: location.href.replace(/[?&]embed=on/, ""), target: "_blank", rel: "noopener", text: "Open the whole page" });
  main.replaceChildren(h("section", { class: "page", "data-page": page.name }, top, made.node, whole));
  made.begin();
}

/** What stands above a step of the lecture: its words, what to do, and the ways on. @param {number} number @param {(HTMLElement | null)[]} buttons */
function lectureHead(number, buttons) {
  const step = STEPS[number - 1], to = (/** @type {number} */ n, /** @type {string} */ text, /** @type {string} */ kind) => (n < 1 || n > STEPS.length ? h("span", { class: `button ${kind}`, "aria-disabled": "true", text }) : h("a", { class: `button ${kind}`, href: address("lecture", "", { step: n }), text }));
  return h("div", { class: "top lecture" },
    h("p", { class: "step" }, to(number - 1, "‹ Back", "back"), ` Step ${number} of ${STEPS.length} `, to(number + 1, "Next ›", "next"), " ", buttons),
    h("h1", { text: step.title }), h("p", { class: "introduction", text: step.says }), h("ol", { class: "do" }, step.gestures.map((text) => h("li", { text }))));
}

addEventListener("keydown", (event) => {
  const { target } = event, typing = target instanceof HTMLElement && (["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName) || target.tabIndex === 0 && target.classList.contains("picture"));
  if (route().name !== "lecture" || typing || event.altKey || event.ctrlKey || event.metaKey) return;
  const way = { ArrowRight: ".next", PageDown: ".next", ArrowLeft: ".back", PageUp: ".back" }[event.key], link = way ? main.querySelector(`a${way}`) : null;
  if (link) {
    event.preventDefault();
    /** @type {HTMLElement} */ (link).click();
  }
});
addEventListener("hashchange", () => {
  go();
  scrollTo(0, 0);
});

/** The theme: what was chosen here, else that of the page around this one, else that of the machine. */
function begin() {
  let chosen = "";
  try {
    chosen = localStorage.getItem("linnet-theme") ?? "";
  } catch { /* see above */ }
  let around = "";
  try {
    const outer = parent !== window ? parent.document.body : null;
    const follow = () => {
      const scheme = outer?.dataset.mdColorScheme;
      if (scheme) theme(scheme === "slate" ? "dark" : "light");
    };
    around = outer?.dataset.mdColorScheme ?? "";
    if (outer) new MutationObserver(follow).observe(outer, { attributes: true });
  } catch { /* a page around this one that may not be looked at */ }
  const dark = around ? around === "slate" : chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "dark" : "light";
  themes.textContent = dark ? "Light" : "Dark";
  nav.append(...[{ name: "lecture", title: "Lecture" }, ...PAGES].map(({ name, title }) => h("a", { href: `#/${name}`, "data-page": name, text: title })));
  document.body.prepend(h("a", { class: "skip", href: "#content", text: "Skip to the page", onclick: (/** @type {Event} */ e) => { e.preventDefault(); main.focus(); } }), header, main);
  go();
}

begin();
/** For tests. */
export const app = { go, current: () => current };
