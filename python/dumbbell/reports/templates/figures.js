"use strict";

// Pictures become interactive charts when they come into view; without scripts they stay pictures.
// Where the page is narrower than a picture, the chart is laid out anew for the width that there is.

window.dumbbellFigures = {};

const PARTS = ["hconcat", "vconcat", "concat", "layer"];
const LETTER = 6.6;
const TITLE_LETTER = 7.4;
const KEY = 36;
const BESIDE_PLOT = 70;
const NARROWEST = 120;
const TRIES = 3;
const SAME = 8;
const LINE = 15;
const NAMES_SHARE = 0.42;

const views = (view) => [view, ...[...PARTS.flatMap((part) => view[part] ?? []), view.spec ?? []].flat().flatMap(views)];

// Break a text, or lines of one, anew into lines of so many letters.
function wrapped(text, letters) {
  const lines = [""];
  for (const word of [text].flat().join(" ").split(" ")) {
    const line = `${lines[lines.length - 1]} ${word}`.trim();
    if (line.length > letters && line !== word) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

function retitled(title, room) {
  const given = typeof title === "object" && !Array.isArray(title) ? title : { text: title };
  const said = { ...given, text: wrapped(given.text ?? "", room / TITLE_LETTER) };
  if (given.subtitle?.length) said.subtitle = wrapped(given.subtitle, room / LETTER);
  return said;
}

// Names along an axis stand upright where they would run into each other.
function turned(x, width) {
  const names = x.scale?.domain;
  if (x.type !== "nominal" || !Array.isArray(names)) return x;
  const tight = Math.max(...names.map((name) => String(name).length)) * LETTER > width / names.length;
  const { labelExpr, ...axis } = x.axis ?? {};
  return { ...x, axis: tight ? { ...axis, labelAngle: -90 } : { ...axis, ...(labelExpr && { labelExpr }) } };
}

// Long names of rows are broken into lines; the result says how many the longest takes.
function folded(view, room) {
  const y = view.encoding?.y;
  const names = y?.scale?.domain;
  if (y?.type !== "nominal" || !Array.isArray(names)) return 1;
  const letters = Math.floor((NAMES_SHARE * room) / LETTER);
  if (Math.max(...names.map((name) => String(name).length)) <= letters) return 1;
  const lines = Object.fromEntries(names.map((name) => [name, wrapped(name, letters)]));
  y.axis = { ...y.axis, labelExpr: `${JSON.stringify(lines)}[datum.label]`, labelLineHeight: LINE - 2 };
  return Math.max(...Object.values(lines).map((each) => each.length));
}

function relaid(encoding, width) {
  for (const [name, channel] of Object.entries(encoding)) {
    if (channel.legend) delete channel.legend.orient;
    // What the plot on the left said for all of its row, each plot now says itself.
    if (name === "y" && channel.axis?.labels === false) channel.axis = { ...channel.axis, labels: true, ticks: true };
    if (name === "x") {
      encoding.x = turned(channel, width);
      if (channel.title) encoding.x.title = wrapped(channel.title, width / LETTER);
    }
  }
}

// Names of a legend, as far as its scale says them.
const named = (view) => Object.entries(view.encoding ?? {})
  .filter(([name, channel]) => !["x", "y", "xOffset"].includes(name) && channel.legend !== null)
  .flatMap(([, channel]) => channel.scale?.domain ?? []);

// The same chart with plots below each other, none wider than `width`, and legends below them.
function narrowed(chart, room, width) {
  const spec = structuredClone(chart);
  const all = views(spec);
  const letters = Math.max(1, ...all.flatMap(named).map((name) => String(name).length));
  for (const view of all) {
    if (view.hconcat) {
      view.vconcat = view.hconcat;
      delete view.hconcat;
    }
    if (view.concat) view.columns = 1;
    if (view.width) view.width = typeof view.width === "number" ? Math.min(view.width, width) : width;
    if (view.title) view.title = retitled(view.title, view === spec ? room : width);
    if (view.encoding) relaid(view.encoding, width);
  }
  const lines = Math.max(...all.map((view) => folded(view, room)));
  for (const view of all) if (view.height?.step) view.height.step = Math.max(view.height.step, lines * LINE);
  const columns = Math.max(1, Math.floor(room / (letters * LETTER + KEY)));
  const layout = { bottom: { anchor: "start", direction: "vertical" } };
  spec.config.legend = { ...spec.config.legend, orient: "bottom", columns, labelLimit: room - KEY, layout };
  return spec;
}

// With `ast` Vega makes no functions of texts, which served pages forbid.
async function embedded(spec) {
  const drawing = document.createElement("div");
  const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  await vegaEmbed(drawing, spec, { actions: false, ast: true, renderer: "svg", tooltip: { theme } });
  return drawing;
}

const widthOf = (drawing) => Number(drawing.querySelector("svg").getAttribute("width"));

async function drawn(chart, room, natural) {
  if (room >= natural) return embedded(chart);
  const widths = views(chart).map((view) => view.width).filter(Number.isFinite);
  let width = Math.max(NARROWEST, Math.min(room - BESIDE_PLOT, ...widths));
  let drawing = await embedded(narrowed(chart, room, width));
  for (let left = TRIES; left > 1 && widthOf(drawing) > room && width > NARROWEST; left -= 1) {
    width = Math.max(NARROWEST, width - (widthOf(drawing) - room));
    drawing = await embedded(narrowed(chart, room, width));
  }
  return drawing;
}

async function enliven(chart) {
  const name = chart.dataset.figure;
  const picture = chart.querySelector("img");
  if (picture) {
    chart.dataset.width = picture.getAttribute("width");
    chart.dataset.said = picture.alt;
  }
  const natural = Number(chart.dataset.width);
  const room = Math.min(chart.clientWidth, natural);
  if (Math.abs(room - Number(chart.dataset.room ?? 0)) < SAME) return;
  chart.dataset.room = room;
  await Promise.all([load(`${siteRoot}assets/vega.js`), load(`figures/${name}.js`)]);
  const drawing = await drawn(window.dumbbellFigures[name], room, natural);
  if (Number(chart.dataset.room) !== room) return;
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", chart.dataset.said);
  chart.replaceChildren(drawing);
}

const shown = new Set();

function enlivenShown() {
  for (const chart of shown) enliven(chart).catch((error) => console.error(error));
}

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) shown.add(entry.target);
    else shown.delete(entry.target);
  }
  enlivenShown();
}, { rootMargin: "400px" });

document.querySelectorAll(".chart").forEach((chart) => observer.observe(chart));
window.addEventListener("resize", enlivenShown);
document.querySelectorAll(".hint[hidden]").forEach((hint) => { hint.hidden = false; });
