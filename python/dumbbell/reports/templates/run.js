"use strict";

// Show the run that the address names, #TEST/KEY. Two scripts have its data: the list of the test and
// the file of the run.

const [POINT, REPETITION, KEY, STATE, PLAN, VALUES, REASON] = [0, 1, 2, 3, 4, 5, 6];
const HEIGHT = 150;
const DESCRIBED_MAX = 8;

const tests = new Map();
const runs = new Map();

window.dumbbellTest = (data) => tests.set(data.test, data);
window.dumbbellRun = (key, packed) => runs.set(key, packed);

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function newElement(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== null) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const query = (selector) => document.querySelector(selector);

function showProblem(text) {
  query("#problem").textContent = text;
  query("#problem").hidden = false;
  query("#run").hidden = true;
}

const pointText = (test, row) =>
  test.axes.map((axis, place) => axis.values[row[POINT][place]][1]).join(", ");

function showTitle(test, row) {
  const point = pointText(test, row);
  query("#title").textContent = point;
  query("#subtitle").textContent = `${test.title}. Repetition ${row[REPETITION]}${test.plans[row[PLAN]].quick ? ", a quick run" : ""}.`;
  query("#subtitle").hidden = false;
  query("#crumb").textContent = `Run ${row[KEY].slice(0, 8)}`;
  const list = newElement("a", `Runs: ${test.test}`, { href: `runs/${encodeURIComponent(test.test)}.html` });
  const crumb = query("#crumb").previousElementSibling?.dataset.list ? query("#crumb").previousElementSibling : newElement("li", null, { "data-list": "" });
  crumb.replaceChildren(list);
  query("#crumb").before(crumb);
  document.title = `${point}, repetition ${row[REPETITION]}, ${test.test} – a run of ${test.study}`;
}

function linkTo(test, row, words) {
  return newElement("a", words, { href: `#${test.test}/${row[KEY]}` });
}

// Link to the previous and the next run, to other repetitions, and to other values of each axis.
function showLinks(test, row) {
  const finished = test.rows.filter((run) => run[STATE] === 0);
  const place = finished.indexOf(row);
  const list = document.createElement("ul");
  const add = (words, items) => {
    if (!items.length) return;
    const entry = newElement("li", words ? `${words}: ` : "");
    items.forEach((item, number) => entry.append(number ? ", " : "", item));
    list.append(entry);
  };
  const neighbours = [];
  if (place > 0) neighbours.push(linkTo(test, finished[place - 1], "previous run"));
  if (place < finished.length - 1) neighbours.push(linkTo(test, finished[place + 1], "next run"));
  add("", neighbours);
  const samePlan = finished.filter((run) => run[PLAN] === row[PLAN]);
  const isSamePoint = (run, freeAxis) => run[POINT].every((value, axis) => axis === freeAxis || value === row[POINT][axis]);
  const choice = (run, words) => (run === row ? newElement("b", words) : linkTo(test, run, words));
  const repetitions = samePlan.filter((run) => isSamePoint(run, -1));
  if (repetitions.length > 1) add("repetition", repetitions.map((run) => choice(run, String(run[REPETITION]))));
  test.axes.forEach((axis, number) => {
    const others = samePlan.filter((run) => run[REPETITION] === row[REPETITION] && isSamePoint(run, number));
    if (others.length > 1) add(axis.name, others.map((run) => choice(run, axis.values[run[POINT][number]][1])));
  });
  query(".steps").replaceChildren(list);
}

function showFacts(test, row, run) {
  const options = test.axes.map((axis, place) => axis.values[row[POINT][place]][2]).join("");
  const entries = [
    ["Length", `${run.duration_s} s, ${run.packets.toLocaleString("en")} packets`],
    ["Seed", run.seed],
    ["Key", run.key],
    ["Results", `runs/${run.key.slice(0, 2)}/${run.key}`],
    ["Command", `${test.command}${options}${test.plans[row[PLAN]].options}`],
  ];
  query("#run .facts").replaceChildren(...entries.flatMap(([name, value], number) => {
    const description = document.createElement("dd");
    description.append(number === 0 ? value : newElement("code", value));
    return [newElement("dt", name), description];
  }));
}

