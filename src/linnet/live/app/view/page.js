// One page at work: its state, what is computed from it, its pictures, and the frozen run behind them.
import { h } from "./dom.js";
import { initials, parse, query } from "./controls.js";
import { Engine } from "./engine.js";
import { draw, extent, snapped } from "./figure.js";
import { form } from "./form.js";
import { asCsv, asSvg, offer, savePng } from "./save.js";

/**
 * @typedef {import("../pages/kinds.js").Page} Page
 * @typedef {import("../pages/kinds.js").View} View
 * @typedef {import("./controls.js").State} State
 * @typedef {import("./figure.js").Figure} Figure
 * @typedef {{ query: string, frozen: string | null, lead?: string, only?: string[], onaddress: (query: string, frozen: string | null) => void }} Setting
 */

const ADDRESS_MILLISECONDS = 350; // between two changes of the address: browsers allow so many a minute
const BUSY_MILLISECONDS = 300; // after which a picture that waits for numbers is dimmed
const MOST_TIMES = 3; // by which two runs may differ in length and share one axis

/** Lays out a page and sets it going; `node` goes into the document, `stop` ends what it computes. @param {Page} page @param {Setting} setting */
export function run(page, setting) {
  const read = parse(page.controls, setting.query);
  let { state } = read;
  /** @type {State | null} */ let frozen = null;
  /** @type {Record<string, any>} */ const results = {};
  /** @type {Record<string, any>} */ const held = {};
  /** @type {Record<string, string>} */ const keys = {};
  const engines = Object.fromEntries(page.parts.map((part) => [part.name, new Engine()]));
  const says = h("p", { class: "error", role: "status", text: read.wrong.length ? `Left out of this address: ${read.wrong.join(" ")}` : "" });
  const failed = h("p", { class: "error", role: "status" }), live = h("p", { class: "unseen", "aria-live": "polite" });
  const controls = form(page.controls, (name, value) => change({ ...state, [name]: value }));
  let few = setting.only;
  const all = h("button", { type: "button", class: "small all", text: "All controls", onclick: () => { few = few ? undefined : setting.only; all.textContent = few ? "All controls" : "Fewer controls"; controls.sync(state, few); } });
  if (few) controls.node.append(all);
  const views = page.views.map((view) => laidOut(view));
  const lead = views.find(({ view }) => view.name === setting.lead);
  if (lead) views.unshift(...views.splice(views.indexOf(lead), 1));
  const freezer = h("button", { type: "button", text: "Freeze this run", onclick: () => freeze(frozen ? null : state) });
  const reset = h("button", { type: "button", text: "Reset", onclick: () => { freeze(null); change(initials(page.controls)); } });
  const script = h("pre", { class: "script", tabindex: 0 }), open = h("details", { class: "as-python" }, h("summary", { text: "As Python" }), h("button", { type: "button", class: "small copy", text: "Copy", onclick: () => navigator.clipboard?.writeText(script.textContent ?? "") }), script);
  const node = h("div", { class: setting.only ? "columns strip" : "columns" }, controls.node, h("div", { class: "results" }, says, failed, views.map((v) => v.node), page.python ? open : null, live));

  /** @param {View} view */
  function laidOut(view) {
    const host = h("div", { class: "picture" }), about = h("p", { class: "about" });
    const save = view.draw ? h("div", { class: "save" }, ["CSV", "SVG", "PNG"].map((kind) => h("button", { type: "button", class: "small", text: kind, "aria-label": `${kind} of ${view.title}`, onclick: () => keep(view, host, kind) }))) : null;
    const one = h("section", { class: `view${view.wide ? " wide" : ""}`, "aria-label": view.title, "data-view": view.name }, h("div", { class: "head" }, h("h2", { text: view.title }), save), host, about);
    if (view.pick) {
      for (const [name, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": `${view.title}: arrow keys move over the cells, Enter takes one` })) host.setAttribute(name, value);
      host.addEventListener("keydown", (event) => moveByKeys(view, host, event));
    }
    return { view, node: one, host, about };
  }

  /** @type {[number, number] | null} */ let place = null;
  /** @param {View} view @param {HTMLElement} host @param {KeyboardEvent} event */
  function moveByKeys(view, host, event) {
    const figure = view.draw?.(results, state), step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!figure?.heat || (!step && event.key !== "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    const { x, y } = figure.heat, [u, v] = snapped(figure, place ?? view.picked?.(state) ?? [x[x.length >> 1], y[y.length >> 1]]), [dx, dy] = step ?? [0, 0];
    const at = (/** @type {number[]} */ all, /** @type {number} */ value, /** @type {number} */ by) => Math.max(0, Math.min(all.length - 1, all.indexOf(value) + by)), j = at(x, u, dx), i = at(y, v, dy);
    place = [x[j], y[i]];
    if (event.key === "Enter") change(/** @type {any} */ (view.pick)(x[j], y[i], state));
    else redraw();
    live.textContent = figure.heat.told(i, j);
  }

  /** @param {View} view @param {HTMLElement} host @param {string} kind */
  function keep(view, host, kind) {
    const name = `linnet-${page.name}-${view.name}`;
    if (kind === "PNG") return void savePng(host, name + ".png");
    if (kind === "SVG") return offer(`${name}.svg`, new Blob([asSvg(host)], { type: "image/svg+xml" }));
    if (view.draw) offer(`${name}.csv`, new Blob([asCsv(view.draw(results, state))], { type: "text/csv" }));
  }

  /** @param {State} next */
  function change(next) {
    state = next;
    says.textContent = "";
    controls.sync(state, few);
    later();
    compute();
    redraw();
  }

  /** @param {State | null} what */
  function freeze(what) {
    frozen = what;
    for (const part of page.parts) held[part.name] = what ? results[part.name] : undefined;
    freezer.textContent = frozen ? "Unfreeze" : "Freeze this run";
    freezer.setAttribute("aria-pressed", String(!!frozen));
    later();
    redraw();
  }

  let timer = 0;
  /** Writes the address a little later, once for many changes. */
  function later() {
    if (timer) return;
    timer = window.setTimeout(() => {
      timer = 0;
      if (node.isConnected) setting.onaddress(query(page.controls, state), frozen ? query(page.controls, frozen) : null);
    }, ADDRESS_MILLISECONDS);
  }

  let dimmed = 0;
  function compute() {
    for (const part of page.parts) {
      const settings = part.settings(state), key = JSON.stringify(settings);
      if (keys[part.name] === key) continue;
      keys[part.name] = key;
      if (settings === null || part.now) {
        engines[part.name].stop();
        results[part.name] = settings === null ? undefined : safely(() => part.now?.(settings));
        continue;
      }
      clearTimeout(dimmed);
      dimmed = window.setTimeout(() => node.classList.add("busy"), BUSY_MILLISECONDS);
      ask(part, settings, engines[part.name], (result, final) => {
        results[part.name] = { ...result };
        failed.textContent = "";
        if (final || Object.keys(results).length) settle();
      });
    }
  }

  function settle() {
    clearTimeout(dimmed);
    node.classList.remove("busy");
    redraw();
  }

  /** @template T @param {() => T} work @returns {T | undefined} */
  function safely(work) {
    try {
      failed.textContent = "";
      return work();
    } catch (error) {
      failed.textContent = error instanceof Error ? error.message : String(error);
      return undefined;
    }
  }

  /** @param {import("../pages/kinds.js").Part} part @param {any} settings @param {Engine} engine @param {(result: any, final: boolean) => void} done */
  function ask(part, settings, engine, done) {
    engine.ask({
      job: part.job ?? "", settings, done,
      failed(message) {
        failed.textContent = message;
        keys[part.name] = "";
        settle();
      },
    });
  }

  let asked = false;
  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      if (node.isConnected) show();
    });
  }

  function show() {
    const letters = parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.82, presents = document.documentElement.dataset.present === "on";
    for (const one of views) {
      const { view, host, about } = one, there = view.when?.(state) ?? true, ready = view.needs.every((name) => results[name] !== undefined);
      one.node.hidden = !there;
      if (!there) continue;
      if (!ready) {
        host.replaceChildren(h("p", { class: "soft", text: view.empty ?? "Computing …" }));
        host.style.height = "";
        about.textContent = "";
        continue;
      }
      if (view.show) host.replaceChildren(view.show(results, state));
      if (view.draw) {
        const phone = innerWidth <= 620, above = host.getBoundingClientRect().top + scrollY;
        const height = presents ? Math.max(320, innerHeight - (view === views[0].view ? Math.min(above, 400) + 4 * letters : 250)) : Math.min(view.height ?? 380, phone ? (view.pick ? 400 : 300) : 1000);
        const look = { height, letters, about: `${view.title}. ${view.about(results, state)}`, pick: view.pick ? (/** @type {number} */ x, /** @type {number} */ y) => { place = [x, y]; change(/** @type {any} */ (view.pick)(x, y, state)); } : undefined };
        const now = view.draw(results, state), before = frozen && view.needs.every((name) => held[name]) ? view.draw(held, frozen) : null;
        if (place && view.pick && host === document.activeElement) now.marks = [...(now.marks ?? []), { x: place[0], y: place[1], color: "#fff", symbol: "box", size: 9 }];
        if (!before || now.heat) draw(host, [now], look);
        else if (now.comparable && lengths(now, before) > MOST_TIMES) draw(host, [before, now], look, ["frozen", "now"]);
        else draw(host, [behind(now, before)], look);
      }
      about.textContent = view.about(results, state);
      if (about.scrollHeight > about.clientHeight + 1) about.tabIndex = 0; // it scrolls, so the keys must reach it
      else about.removeAttribute("tabindex");
    }
    if (page.python && /** @type {HTMLDetailsElement} */ (open).open) script.textContent = page.python(state);
  }
  open.addEventListener("toggle", redraw);

  /** Begins with what the address holds: the frozen run is computed once, by a worker of its own. */
  function begin() {
    controls.sync(state, few);
    compute();
    show();
    if (!page.freezes || setting.frozen === null) return;
    const then = parse(page.controls, setting.frozen).state;
    for (const part of page.parts) {
      const settings = part.settings(then);
      if (settings === null) continue;
      if (part.now) {
        held[part.name] = safely(() => part.now?.(settings));
        continue;
      }
      const engine = (engines[`${part.name}, frozen`] = new Engine());
      ask(part, settings, engine, (result) => {
        held[part.name] = result;
        redraw();
      });
    }
    frozen = then;
    freezer.textContent = "Unfreeze";
    freezer.setAttribute("aria-pressed", "true");
    redraw();
  }

  const watch = new ResizeObserver(redraw);
  watch.observe(node);
  const stop = () => {
    watch.disconnect();
    clearTimeout(timer);
    clearTimeout(dimmed);
    for (const engine of Object.values(engines)) {
      engine.stop();
      engine.worker?.terminate();
    }
  };
  return { node, begin, stop, redraw, buttons: [page.freezes ? freezer : null, reset], state: () => state, results, play: controls.play, change };
}

/** By how much two runs differ in length. @param {Figure} a @param {Figure} b */
function lengths(a, b) {
  const [one, two] = [a, b].map((f) => extent(f, "x")[1]);
  return Math.max(one, two) / Math.min(one, two);
}

/** A figure with the curves of a frozen one behind its own, paler. @param {Figure} now @param {Figure} before @returns {Figure} */
function behind(now, before) {
  const pale = before.curves.filter((c) => !c.quiet).map((c, i) => ({ ...c, opacity: 0.35 * (c.opacity ?? 1) + 0.1, name: i ? undefined : "frozen run (paler)", group: `frozen: ${c.group ?? c.name ?? ""}` }));
  return { ...now, curves: [...pale, ...now.curves] };
}

