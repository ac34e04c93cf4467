// Filters of long tables: words that a row must hold, and a choice for each `data-` attribute of the rows.
// Without this script the tables are simply whole. It asks for nothing and keeps nothing.
function fill(place) {
  const kind = place.dataset.rows;
  const all = kind === "tr" ? place.parentElement.querySelectorAll(".filtered tbody tr") : place.parentElement.querySelectorAll("li");
  const rows = [...all].filter((row) => !row.closest("nav"));
  const words = document.createElement("input");
  words.type = "search";
  words.placeholder = "Theorem 2, kernel, eq. (27) ...";
  words.setAttribute("aria-label", "Words that a row must hold");
  const shown = document.createElement("output");
  const choices = ["paper", "verdict"]
    .filter((name) => rows.some((row) => row.dataset[name]))
    .map((name) => {
      const choice = document.createElement("select");
      choice.setAttribute("aria-label", name);
      choice.dataset.name = name;
      const values = [...new Set(rows.map((row) => row.dataset[name]))];
      for (const value of ["", ...values]) {
        const count = rows.filter((row) => !value || row.dataset[name] === value).length;
        choice.add(new Option(value ? `${value} (${count})` : `every ${name}`, value));
      }
      return choice;
    });
  const plain = (text) => " " + text.toLowerCase().replace(/[(),:;]|\.(?!\d)/g, " ").replace(/\s+/g, " ").trim() + " ";
  const texts = rows.map((row) => plain(row.textContent));
  function show() {
    const wanted = plain(words.value);
    const parts = wanted.trim().split(" ");
    // The words as they stand, where any row has them so; otherwise rows that have each of them somewhere.
    const tries = [wanted, wanted.trim()].map((phrase) => texts.map((text) => text.includes(phrase)));
    const fitting = tries.find((found) => found.includes(true)) || texts.map((text) => parts.every((word) => text.includes(word)));
    let count = 0;
    rows.forEach((row, index) => {
      const chosen = choices.every((choice) => !choice.value || row.dataset[choice.dataset.name] === choice.value);
      row.hidden = !(fitting[index] && chosen);
      count += !row.hidden;
    });
    const asked = Boolean(words.value.trim()) || choices.some((choice) => choice.value);
    for (const fold of new Set(rows.map((row) => row.closest("details.filtered")).filter(Boolean))) {
      const fits = [...fold.querySelectorAll("tbody tr")].some((row) => !row.hidden);
      fold.hidden = asked && !fits;
      fold.open = asked && fits;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
  }
  words.addEventListener("input", show);
  choices.forEach((choice) => choice.addEventListener("change", show));
  place.replaceChildren(words, ...choices, shown);
  show();
}

document.querySelectorAll("div.filter[data-rows]").forEach(fill);
