// The five steps of a lecture: a page each, in the state in which it is shown, its own picture first.
import { page as phase } from "./phase.js";
import { page as train } from "./train.js";
import { page as twoPhases } from "./two_phases.js";

/** @typedef {import("./kinds.js").Page} Page */
/** @typedef {{ title: string, says: string, gestures: string[], page: Page, values: Record<string, any>, lead: string, only: string[] }} Step */

/** @type {Step[]} */
export const STEPS = [
  {
    title: "One mode after the other",
    says: "From a small initialization each singular value waits near zero, then rises along a sigmoid: the network learns one mode after the other.",
    gestures: ["Press Play at the cursor and say which mode is learning.", "Press “Freeze this run”, then “large” beside the initialization scale: now all modes rise at once, and the two runs stand side by side."],
    page: train, values: { scale: 5e-4 }, lead: "modes", only: ["scale", "cursor"],
  },
  {
    title: "The formula is the training",
    says: "This network has a million hidden units. The broad curves are trained, the dashed ones are a formula.",
    gestures: ["Ask the audience for a width up to a trillion and type it into the box: training takes no longer. A larger width raises the threshold, so lower the scale to see the plateaus again.", "Read the largest distance between formula and training below the picture."],
    page: train, values: { width: 1e6, scale: 3e-4, target: "low_rank", rank: 3 }, lead: "modes", only: ["width", "scale"],
  },
  {
    title: "Lazy or active: a map",
    says: "Which initializations find the truth behind the noise? Every cell of the map is a network, and none of them was trained.",
    gestures: ["Ask where the audience would initialize, and move the pointer there.", "Raise the noise: the region in which anything is learned shrinks, while the colors keep their meaning."],
    page: phase, values: {}, lead: "map", only: ["noise", "dim", "show"],
  },
  {
    title: "When to stop",
    says: "Two cells of the map, trained: the error on the truth falls, then rises again, because noise is learned after the signal.",
    gestures: ["Find the minimum of each curve: an active network (blue) gets far lower than a lazy one (orange).", "Scroll to the map below and touch any other cell: it is trained too."],
    page: phase, values: { dim: 60, cells: [-2.205882352941176, 1.976470588235294, -1.3235294117647058, 2.470588235294118] }, lead: "cells", only: ["noise", "key"],
  },
  {
    title: "Two phases under one strong direction",
    says: "When one direction of the inputs is strong, learning turns a corner: first along the correlation of inputs and output, then along what is left.",
    gestures: ["Follow the path from zero: it leaves along the spike and turns to the star, the target.", "Set the alignment to 1: spike and target are parallel, and the corner is gone."],
    page: twoPhases, values: { samples: "1000" }, lead: "plane", only: ["alignment", "spike"],
  },
];

/** The page of a step, which begins in the step's state. @param {Step} step @returns {Page} */
export const pageOf = ({ page, values }) => ({ ...page, controls: page.controls.map((c) => (c.name in values ? { ...c, initial: values[c.name] } : c)) });
