// The pages, in the order of the navigation.
import { page as train } from "./train.js";
import { page as phase } from "./phase.js";

/** @type {import("./kinds.js").Page[]} */
export const PAGES = [train, phase];
