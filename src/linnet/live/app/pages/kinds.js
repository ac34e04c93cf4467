// What a page is. Types alone.

/**
 * @typedef {import("../view/controls.js").Control} Control
 * @typedef {import("../view/controls.js").State} State
 * @typedef {import("../view/figure.js").Figure} Figure
 * @typedef {Record<string, any>} Results of the parts, by name
 */
/**
 * @typedef {object} Part what is computed in one go, by the worker or at once
 * @property {string} name
 * @property {string} [job] of the worker
 * @property {(settings: any) => any} [now] computed here instead: for what takes less than a frame
 * @property {(state: State) => any} settings what it is computed from; null: nothing is to be computed
 */
/**
 * @typedef {object} View
 * @property {string} name
 * @property {string} title
 * @property {string[]} needs parts
 * @property {(state: State) => boolean} [when] whether it is there at all
 * @property {(results: Results, state: State) => Figure} [draw]
 * @property {(results: Results, state: State) => Node} [show] for a view that is no picture
 * @property {(results: Results, state: State) => string} about the sentence below it: what to look at
 * @property {number} [height]
 * @property {boolean} [wide]
 * @property {(x: number, y: number, state: State) => State} [pick] what a touch changes
 * @property {(state: State) => [number, number] | null} [picked] where the keys move from
 * @property {string} [empty] what to do to see it
 */
/**
 * @typedef {object} Page
 * @property {string} name in the address
 * @property {string} title
 * @property {string} card one sentence on the first page
 * @property {string} introduction
 * @property {Control[]} controls
 * @property {Part[]} parts
 * @property {View[]} views
 * @property {boolean} [freezes]
 * @property {(state: State) => string} [python] a script that computes the numbers shown
 */
export {};
