"use strict";
(() => {
  const unfold = () => {
    const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!at) return;
    for (let part = at.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    at.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  const box = document.getElementById("claims");
  if (!box) return;
  box.hidden = false;
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const buttons = [...box.querySelectorAll("button")];
  const claims = [...document.querySelectorAll(".claim")];
  const texts = new Map(claims.map((claim) => [claim, claim.textContent.toLowerCase()]));
  let kind = "";
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const claim of claims) {
      const fits = (!kind || claim.dataset.kinds.split(" ").includes(kind))
        && words.every((word) => texts.get(claim).includes(word));
      claim.hidden = !fits;
      count += fits;
    }
    /* While one looks for claims, the figures between them step aside. */
    const active = Boolean(kind || words.length);
    document.body.classList.toggle("filtering", active);
    for (const section of document.querySelectorAll(".claims")) {
      section.hidden = !section.querySelector(".claim:not([hidden])");
      section.open = active;
      if (active && !section.hidden) section.closest("details.paper").open = true;
    }
    shown.textContent = kind || words.length ? `${count} of ${claims.length} shown` : "";
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      kind = button.dataset.kind;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      filter();
    });
  }
  search.addEventListener("input", filter);
})();
