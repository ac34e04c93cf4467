// The search answers what people type: words that mean the same find the same, pages that have only some of the words
// come after those that have all, and guides come before the entries of the reference. The theme's own worker finds;
// what it finds is ordered here.
(() => {
  const SAME = [
    ["rich", "active"],
    ["lazy", "ntk"],
    ["overfitting", "overfit", "early", "stopping", "stop"],
    ["slides", "lecture", "teaching", "teach"],
    ["mup", "parametrization"],
    ["saddle", "plateau"],
    ["diverges", "diverge", "diverged", "divergence", "nan", "explodes", "stable"],
    ["initialization", "initialisation", "init"],
    ["memory", "oom"],
    ["gpu", "cuda"],
    ["csv", "table", "excel", "dataframe"],
    ["cite", "citation", "bibtex"],
    ["slow", "faster", "speed"],
    ["install", "pip"],
    ["error", "fails", "troubleshooting"],
    ["prove", "theorem"],
    ["optimizer", "optimiser", "muon"],
    ["float32", "precision", "fp32"],
  ];
  // Several words that mean one: typed together, they also find it.
  const PHRASES = [
    ["feature learning", "active"],
    ["width infinity", "width"],
    ["infinite width", "width"],
    ["mean field", "width"],
    ["early stopping", "stop"],
    ["held out", "validation"],
  ];
  const SMALL = new Set(
    "a an and are as at be by can do does for from get have how i in is it its my of on one or say should so that the there this to too up us versus vs want was what when where which who why will with you your".split(" "),
  );
  // What a reader wants first. The reference is for who knows a name.
  const KINDS = [
    [/^(get_started|concepts|which_function|troubleshooting|howto\/)/, 2],
    [/^(tutorials\/|index|scope|live)/, 1.5],
    [/^(claims\/|coverage|errata|changelog|figures|tables|benchmarks\/)/, -0.5],
    [/^reference\//, -3],
  ];
  const PAGES = 60; // results of each kind of question that are ordered

  const words = (text) => text.normalize("NFKD").toLowerCase().split(/[\s\-_,:!?=[\]()"`/]+|\.(?!\d)/u).filter(Boolean);
  const alternatives = (word) => [word, ...new Set(SAME.filter((one) => one.includes(word)).flat().filter((other) => other !== word))];
  const value = (word) => ({ type: "value", data: { field: "*", value: { type: "prefix", data: word }, range: { start: 0, end: word.length, value: 0 } } });
  const joined = (operator, operands) => (operands.length === 1 ? operands[0] : { type: "operator", data: { operator, operands } });
  const meaning = (word) => joined("or", alternatives(word).map(value));

  // The questions that are asked in turn: all words; all but the small ones; any of them.
  function questions(input) {
    const all = words(input);
    const large = all.filter((word) => !SMALL.has(word));
    const meant = large.length ? large : all;
    const one = PHRASES.filter(([phrase]) => ` ${all.join(" ")} `.includes(` ${phrase} `)).map(([, word]) => word);
    const asked = [joined("and", all.map(meaning))];
    if (meant.length < all.length) asked.push(joined("and", meant.map(meaning)));
    if (meant.length > 1 || one.length) asked.push(joined("or", [...meant, ...one].map(meaning)));
    return { asked, meant: [...meant.map(alternatives)], typed: all.join(" ") };
  }

  function score(item, root, place, meant, typed) {
    const title = words(item.title.replace(/<[^>]*>/g, " "));
    const page = words((item.path || []).join(" "));
    const body = words((item.text || "").replace(/<[^>]*>/g, " "));
    const among = (held) => (word) => held.some((other) => (word.length < 3 ? other === word : other.startsWith(word)));
    const named = meant.filter((same) => same.some(among([...title, ...page]))).length / meant.length;
    const exact = meant.filter(([word]) => among([...title, ...page])(word)).length / meant.length;
    const said = meant.filter((same) => same.some(among([...title, ...page, ...body]))).length / meant.length;
    const kind = KINDS.find(([path]) => path.test(item.location.replace(root, "")));
    const whole = title.join(" ") === typed || title.at(-1) === typed.replace(/\(\)$/, "") ? 6 : 0;
    return 10 * said + 2 * named + 2 * exact + whole + (whole ? 0 : kind ? kind[1] : 0) - place / PAGES;
  }

  const Plain = window.Worker;
  window.Worker = class {
    constructor(script, options) {
      this.inner = new Plain(script, options);
      this.search = String(script).includes("/search.");
      this.root = this.search ? new URL("../../../", new URL(script, location.href)).href : "";
      this.inner.onmessage = (event) => this.heard(event);
      this.inner.onerror = (event) => this.onerror && this.onerror(event);
      this.inner.onmessageerror = (event) => this.onmessageerror && this.onmessageerror(event);
      this.waiting = [];
    }

    terminate() {
      this.inner.terminate();
    }

    postMessage(message, ...rest) {
      if (!this.search || message.type === 0) {
        this.items = this.search ? message.data.items : null;
        this.inner.postMessage(message, ...rest);
        return;
      }
      const input = message.data.input;
      this.query = message.data;
      this.found = new Map();
      this.question = null;
      if (typeof input !== "string" || !words(input).length) {
        this.ask(message.data);
        return;
      }
      this.question = questions(input);
      this.left = [...this.question.asked];
      this.ask({ ...message.data, page: undefined, input: this.left.shift() });
    }

    // One question at a time: what was asked before the reader typed on is not waited for any more.
    ask(data) {
      this.waiting.push(data);
      if (this.waiting.length === 1) this.inner.postMessage({ type: 2, data });
      else this.waiting = [this.waiting[0], data];
    }

    heard(event) {
      const message = event.data;
      if (!this.search || message.type !== 3) {
        if (this.onmessage) this.onmessage(event);
        return;
      }
      const asked = this.waiting.shift();
      if (this.waiting.length) {
        this.inner.postMessage({ type: 2, data: this.waiting[0] });
        return;
      }
      if (!this.question) {
        if (this.onmessage) this.onmessage(event);
        return;
      }
      const next = message.data.pagination.next;
      if (next && !asked.page) {
        this.ask({ ...asked, page: { id: next.id, size: PAGES, from: 0 } }); // the first ten were not all
        return;
      }
      message.data.items.forEach((item) => this.found.has(item.id) || this.found.set(item.id, item));
      if (this.left.length && this.found.size < PAGES) {
        this.ask({ ...this.query, page: undefined, input: this.left.shift() });
        return;
      }
      const { meant, typed } = this.question;
      const places = [...this.found.values()].map((item, place) => [score(this.items[item.id], this.root, place, meant, typed), item]);
      const items = places.sort((a, b) => b[0] - a[0]).slice(0, PAGES).map(([, item]) => item);
      const pagination = { total: items.length };
      if (this.onmessage) this.onmessage({ data: { type: 3, data: { ...message.data, items, pagination } } });
    }
  };
})();
