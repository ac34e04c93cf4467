// Pages opened from a folder may not start a worker, in which the search runs: there it runs in an empty frame instead.
if (location.protocol === "file:") {
  // As between a page and a worker: a copy arrives, after whoever sent it has finished.
  const later = (data, deliver) => {
    const copy = structuredClone(data);
    setTimeout(() => deliver(copy));
  };
  window.Worker = class {
    constructor(script) {
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "";
      this.frame.onload = () => this.start(script);
      document.body.append(this.frame);
    }

    start(script) {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => later(data, (copy) => this.onmessage && this.onmessage({ data: copy }));
      const program = inside.document.createElement("script");
      program.src = script;
      program.onload = () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      };
      program.onerror = (event) => this.onerror && this.onerror(event);
      inside.document.body.append(program);
    }

    postMessage(data) {
      if (this.waiting) {
        this.waiting.push(data);
      } else {
        const inside = this.frame.contentWindow;
        later(data, (copy) => inside.dispatchEvent(new inside.MessageEvent("message", { data: copy })));
      }
    }

    terminate() {
      this.frame.remove();
    }
  };
}
