// What runs beside the page: each request names a job; answers carry the number of the request.
import { cell, map } from "./phase.js";
import { labelNoise, spectralBias } from "./bias.js";
import { deep } from "./deep.js";
import { featureLearning } from "./features.js";
import { sampledErrors, twoPhases } from "./spiked.js";
import { train } from "./train.js";

/** @type {Record<string, (settings: any, tell: (partial: any) => void) => any>} */
export const JOBS = { train, map, cell, twoPhases, sampledErrors, spectralBias, labelNoise, featureLearning, deep };

/** Answers requests of the page. @param {any} scope of the worker */
export function listen(scope) {
  scope.onmessage = (/** @type {MessageEvent} */ { data: { id, job, settings } }) => {
    try {
      scope.postMessage({ id, done: true, result: JOBS[job](settings, (result) => scope.postMessage({ id, done: false, result })) });
    } catch (error) {
      scope.postMessage({ id, done: true, error: error instanceof Error ? error.message : String(error) });
    }
  };
}
