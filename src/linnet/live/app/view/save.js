// Pictures and numbers as files.
import { h } from "./dom.js";

/** Hands a file to the reader. @param {string} name @param {Blob} blob */
export function offer(name, blob) {
  const href = URL.createObjectURL(blob), link = /** @type {HTMLAnchorElement} */ (h("a", { href, download: name }));
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

/** The picture of a node as one SVG, with its colors written out and its maps inside. @param {HTMLElement} host */
export function asSvg(host) {
  const panels = /** @type {HTMLElement[]} */ ([...host.querySelectorAll(".panel")]), width = host.clientWidth, height = host.clientHeight;
  const style = getComputedStyle(document.documentElement);
  const parts = panels.map((box) => {
    const canvas = box.querySelector("canvas"), root = /** @type {SVGElement} */ (box.querySelector("svg")?.cloneNode(true));
    const image = canvas ? `<image x="${canvas.offsetLeft}" y="${canvas.offsetTop}" width="${canvas.clientWidth}" height="${canvas.clientHeight}" href="${canvas.toDataURL()}"/>` : "";
    return `<g transform="translate(${box.offsetLeft} ${box.offsetTop})">${image}${root.outerHTML}</g>`;
  });
  const whole = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="var(--paper)"/>${parts.join("")}</svg>`;
  return whole.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

/** @param {HTMLElement} host @param {string} name */
export async function savePng(host, name) {
  const image = new Image(), scale = 2;
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(asSvg(host))}`;
  await image.decode();
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { width: host.clientWidth * scale, height: host.clientHeight * scale }));
  const c = canvas.getContext("2d");
  c?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && offer(name, blob));
}

/** The numbers of a figure: each curve as two columns, a map as three. @param {import("./figure.js").Figure} figure */
export function asCsv(figure) {
  const quote = (/** @type {string} */ text) => `"${text.replaceAll('"', '""')}"`;
  if (figure.heat) {
    const { x, y, z, label } = figure.heat, lines = [[figure.x.label, figure.y.label, label].map(quote).join()];
    y.forEach((v, i) => x.forEach((u, j) => lines.push([u, v, z[i * x.length + j]].join())));
    return `${lines.join("\n")}\n`;
  }
  const curves = figure.curves.filter((c) => !c.quiet), longest = Math.max(0, ...curves.map((c) => c.x.length));
  const lines = [curves.flatMap((c, i) => [quote(`${figure.x.label} (${i + 1})`), quote(c.name ?? c.group ?? `curve ${i + 1}`)]).join()];
  for (let k = 0; k < longest; k++) lines.push(curves.map((c) => (k < c.x.length ? `${c.x[k]},${c.y[k]}` : ",")).join());
  return `${lines.join("\n")}\n`;
}