function formatted(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toExponential(3);
  return String(Number(value.toPrecision(4)));
}

function showMetrics(test, row) {
  query("#metrics tbody").replaceChildren(...test.quantities.map((metric, place) => {
    const line = document.createElement("tr");
    const name = newElement("th", null, { scope: "row" });
    name.append(newElement("code", metric.name));
    const unit = metric.unit && row[VALUES][place] !== null ? ` ${metric.unit}` : "";
    line.append(name, newElement("td", formatted(row[VALUES][place]) + unit), newElement("td", metric.what));
    return line;
  }));
}

function showTotals(run) {
  const tables = run.totals.map((total) => {
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    const isNumber = (place) => place >= total.named;
    total.heads.forEach((text, place) => head.append(newElement("th", text, { scope: "col", class: isNumber(place) ? "number" : "" })));
    const body = table.createTBody();
    for (const row of total.rows) {
      const line = body.insertRow();
      row.forEach((text, place) => line.append(place ? newElement("td", text, { class: isNumber(place) ? "number" : "" }) : newElement("th", text, { scope: "row" })));
    }
    if (total.more) table.append(newElement("caption", `The first ${total.rows.length} of ${total.rows.length + total.more} rows; run.json of this run has all.`));
    const scroll = newElement("div", null, { class: "scroll", tabindex: "0", role: "region", "aria-label": total.heads[0] });
    scroll.append(table);
    watchHidden(scroll);
    return total.note ? [scroll, newElement("p", total.note)] : [scroll];
  });
  query("#totals").replaceChildren(newElement("h2", "Totals"), ...tables.flat());
}

function sampling(run) {
  if (!run.panels.length) return "This run has no samples. Its totals are below.";
  const points = Math.max(0, ...run.panels.filter((panel) => !panel.rate).flatMap((panel) => panel.lines.map((line) => line[1].length)));
  const samples = Math.max(run.samples.flows, run.samples.queues);
  const count = samples.toLocaleString("en");
  const thinned = points < samples
    ? `Each line shows at most ${points.toLocaleString("en")} of ${count} samples: the first, lowest and highest of each of ${run.spans} spans.`
    : `Each line shows all of its ${count} samples.`;
  const few = run.drawn < run.lines ? ` The figures show ${run.drawn} of ${run.lines.toLocaleString("en")} flows, spread evenly over the order of their goodputs.` : "";
  const apart = run.round_trips_apart ? ` Samples are ${Math.round(run.round_trips_apart)} round trips apart, so they are dots: a line would show a beat that the sawtooth does not have.` : "";
  const bands = run.panels.some((panel) => panel.bands.length) ? " A band shows equal flows: their range, and their mean as a line." : "";
  const capacity = run.panels.some((panel) => panel.capacity) ? " The grey area is the capacity of the bottleneck." : "";
  return `${thinned}${apart}${bands}${capacity} Rates are exact means over spans of ${Number((run.duration_s / run.spans).toPrecision(2))} s, or between samples that are further apart.${few} Metrics use all samples. Point at a line for its name and value. Drag to move in time, hold Shift while scrolling to zoom, double-click to reset.`;
}

// Later lines are thinner, so that the lines below them stay visible.
const widths = (count) => Array.from({ length: count }, (_, place) => 1.8 / (1 + 0.5 * Math.min(place, 4)));

// A flow has one colour in all panels: that of its algorithm, if it is the first. Queues have others.
function colourScale(panel, run) {
  const { colours } = window.dumbbellLooks;
  const present = new Set([...panel.lines, ...panel.bands].map((line) => line[0]));
  const known = run.names.filter((name) => present.has(name));
  if (known.length === present.size) return { names: known, range: known.map((name) => run.colours[run.names.indexOf(name)]) };
  const names = [...present];
  return { names, range: names.map((name, place) => colours[place % colours.length]) };
}

