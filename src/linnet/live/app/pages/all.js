// The pages, in the order of the navigation.
import { page as depth } from "./depth.js";
import { page as features } from "./feature_learning.js";
import { page as phase } from "./phase.js";
import { page as bias } from "./spectral_bias.js";
import { page as train } from "./train.js";
import { page as twoPhases } from "./two_phases.js";

/** @type {import("./kinds.js").Page[]} */
export const PAGES = [train, phase, twoPhases, bias, features, depth];
