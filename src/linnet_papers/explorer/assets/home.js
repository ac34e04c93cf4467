// The moving picture of the first page: runs that the server computed, drawn as time passes, one after the other.
(function () {
  "use strict";
  const RUN = 6000, REST = 1800; // milliseconds of a run, and before the next one
  const WIDE = 640, HIGH = 300, LEFT = 44, RIGHT = 12, TOP = 12, BOTTOM = 34;

  function svgElement(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // Draws all of a run but its curves; returns a function that draws those up to a share of the run.
  function drawAxes(picture, values, run) {
    const top = 1.1 * Math.max(...values);
    const x = (share) => LEFT + share * (WIDE - LEFT - RIGHT);
    const y = (value) => HIGH - BOTTOM - (value / top) * (HIGH - BOTTOM - TOP);
    const drawing = svgElement("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" });
    for (const value of values) {
      drawing.append(svgElement("line", { class: "goal", x1: LEFT, x2: WIDE - RIGHT, y1: y(value), y2: y(value) }));
      drawing.append(svgElement("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, String(value)));
    }
    drawing.append(svgElement("path", { class: "axis", d: `M${LEFT},${TOP}V${HIGH - BOTTOM}H${WIDE - RIGHT}` }));
    drawing.append(svgElement("text", { x: (LEFT + WIDE) / 2, y: HIGH - 10, "text-anchor": "middle" }, "time t"));
    drawing.append(svgElement("text", { x: LEFT + 8, y: TOP + 4 }, "singular values of the network"));
    drawing.append(svgElement("text", { x: WIDE - RIGHT, y: HIGH - 10, "text-anchor": "end" }, String(run.end)));
    if (run.threshold < top) {
      const at = y(run.threshold);
      drawing.append(svgElement("line", { class: "threshold", x1: LEFT, x2: WIDE - RIGHT, y1: at, y2: at }));
      if (run.threshold > 0.05 * top) drawing.append(svgElement("text", { x: LEFT + 8, y: at - 6 }, "threshold"));
    }
    const curves = run.modes.map((mode, i) => {
      const curve = svgElement("polyline", { class: "mode", opacity: String(1 - 0.18 * i) });
      drawing.append(curve);
      const points = mode.map((value, j) => `${x(j / (mode.length - 1)).toFixed(1)},${y(value).toFixed(1)}`);
      return [curve, points];
    });
    picture.replaceChildren(drawing);
    return (share) => {
      for (const [curve, points] of curves) {
        curve.setAttribute("points", points.slice(0, 1 + Math.round(share * (points.length - 1))).join(" "));
      }
    };
  }

  // Draws the runs one after the other until the reader leaves or pauses.
  function animateRuns(_, held) {
    const picture = document.getElementById("moving-picture");
    if (!held || !picture) return window.dash_clientside.no_update;
    const words = document.getElementById("moving-words"), button = document.getElementById("moving-pause");
    const { values, runs } = held; // see `_moving_picture` of home.py
    let at = 0, passed = 0, last = null, grow = null;
    let plays = !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const begin = () => {
      grow = drawAxes(picture, values, runs[at]);
      words.textContent = runs[at].words;
      picture.dataset.run = String(at);
    };
    const frame = (now) => {
      if (!picture.isConnected || !plays) return; // the reader has left, or wants to look
      passed += Math.min(100, now - (last === null ? now : last));
      last = now;
      if (passed > RUN + REST) {
        at = (at + 1) % runs.length;
        passed = 0;
        begin();
      }
      grow(Math.min(1, passed / RUN));
      window.requestAnimationFrame(frame);
    };
    const show = () => {
      button.textContent = plays ? "Pause" : "Play";
      last = null;
      if (plays) window.requestAnimationFrame(frame);
      else grow(passed ? Math.min(1, passed / RUN) : 1);
    };
    button.onclick = () => {
      plays = !plays;
      show();
    };
    begin();
    show();
    return "drawn";
  }

  window.linnet = { ...window.linnet, animateRuns };
})();