// The capacity of the bottleneck, behind its throughput.
function capacityLayer(panel, x, y) {
  const [times, rates] = panel.capacity;
  return {
    data: { values: times.map((time, place) => ({ name: "capacity of the bottleneck", time, value: rates[place] })) },
    mark: { type: "area", interpolate: "step-after", color: "#d4d4d4", opacity: 0.75, clip: true },
    encoding: {
      x,
      y,
      tooltip: [
        { field: "name", title: "line" },
        { field: "time", type: "quantitative", title: "from (s)", format: ".6~g" },
        { field: "value", type: "quantitative", title: "Mbit/s", format: ".4~g" },
      ],
    },
  };
}

// The range and the mean of equal flows.
function bandLayers(panel, x, y, color) {
  const values = panel.bands.flatMap(([name, times, low, mean, high]) => times.map((time, place) => ({ name, time, low: low[place], value: mean[place], high: high[place] })));
  const number = (field, title) => ({ field, type: "quantitative", title, format: ".4~g" });
  const tooltip = [
    { field: "name", title: "line" },
    number("time", "time (s)"),
    number("low", "lowest"),
    number("value", `mean ${panel.title}`),
    number("high", "highest"),
  ];
  const low = { ...y, field: "low" };
  return [
    { data: { values }, mark: { type: "area", opacity: 0.25, clip: true, interpolate: panel.joined }, encoding: { x, y: low, y2: { field: "high" }, color, tooltip } },
    { data: { values }, mark: { type: "line", interpolate: panel.joined, strokeWidth: 1.6, strokeJoin: "round", clip: true, point: "transparent" }, encoding: { x, y, color, tooltip } },
  ];
}

function panelSpec(panel, run, width, isLast) {
  const { names, range } = colourScale(panel, run);
  // Samples far apart make no line: it would show a beat with the sawtooth of the window.
  const isDots = run.round_trips_apart && !panel.rate && panel.lines.length > 0;
  const legend = (names.length > 1 && names.length <= 8) || panel.bands.length ? { orient: "top", symbolType: isDots ? "circle" : "stroke", symbolOpacity: 1 } : null;
  const values = panel.lines.flatMap(([name, times, series]) => times.map((time, place) => ({ name, time, value: series[place] })));
  const highest = [...panel.lines.map((line) => line[2]), ...panel.bands.map((band) => band[4]), panel.capacity ? panel.capacity[1] : []];
  const high = highest.flat().reduce((maximum, value) => Math.max(maximum, value), 0);
  const x = { field: "time", type: "quantitative", title: isLast ? "time (s)" : null, scale: { domain: [0, run.duration_s], nice: false } };
  const y = { field: "value", type: "quantitative", title: panel.title, scale: { domain: [0, high ? 1.06 * high : 1], nice: false } };
  const color = { field: "name", type: "nominal", title: null, scale: { domain: names, range }, legend };
  const mark = isDots
    ? { type: "point", filled: true, size: 14, opacity: 0.8, clip: true }
    : { type: "line", interpolate: panel.joined, strokeJoin: "round", clip: true, point: "transparent" };
  const strokeWidth = { field: "name", type: "ordinal", title: null, scale: { domain: names, range: widths(names.length) }, legend };
  const lines = {
    data: { values },
    mark,
    encoding: {
      x,
      y,
      color,
      ...(isDots ? {} : { strokeWidth }),
      tooltip: [
        { field: "name", title: "line" },
        { field: "time", title: "time (s)", format: ".6~g" },
        { field: "value", title: panel.title, format: ".4~g" },
      ],
    },
  };
  const layer = [
    ...(panel.capacity ? [capacityLayer(panel, x, y)] : []),
    ...(panel.bands.length ? bandLayers(panel, x, y, color) : []),
    ...(panel.lines.length ? [lines] : []),
  ];
  layer[layer.length - 1].params = [{ name: "zoom", select: { type: "interval", encodings: ["x"], zoom: "wheel![event.shiftKey]" }, bind: "scales" }];
  return { width, height: HEIGHT, autosize: { type: "fit-x", contains: "padding" }, layer };
}

