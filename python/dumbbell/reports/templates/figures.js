"use strict";

// Replace pictures by interactive charts when they come into view. A page narrower than a picture
// gets a chart with a layout for its width.

window.dumbbellFigures = {};

const COMPOSITIONS = ["hconcat", "vconcat", "concat", "layer"];

// Widths and heights in pixels.
const LETTER = 6.6;
const TITLE_LETTER = 7.4;
const LEGEND_SYMBOL = 36;
const Y_AXIS = 70;
const NARROWEST_PLOT = 120;
const RESIZE_MIN = 8;
const LINE = 15;

const ATTEMPTS = 3;
const ROW_NAMES_SHARE = 0.42;

const views = (view) => [view, ...[...COMPOSITIONS.flatMap((kind) => view[kind] ?? []), view.spec ?? []].flat().flatMap(views)];

// Break a text, or an array of lines, into lines of at most so many letters.
function wrapped(text, letters) {
  const lines = [""];
  for (const word of [text].flat().join(" ").split(" ")) {
    const line = `${lines[lines.length - 1]} ${word}`.trim();
    if (line.length > letters && line !== word) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

function wrappedTitle(title, room) {
  const source = typeof title === "object" && !Array.isArray(title) ? title : { text: title };
  const result = { ...source, text: wrapped(source.text ?? "", room / TITLE_LETTER) };
  if (source.subtitle?.length) result.subtitle = wrapped(source.subtitle, room / LETTER);
  return result;
}

// Turn names along the x axis upright if they would overlap.
function withUprightNames(x, width) {
  const names = x.scale?.domain;
  if (x.type !== "nominal" || !Array.isArray(names)) return x;
  const overlaps = Math.max(...names.map((name) => String(name).length)) * LETTER > width / names.length;
  const { labelExpr, ...axis } = x.axis ?? {};
  return { ...x, axis: overlaps ? { ...axis, labelAngle: -90 } : { ...axis, ...(labelExpr && { labelExpr }) } };
}

// Wrap long names of rows; return the number of lines of the longest.
function wrapRowNames(view, room) {
  const y = view.encoding?.y;
  const names = y?.scale?.domain;
  if (y?.type !== "nominal" || !Array.isArray(names)) return 1;
  const letters = Math.floor((ROW_NAMES_SHARE * room) / LETTER);
  if (Math.max(...names.map((name) => String(name).length)) <= letters) return 1;
  const lines = Object.fromEntries(names.map((name) => [name, wrapped(name, letters)]));
  y.axis = { ...y.axis, labelExpr: `${JSON.stringify(lines)}[datum.label]`, labelLineHeight: LINE - 2 };
  return Math.max(...Object.values(lines).map((name) => name.length));
}

function adaptEncoding(encoding, width) {
  for (const [name, channel] of Object.entries(encoding)) {
    if (channel.legend) delete channel.legend.orient;
    // In a row of plots only the left one has labels; below each other, each plot needs them.
    if (name === "y" && channel.axis?.labels === false) channel.axis = { ...channel.axis, labels: true, ticks: true };
    if (name === "x") {
      encoding.x = withUprightNames(channel, width);
      if (channel.title) encoding.x.title = wrapped(channel.title, width / LETTER);
    }
  }
}

// Names in a legend, if the domain of its scale lists them.
const legendNames = (view) => Object.entries(view.encoding ?? {})
  .filter(([name, channel]) => !["x", "y", "xOffset"].includes(name) && channel.legend !== null)
  .flatMap(([, channel]) => channel.scale?.domain ?? []);

// Arrange the plots of a chart below each other, at most `width` wide, and the legends below them.
function narrowed(chart, room, width) {
  const spec = structuredClone(chart);
  const all = views(spec);
  const letters = Math.max(1, ...all.flatMap(legendNames).map((name) => String(name).length));
  for (const view of all) {
    if (view.hconcat) {
      view.vconcat = view.hconcat;
      delete view.hconcat;
    }
    if (view.concat) view.columns = 1;
    if (view.width) view.width = typeof view.width === "number" ? Math.min(view.width, width) : width;
    if (view.title) view.title = wrappedTitle(view.title, view === spec ? room : width);
    if (view.encoding) adaptEncoding(view.encoding, width);
  }
  const lines = Math.max(...all.map((view) => wrapRowNames(view, room)));
  for (const view of all) if (view.height?.step) view.height.step = Math.max(view.height.step, lines * LINE);
  const columns = Math.max(1, Math.floor(room / (letters * LETTER + LEGEND_SYMBOL)));
  const layout = { bottom: { anchor: "start", direction: "vertical" } };
  spec.config.legend = { ...spec.config.legend, orient: "bottom", columns, labelLimit: room - LEGEND_SYMBOL, layout };
  return spec;
}

// The policy of served pages forbids functions made from texts; with `ast` Vega makes none.
async function embedded(spec) {
  const drawing = document.createElement("div");
  const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  await vegaEmbed(drawing, spec, { actions: false, ast: true, renderer: "svg", tooltip: { theme } });
  return drawing;
}

const widthOf = (drawing) => Number(drawing.querySelector("svg").getAttribute("width"));

async function fittedDrawing(chart, room, natural) {
  if (room >= natural) return embedded(chart);
  const widths = views(chart).map((view) => view.width).filter(Number.isFinite);
  let width = Math.max(NARROWEST_PLOT, Math.min(room - Y_AXIS, ...widths));
  let drawing = await embedded(narrowed(chart, room, width));
  for (let left = ATTEMPTS; left > 1 && widthOf(drawing) > room && width > NARROWEST_PLOT; left -= 1) {
    width = Math.max(NARROWEST_PLOT, width - (widthOf(drawing) - room));
    drawing = await embedded(narrowed(chart, room, width));
  }
  return drawing;
}

async function makeInteractive(chart) {
  const name = chart.dataset.figure;
  const picture = chart.querySelector("img");
  if (picture) {
    chart.dataset.width = picture.getAttribute("width");
    chart.dataset.description = picture.alt;
  }
  const natural = Number(chart.dataset.width);
  const room = Math.min(chart.clientWidth, natural);
  if (Math.abs(room - Number(chart.dataset.room ?? 0)) < RESIZE_MIN) return;
  chart.dataset.room = room;
  await Promise.all([load(`${siteRoot}assets/vega.js`), load(`figures/${name}.js`)]);
  const drawing = await fittedDrawing(window.dumbbellFigures[name], room, natural);
  if (Number(chart.dataset.room) !== room) return;
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", chart.dataset.description);
  chart.replaceChildren(drawing);
}

const visible = new Set();

function updateVisible() {
  for (const chart of visible) makeInteractive(chart).catch((error) => console.error(error));
}

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) visible.add(entry.target);
    else visible.delete(entry.target);
  }
  updateVisible();
}, { rootMargin: "400px" });

document.querySelectorAll(".chart").forEach((chart) => observer.observe(chart));
window.addEventListener("resize", updateVisible);
document.querySelectorAll(".hint[hidden]").forEach((hint) => { hint.hidden = false; });
