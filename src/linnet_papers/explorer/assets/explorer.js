// What the explorer does in the browser itself: themes, sliders, playing, freezing, the address, pictures as files.
(function () {
  "use strict";
  const noUpdate = () => window.dash_clientside.no_update;
  const figures = {}; // by the id of their graph, as the server drew them

  const THEMES = {
    light: { ink: "#1a1a1a", soft: "#5b5f66", grid: "#e4e6ea", line: "#b9bdc4", paper: "#ffffff" },
    dark: { ink: "#e9eaee", soft: "#a7abb5", grid: "#33363d", line: "#5b5f69", paper: "#17191d" },
  };
  // Colors of the house (linnet.style) that are not seen on a dark ground, and what stands for them there.
  const ON_DARK = {
    "#1a1a1a": "#e9eaee", "#0072b2": "#4fa8e0", "#882255": "#d9679a", "#6e6e6e": "#a3a3a3", "#d55e00": "#f08237",
    "#009e73": "#2fc79a", "#cc79a7": "#e39cc4",
  };
  const DATA = new Set(["x", "y", "z", "text", "customdata", "colorscale", "ids", "error_x", "error_y"]);

  // A figure, or any part of one, in the colors of the dark theme; numbers and texts of the data stay.
  function recolor(value) {
    if (typeof value === "string") return ON_DARK[value.toLowerCase()] || value;
    if (Array.isArray(value)) {
      return value.length && typeof value[0] === "number" ? value : value.map(recolor);
    }
    if (value && typeof value === "object") {
      const made = {};
      for (const key in value) made[key] = DATA.has(key) ? value[key] : recolor(value[key]);
      return made;
    }
    return value;
  }

  // A figure for a projector, with larger notes, lines and points. The edge of a band has the width 0: it stays unseen.
  function enlarge(figure) {
    const data = figure.data.map((trace) => ({
      ...trace,
      ...(trace.line ? { line: { ...trace.line, width: 1.7 * (trace.line.width ?? 2) } } : {}),
      ...(trace.marker && typeof trace.marker.size === "number"
        ? { marker: { ...trace.marker, size: 1.5 * trace.marker.size } } : {}),
    }));
    return { data: data, layout: resizeNotes(figure.layout, 1.6) };
  }

  // A layout whose notes in the picture have letters of another size, by this factor.
  function resizeNotes(layout, factor) {
    const notes = layout.annotations;
    const resized = (note) => ({ ...note, font: { ...note.font, size: factor * ((note.font || {}).size || 12) } });
    return notes ? { ...layout, annotations: notes.map(resized) } : layout;
  }

  // A figure in a theme; `look` is "light" or "dark", and "present" behind it for a projector.
  function applyTheme(figure, look) {
    const [name, presents] = String(look || "light").split(" ");
    const theme = THEMES[name] || THEMES.light;
    const size = presents ? 20 : 12;
    const axis = {
      gridcolor: theme.grid, zerolinecolor: theme.grid, linecolor: theme.line, tickcolor: theme.line,
      ticks: "outside", ticklen: 4, showline: true, zeroline: false, automargin: true,
      title: { standoff: 6, font: { size: size + 1 } },
    };
    const template = {
      layout: {
        font: { color: theme.ink, family: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", size: size },
        paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", xaxis: axis, yaxis: axis,
        hoverlabel: { bgcolor: theme.paper, bordercolor: theme.line, font: { color: theme.ink, size: size } },
        legend: { font: { size: size - 1 }, bgcolor: "rgba(0,0,0,0)" },
        modebar: { bgcolor: theme.paper, color: theme.soft, activecolor: theme.ink },
      },
    };
    const colored = name === "dark" ? recolor(figure) : figure;
    const shown = presents ? enlarge(colored) : colored;
    // On a phone the legend may use the whole width, and letters are small: they would take half of the picture.
    if (window.innerWidth > 620) return { data: shown.data, layout: { ...shown.layout, template, autosize: true } };
    axis.title.font.size = 11;
    const legend = { ...shown.layout.legend, xref: "container", x: 0, font: { size: 9 } };
    return { data: shown.data, layout: { ...resizeNotes(shown.layout, 0.75), legend, template, autosize: true } };
  }

  // Shows the query of the page, and that of a frozen run, in the address, where `content` of layout.py reads them.
  function writeAddress(page, query, frozen) {
    const parts = [query, frozen === null || frozen === undefined ? "" : "frozen=" + encodeURIComponent(frozen)];
    const text = parts.filter(Boolean).join("&");
    const path = "/" + page;
    const at = window.location.pathname;
    if (at !== path) return; // an answer that came after the reader had left
    window.history.replaceState(window.history.state, "", path + (text ? "?" + text : "") + window.location.hash);
  }

  // Shows an error at its control, and no longer at others; without a control at none.
  function markInvalid(page, control, error) {
    for (const wrong of document.querySelectorAll("#" + page + "-page .control > .error")) wrong.textContent = "";
    const wrong = control && document.getElementById(page + "-" + control + "-wrong");
    if (wrong) wrong.textContent = error;
    for (const box of document.querySelectorAll("#" + page + "-page [aria-invalid]")) box.removeAttribute("aria-invalid");
    const box = control && document.getElementById(page + "-" + control);
    if (box) box.setAttribute("aria-invalid", "true");
  }

  // Inputs of Dash take no aria attributes: each is tied to its sentence of help here.
  function describeInputs(page) {
    for (const help of document.querySelectorAll("#" + page + "-page .help:not([data-tied])")) {
      help.dataset.tied = "yes";
      for (const input of help.parentElement.querySelectorAll("input, [role=listbox], [role=combobox]")) {
        input.setAttribute("aria-describedby", help.id);
      }
    }
  }

  // While a page is being computed its sliders only note where they are: the last position is sent with the answer.
  const PATIENCE = 3000; // milliseconds after which an answer counts as lost
  const asked = {}; // by page: the parts that have not answered yet, and since when
  const noted = {}; // by page: the values to send next, by the id of their box
  const sent = {}; // by the id of a box: a noted value on its way there

  // Notes that these parts of a page are being computed.
  function noteAsked(page, parts) {
    asked[page] = { parts: new Set(parts), since: Date.now() };
  }

  // Whether a page waits for answers, and not for too long.
  function isWaiting(page) {
    const open = asked[page];
    return Boolean(open && open.parts.size && Date.now() - open.since < PATIENCE);
  }

  // Notes that a part has answered; after the last one, sends where the sliders have gone meanwhile.
  function noteAnswered(page, part) {
    if (!asked[page] || !asked[page].parts.delete(part) || asked[page].parts.size) return;
    const values = Object.entries(noted[page] || {});
    delete noted[page];
    for (const [ident, one] of values) {
      const box = document.getElementById(ident);
      if (!box || box.value === one.text) continue; // the reader has left, or came back to where the slider was
      noteAsked(page, one.parts);
      sent[ident] = one.text;
      window.dash_clientside.set_props(ident, { value: one.text });
    }
  }

  // One picture after the other, so that the first is seen before the last is drawn; then the part has answered.
  const drawing = {}; // by part: the pictures of the latest answer that are still to be drawn
  function drawInTurn(page, part, pictures) {
    const key = page + "-" + part;
    drawing[key] = pictures;
    const next = () => {
      if (drawing[key] !== pictures) return; // a newer answer has come, which draws all of them
      const one = pictures.shift();
      if (!one) return noteAnswered(page, part);
      if (document.getElementById(one.id)) window.dash_clientside.set_props(one.id, { figure: one.figure });
      window.setTimeout(next, 0);
    };
    window.setTimeout(next, 0);
  }

  // Shows the answer to a part: its views, what is wrong, links to its files; of the first part address and script too.
  // Returns them in the order of the outputs in `_register_views` of callbacks.py.
  function showAnswer(settings, answer, look, frozen) {
    const { page, part, views } = settings;
    const first = part === "main"; // MAIN of page.py
    const rest = first ? 4 : 3; // error, two files, and in the first part the script
    if (!answer) return Array(views.length + rest).fill(noUpdate());
    const later = [];
    drawInTurn(page, part, later);
    const holder = document.getElementById(page + "-" + part + "-part");
    if (holder) holder.classList.add("seen");
    describeInputs(page);
    if (first) markInvalid(page, answer.control, answer.error);
    if (answer.error) {
      if (holder) holder.classList.remove("empty");
      const nothing = Array(views.length + rest).fill(noUpdate());
      nothing[views.length] = answer.error;
      return nothing;
    }
    const empty = !answer.figures;
    if (holder) holder.classList.toggle("empty", empty);
    const drawn = views.map((view, i) => {
      if (empty) return noUpdate();
      if (view.kind !== "figure") return answer.figures[i];
      figures[view.id] = answer.figures[i];
      const figure = applyTheme(answer.figures[i], look);
      if (i === 0) return figure;
      later.push({ id: view.id, figure: figure });
      return noUpdate();
    });
    const query = answer.address ? "?" + answer.address : "";
    // the route of `send_dataset` in application.py
    const files = ["csv", "nc"].map((ending) => "/data/" + page + "/" + part + "." + ending + query);
    if (!first) return [...drawn, "", ...files];
    writeAddress(page, answer.address, frozen);
    return [...drawn, "", ...files, answer.script];
  }

  // The property that called this callback, "id.property"; empty at the start.
  const triggeredProp = () => {
    const found = window.dash_clientside.callback_context.triggered;
    return found.length ? found[0].prop_id : "";
  };

  const remembered = (name) => {
    try { return window.localStorage.getItem("linnet-" + name); } catch (refused) { return null; }
  };
  const remember = (name, value) => {
    try { window.localStorage.setItem("linnet-" + name, value); } catch (refused) { /* for this page only */ }
  };

  // Sets light or dark, and whether it is for a projector: on the root, where style sheets see it, and for the pictures.
  function updateLook(labels) {
    const root = document.documentElement.dataset;
    const clicked = triggeredProp().split(".")[0];
    const system = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const theme = remembered("theme");
    root.theme = root.theme || (theme === "dark" || theme === "light" ? theme : system);
    root.present = root.present || (remembered("present") === "on" ? "on" : "off");
    if (clicked === "theme-switch") {
      root.theme = root.theme === "dark" ? "light" : "dark";
      remember("theme", root.theme);
    }
    if (clicked === "present-switch") {
      root.present = root.present === "on" ? "off" : "on";
      root.controls = "folded";
      remember("present", root.present);
    }
    if (clicked === "controls-switch") root.controls = root.controls === "shown" ? "folded" : "shown";
    document.getElementById("present-switch").textContent = root.present === "on" ? labels.stop : labels.present;
    document.getElementById("controls-switch").setAttribute("aria-expanded", String(root.controls === "shown"));
    window.setTimeout(() => window.dispatchEvent(new Event("resize")), 0); // pictures have another width now
    return root.theme + (root.present === "on" ? " present" : "");
  }

  // Marks the link of the current page in the navigation, and sets the title of the window.
  function markCurrentPage(titles, path) {
    const at = (path || "/").replace(/^\/+|\/+$/g, "");
    document.title = at ? (titles[at] ? titles[at] + " · linnet" : "linnet") : titles[""];
    for (const page of Object.keys(titles)) {
      const link = document.getElementById("go-" + (page || "home"));
      if (link && page === at) {
        link.setAttribute("aria-current", "page");
        const row = link.parentElement; // on a phone it scrolls sideways
        row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
      }
      else if (link) link.removeAttribute("aria-current");
    }
    return at;
  }

  // The text of the value at a position of the slider: the inverse of `slider_position` of controls.py.
  function textAtPosition(how, position) {
    let found = how.log ? Math.pow(10, position) : position;
    found = Math.min(how.high, Math.max(how.low, found));
    if (how.whole) return String(Math.round(Number(found.toPrecision(found < 1e4 ? 4 : 3))));
    return String(Number(found.toPrecision(4)));
  }

  // Keeps box and slider at one value: returns what to set in each.
  function syncSlider(how, box, slider) {
    const position = (text) => {
      const found = Number(text);
      if (text === null || text === "" || !Number.isFinite(found) || (how.log && found <= 0)) return null;
      return how.log ? Math.log10(found) : found;
    };
    if (triggeredProp() === how.id + "-slider.value") {
      if (slider === null || slider === undefined) return [noUpdate(), noUpdate()];
      const text = textAtPosition(how, Number(slider));
      if (isWaiting(how.page)) {
        (noted[how.page] = noted[how.page] || {})[how.id] = { text: text, parts: how.parts };
        return [noUpdate(), noUpdate()];
      }
      if (text === box) return [noUpdate(), noUpdate()];
      noteAsked(how.page, how.parts);
      return [text, noUpdate()];
    }
    if (sent[how.id] === box) {
      delete sent[how.id]; // it came from the slider, which has perhaps moved on
      return [noUpdate(), noUpdate()];
    }
    const at = position(box);
    return [noUpdate(), at === null || Math.abs(at - Number(slider)) < 1e-9 ? noUpdate() : at];
  }

  // Whether the clock of a control that plays is disabled, and what its button says.
  function togglePlay(labels, clicks) {
    return clicks % 2 ? [false, labels.pause] : [true, labels.play];
  }

  // The position of a slider after the next tick; behind the last one comes the first.
  function nextPosition(how, count, position) {
    const next = Number(position) + how.step;
    return next > how.high + 1e-9 ? how.low : Number(next.toPrecision(10));
  }

  // Whether a control is hidden: it is shown with these values of another one.
  function isHidden(values, given) {
    const now = Array.isArray(given) ? (given.length ? "on" : "off") : String(given);
    return !values.includes(now);
  }

  // The value that a click on a point of a picture sets.
  function clickedValue(what, clicked) {
    const point = clicked && clicked.points && clicked.points[0];
    if (!point) return noUpdate();
    if (what === "xy") return [point.x, point.y].map((one) => Number(Number(one).toPrecision(6))).join(",");
    if (point[what] === undefined || point[what] === null) return noUpdate();
    return String(Array.isArray(point[what]) ? point[what].join(",") : point[what]);
  }

  // The claim of the button that was clicked: `_pick_button` of pages/claims.py writes it into the button's id.
  // A list of claims that is drawn anew has buttons that nobody clicked: they choose nothing.
  function chooseClaim() {
    const [one] = window.dash_clientside.callback_context.triggered;
    if (!one || !one.value) return noUpdate();
    const shown = document.getElementById("claims-view-claim-view");
    if (shown) shown.scrollIntoView({ block: "nearest" });
    return JSON.parse(one.prop_id.slice(0, one.prop_id.lastIndexOf("."))).claim;
  }

  // What is sent of a file, for `keep_upload` of panels/upload.py, and what is said of it; too large a file does not
  // even leave the browser.
  function sendFile(limit, contents, file) {
    if (!contents) return [noUpdate(), ""];
    if (contents.length > limit.characters) return [noUpdate(), limit.refusal];
    return [{ contents: contents, file: file }, "Reading " + file + " ..."];
  }

  // The query of the run that is frozen from now on, null for none, and what the button says.
  function toggleFrozen(labels, clicks, answer, frozen) {
    if (frozen !== null && frozen !== undefined) return [null, labels.freeze];
    return answer && answer.figures ? [answer.address, labels.unfreeze] : [noUpdate(), noUpdate()];
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-save]");
    const figure = button && figures[button.dataset.view];
    if (!figure || !window.Plotly) return;
    const graph = document.getElementById(button.dataset.view);
    const drawn = applyTheme(figure, "light"); // for paper
    drawn.layout = { ...drawn.layout, paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff" };
    window.Plotly.downloadImage(drawn, {
      format: button.dataset.save, width: graph.clientWidth, height: graph.clientHeight,
      scale: button.dataset.save === "png" ? 3 : 1, filename: button.dataset.view.replace("-view", ""),
    });
  });

  window.linnet = {
    ...window.linnet, showAnswer, updateLook, markCurrentPage, syncSlider, togglePlay, nextPosition, isHidden,
    clickedValue, chooseClaim, sendFile, toggleFrozen, figures,
  };
})();