// Describe a panel for screen readers: the range of each line and band.
function described(panel) {
  const ends = (values) => `${formatted(values.reduce((a, b) => Math.min(a, b)))} to ${formatted(values.reduce((a, b) => Math.max(a, b)))}`;
  const lines = panel.lines.filter((line) => line[2].length).map(([name, , values]) => `${name} ${ends(values)}`);
  const bands = panel.bands.map(([name, , low, , high]) => `${name} ${ends([...low, ...high])}`);
  const ranges = [...lines, ...bands];
  return ranges.slice(0, DESCRIBED_MAX).join("; ") + (ranges.length > DESCRIBED_MAX ? `; and ${ranges.length - DESCRIBED_MAX} more` : "");
}

let current = null;

async function draw() {
  const { run, label } = current;
  const holder = query(".panels");
  const config = structuredClone(window.dumbbellLooks.config);
  config.axisY = { minExtent: 46, maxExtent: 46 };
  const figures = run.panels.map((panel, place) => {
    const figure = newElement("div", null, { class: "panel" });
    return [figure, { config, ...panelSpec(panel, run, holder.clientWidth, place === run.panels.length - 1) }];
  });
  holder.replaceChildren(...figures.map(([figure]) => figure));
  const views = [];
  for (const [place, [figure, spec]] of figures.entries()) {
    const { view } = await vegaEmbed(figure, spec, { actions: false, mode: "vega-lite", renderer: "canvas" });
    figure.setAttribute("role", "img");
    figure.setAttribute("aria-label", `${run.panels[place].title} over time, ${label}: ${described(run.panels[place])}.`);
    views.push(view);
  }
  linkZoom(views);
}

// Keep all panels at the same span of time.
function linkZoom(views) {
  let busy = false;
  for (const view of views) {
    view.addSignalListener("zoom_time", (_, range) => {
      if (busy) return;
      busy = true;
      Promise.all(views.filter((other) => other !== view).map((other) => other.signal("zoom_time", range).runAsync()))
        .finally(() => { busy = false; });
    });
  }
}

async function show() {
  const [name, key] = decodeURIComponent(location.hash.slice(1)).split("/", 2);
  if (!name || !key) return;
  query("#problem").hidden = true;
  try {
    await load(`runs/${encodeURIComponent(name)}.js`);
  } catch {
    showProblem(`This study has no test ${name}, or no run of it is planned.`);
    return;
  }
  const test = tests.get(name);
  const row = test.rows.find((run) => run[KEY] === key);
  if (!row) {
    showProblem(`The test ${name} has no run ${key} here. It may be of another engine or plan.`);
    return;
  }
  showTitle(test, row);
  if (row[STATE] !== 0) {
    showProblem(`This run is ${test.states[row[STATE]]}${row[REASON] ? `: ${row[REASON]}` : ""}.`);
    return;
  }
  try {
    await Promise.all([load(`series/${key.slice(0, 2)}/${key}.js`), load(`${siteRoot}assets/vega.js`)]);
  } catch {
    showProblem("The time series of this run are missing. Write the report again.");
    return;
  }
  const run = await unpack(runs.get(key));
  showLinks(test, row);
  showFacts(test, row, run);
  showMetrics(test, row);
  showTotals(run);
  query(".how").textContent = sampling(run);
  query("#run").hidden = false;
  current = { run, label: pointText(test, row) };
  await draw();
}

const showOrLog = () => show().catch((error) => console.error(error));
window.addEventListener("hashchange", showOrLog);

let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (current && window.innerWidth !== width) {
    width = window.innerWidth;
    draw().catch((error) => console.error(error));
  }
});

showOrLog();
