// The controls of a page: slider, box and address always agree.
import { h, said } from "./dom.js";
import { hasSlider, matters, position, range, read, valueAt, written } from "./controls.js";

/** @typedef {import("./controls.js").Control} Control */
/** @typedef {import("./controls.js").State} State */

/** Inputs for all controls, in named groups; `changed` hears of each change, `sync` shows a state. @param {Control[]} controls @param {(name: string, value: any) => void} changed */
export function form(controls, changed) {
  const groups = [...new Set(controls.filter((c) => !c.hidden).map((c) => c.group ?? ""))], fields = controls.filter((c) => !c.hidden).map((c) => field(c, changed));
  const node = h("form", { class: "controls", "aria-label": "Controls", onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
    groups.map((group) => h("fieldset", { class: "group" }, h("legend", { text: group }), fields.filter((f) => f.control.group === group).map((f) => f.node))));
  /** @param {State} state @param {string[]} [few] the only ones that are shown */
  const sync = (state, few) => {
    for (const { control, node: one, show } of fields) {
      one.hidden = !matters(control, state) || (!!few && !few.includes(control.name));
      show(state[control.name]);
    }
    for (const group of /** @type {NodeListOf<HTMLElement>} */ (node.querySelectorAll(".group"))) group.hidden = [...group.querySelectorAll(":scope > .control")].every((one) => /** @type {HTMLElement} */ (one).hidden);
  };
  return { node, sync, play: (/** @type {string} */ name) => fields.find((f) => f.control.name === name)?.toggle?.() };
}

/** @param {Control} control @param {(name: string, value: any) => void} changed */
function field(control, changed) {
  const { name, label, help, kind } = control, id = `box-${name}`, wrong = h("p", { class: "error", role: "alert" });
  const told = h("p", { class: "help", id: `help-${name}`, text: help });
  if (kind === "switch") {
    const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id, "aria-describedby": told.id, onchange: () => changed(name, box.checked) }));
    return { control, node: h("div", { class: "control switch" }, h("label", { for: id }, box, ` ${label}`), told), show: (/** @type {boolean} */ v) => void (box.checked = v), toggle: undefined };
  }
  if (kind === "choice") {
    const choices = Object.entries(control.choices ?? {});
    if (choices.length > 4) {
      const list = /** @type {HTMLSelectElement} */ (h("select", { id, "aria-describedby": told.id, onchange: () => changed(name, list.value) }, choices.map(([value, text]) => h("option", { value, text }))));
      return { control, node: h("div", { class: "control" }, h("label", { for: id, text: label }), list, told), show: (/** @type {string} */ v) => void (list.value = v), toggle: undefined };
    }
    const radios = choices.map(([value, text]) => {
      const radio = /** @type {HTMLInputElement} */ (h("input", { type: "radio", name, value, onchange: () => changed(name, value) }));
      return { radio, node: h("label", {}, radio, ` ${text}`) };
    });
    return {
      control, toggle: undefined,
      node: h("div", { class: "control" }, h("fieldset", { class: "choices", "aria-describedby": told.id }, h("legend", { text: label }), radios.map((r) => r.node)), told),
      show: (/** @type {string} */ v) => radios.forEach(({ radio }) => (radio.checked = radio.value === v)),
    };
  }
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "text", id, class: kind === "numbers" ? "box long" : "box", inputmode: kind === "numbers" ? "text" : "decimal", autocomplete: "off", spellcheck: "false", "aria-describedby": told.id }));
  box.addEventListener("change", () => {
    try {
      changed(name, read(control, box.value));
      wrong.textContent = "";
      box.removeAttribute("aria-invalid");
    } catch (error) {
      wrong.textContent = /** @type {Error} */ (error).message;
      box.setAttribute("aria-invalid", "true");
    }
  });
  const slider = hasSlider(control) ? sliderOf(control, (value) => changed(name, value)) : null, ends = control.ends ?? [];
  const player = control.plays ? playing(control, slider?.node, changed) : null;
  const buttons = ends.map(([word, value]) => h("button", { type: "button", class: "small", text: word, onclick: () => changed(name, value) }));
  return {
    control, toggle: player?.toggle,
    node: h("div", { class: slider ? "control slides" : "control" }, h("label", { for: id, text: label }), box, slider && h("div", { class: "track" }, buttons[0], slider.node, buttons[1], player?.node), told, wrong),
    show(/** @type {any} */ value) {
      wrong.textContent = "";
      box.removeAttribute("aria-invalid");
      box.value = written(value);
      slider?.show(value);
    },
  };
}

/** @param {Control} control @param {(value: number) => void} changed */
function sliderOf(control, changed) {
  const { low, high, step } = range(control);
  const node = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: low, max: high, step, "aria-label": `${control.label}, slider`, "aria-describedby": `help-${control.name}` }));
  node.addEventListener("input", () => changed(valueAt(control, Number(node.value))));
  return {
    node,
    show(/** @type {number} */ value) {
      if (Number(node.value) !== position(control, value)) node.value = String(position(control, value));
      node.setAttribute("aria-valuetext", said(value, 6));
    },
  };
}

const PLAY_SECONDS = 7;
/** A button that runs through the values of a slider. @param {Control} control @param {HTMLInputElement | undefined} slider @param {(name: string, value: any) => void} changed */
function playing(control, slider, changed) {
  const [low, high] = control.bounds ?? [0, 1], node = h("button", { type: "button", class: "small play", text: "Play" });
  let on = false, before = 0, at = low;
  const frame = (/** @type {number} */ now) => {
    if (!on || !node.isConnected) return;
    if (Math.abs(Number(slider?.value) - at) > 0.02 * (high - low)) at = Number(slider?.value); // moved by hand
    at = Math.min(high, at + ((high - low) * Math.min(100, now - before)) / (1000 * PLAY_SECONDS));
    before = now;
    if (at >= high) toggle();
    changed(control.name, Number(at.toFixed(4)));
    requestAnimationFrame(frame);
  };
  const toggle = () => {
    on = !on;
    node.textContent = on ? "Pause" : "Play";
    if (!on) return;
    at = Number(slider?.value) >= high - 1e-9 ? low : Number(slider?.value);
    changed(control.name, at);
    before = performance.now();
    requestAnimationFrame(frame);
  };
  node.addEventListener("click", toggle);
  return { node, toggle };
}
