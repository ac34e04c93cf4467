// One worker for one stream of requests: the newest wins.

const PATIENCE = 400; // milliseconds after which a request that is outdated is ended

/** @typedef {{ job: string, settings: any, done: (result: any, final: boolean) => void, failed: (message: string) => void }} Request */

let address = "";
/** Where the worker's script is: its text is within this page. */
function workerAddress() {
  if (!address) address = URL.createObjectURL(new Blob([/** @type {any} */ (globalThis).linnetWorker], { type: "text/javascript" }));
  return address;
}

export class Engine {
  constructor() {
    /** @type {Worker | null} */ this.worker = null;
    /** @type {Request | null} */ this.running = null;
    /** @type {Request | null} */ this.waiting = null;
    this.id = 0;
    this.began = 0;
    this.timer = 0;
  }

  /** Asks for a job; what was asked for before and is not done is forgotten. @param {Request} request */
  ask(request) {
    this.waiting = request;
    if (!this.running) return this.next();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.end(), Math.max(0, PATIENCE - (performance.now() - this.began)));
  }

  /** Ends what runs, and goes on with what waits. */
  end() {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.worker = this.running = null;
    this.next();
  }

  /** Forgets everything. */
  stop() {
    this.waiting = null;
    if (this.running) this.end();
  }

  next() {
    const request = this.waiting;
    if (!request) return;
    [this.running, this.waiting, this.began] = [request, null, performance.now()];
    if (!this.worker) {
      this.worker = new Worker(workerAddress());
      this.worker.onmessage = ({ data }) => this.answered(data);
    }
    this.worker.postMessage({ id: ++this.id, job: request.job, settings: request.settings });
  }

  /** @param {{ id: number, done: boolean, result?: any, error?: string }} answer */
  answered({ id, done, result, error }) {
    if (id !== this.id || !this.running) return;
    const request = this.running;
    if (done) {
      this.running = null;
      clearTimeout(this.timer);
    }
    if (error !== undefined) request.failed(error);
    else request.done(result, done);
    if (done) this.next();
  }
}
