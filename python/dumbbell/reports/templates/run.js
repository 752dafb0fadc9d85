"use strict";

// Shows the run that the address names, #TEST/KEY, from two scripts: the test's list and the run's
// own file.

const [PLACES, REPETITION, KEY, STATE, PLAN, VALUES, WHY] = [0, 1, 2, 3, 4, 5, 6];
const HEIGHT = 150;
const SEEN = 8;

const tests = new Map();
const runs = new Map();

window.dumbbellTest = (data) => tests.set(data.test, data);
window.dumbbellRun = (key, packed) => runs.set(key, packed);

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function made(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== null) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const at = (selector) => document.querySelector(selector);

function complain(text) {
  at("#problem").textContent = text;
  at("#problem").hidden = false;
  at("#run").hidden = true;
}

const spelledPoint = (test, row) =>
  test.axes.map((axis, place) => axis.values[row[PLACES][place]][1]).join(", ");

function retitle(test, row) {
  const point = spelledPoint(test, row);
  at("#title").textContent = point;
  at("#subtitle").textContent = `${test.title}. Repetition ${row[REPETITION]}${test.plans[row[PLAN]].quick ? ", a quick run" : ""}.`;
  at("#subtitle").hidden = false;
  at("#crumb").textContent = `Run ${row[KEY].slice(0, 8)}`;
  const list = made("a", `Runs: ${test.test}`, { href: `runs/${encodeURIComponent(test.test)}.html` });
  const crumb = at("#crumb").previousElementSibling?.dataset.list ? at("#crumb").previousElementSibling : made("li", null, { "data-list": "" });
  crumb.replaceChildren(list);
  at("#crumb").before(crumb);
  document.title = `${point}, repetition ${row[REPETITION]}, ${test.test} – a run of ${test.study}`;
}

function linkTo(test, row, words) {
  return made("a", words, { href: `#${test.test}/${row[KEY]}` });
}

// The way to the runs before and after, to the other repetitions, and along each axis.
function steps(test, row) {
  const finished = test.rows.filter((each) => each[STATE] === 0);
  const place = finished.findIndex((each) => each === row);
  const list = document.createElement("ul");
  const add = (words, items) => {
    if (!items.length) return;
    const entry = made("li", words ? `${words}: ` : "");
    items.forEach((item, number) => entry.append(number ? ", " : "", item));
    list.append(entry);
  };
  const near = [];
  if (place > 0) near.push(linkTo(test, finished[place - 1], "previous run"));
  if (place < finished.length - 1) near.push(linkTo(test, finished[place + 1], "next run"));
  add("", near);
  const same = finished.filter((each) => each[PLAN] === row[PLAN]);
  const alike = (each, axis) => each[PLACES].every((value, number) => number === axis || value === row[PLACES][number]);
  const choice = (each, words) => (each === row ? made("b", words) : linkTo(test, each, words));
  const repeated = same.filter((each) => alike(each, -1));
  if (repeated.length > 1) add("repetition", repeated.map((each) => choice(each, String(each[REPETITION]))));
  test.axes.forEach((axis, number) => {
    const others = same.filter((each) => each[REPETITION] === row[REPETITION] && alike(each, number));
    if (others.length > 1) add(axis.name, others.map((each) => choice(each, axis.values[each[PLACES][number]][1])));
  });
  at(".steps").replaceChildren(list);
}

function facts(test, row, run) {
  const where = test.axes.map((axis, place) => axis.values[row[PLACES][place]][2]).join("");
  const entries = [
    ["Length", `${run.duration_s} s, ${run.packets.toLocaleString("en")} packets`],
    ["Seed", run.seed],
    ["Key", run.key],
    ["In the results folder", `runs/${run.key.slice(0, 2)}/${run.key}`],
    ["Run it", `${test.command}${where}${test.plans[row[PLAN]].options}`],
  ];
  at("#run .facts").replaceChildren(...entries.flatMap(([name, value], number) => {
    const told = document.createElement("dd");
    told.append(number === 0 ? value : made("code", value));
    return [made("dt", name), told];
  }));
}

function spelled(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toExponential(3);
  return String(Number(value.toPrecision(4)));
}

function metrics(test, row) {
  at("#metrics tbody").replaceChildren(...test.quantities.map((metric, place) => {
    const entry = document.createElement("tr");
    const name = made("th", null, { scope: "row" });
    name.append(made("code", metric.name));
    const unit = metric.unit && row[VALUES][place] !== null ? ` ${metric.unit}` : "";
    entry.append(name, made("td", spelled(row[VALUES][place]) + unit), made("td", metric.what));
    return entry;
  }));
}

function totals(run) {
  const tables = run.totals.map((total) => {
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    const isNumber = (place) => place >= total.named;
    total.heads.forEach((text, place) => head.append(made("th", text, { scope: "col", class: isNumber(place) ? "number" : "" })));
    const body = table.createTBody();
    for (const row of total.rows) {
      const line = body.insertRow();
      row.forEach((text, place) => line.append(place ? made("td", text, { class: isNumber(place) ? "number" : "" }) : made("th", text, { scope: "row" })));
    }
    if (total.more) table.append(made("caption", `The first ${total.rows.length} of ${total.rows.length + total.more} rows; all are in the run's run.json.`));
    const scroll = made("div", null, { class: "scroll", tabindex: "0", role: "region", "aria-label": total.heads[0] });
    scroll.append(table);
    return total.note ? [scroll, made("p", total.note)] : [scroll];
  });
  at("#totals").replaceChildren(made("h2", "In total"), ...tables.flat());
}

function told(run) {
  if (!run.panels.length) return "No samples were taken of this run; its totals are below.";
  const points = Math.max(0, ...run.panels.filter((panel) => !panel.rate).flatMap((panel) => panel.lines.map((line) => line[1].length)));
  const samples = Math.max(run.samples.flows, run.samples.queues);
  const count = samples.toLocaleString("en");
  const thinned = points < samples
    ? `Thinned for display from ${count} samples a line: of each of ${run.spans} spans the first, lowest and highest sample are drawn, at most ${points.toLocaleString("en")} points a line.`
    : `Each line has all of its ${count} samples.`;
  const few = run.drawn < run.of ? ` ${run.drawn} of ${run.of.toLocaleString("en")} flows are drawn, spread evenly over their goodputs from the smallest to the largest.` : "";
  const apart = run.apart ? ` Samples are ${Math.round(run.apart)} round trips apart, so they are dots: lines through them would show a beat, not a sawtooth.` : "";
  const bands = run.panels.some((panel) => panel.bands.length) ? " A band is of equal flows: from the least to the most of them, and the line is their mean." : "";
  const capacity = run.panels.some((panel) => panel.capacity) ? " Grey is what the bottleneck could carry." : "";
  return `${thinned}${apart}${bands}${capacity} Rates are exact means over spans of ${Number((run.duration_s / run.spans).toPrecision(2))} s, or between samples where these are further apart.${few} Metrics are taken from all samples. Point at a line for its name and value, drag to move along, hold Shift while scrolling to zoom, double-click to see all.`;
}

// Later lines are thinner, so that what they cover still shows.
const widths = (count) => Array.from({ length: count }, (_, place) => 1.8 / (1 + 0.5 * Math.min(place, 4)));

// A flow has the same colour in all panels, that of its algorithm if it is the first; queues have theirs.
function coloured(panel, run) {
  const { colours } = window.dumbbellLooks;
  const there = new Set([...panel.lines, ...panel.bands].map((line) => line[0]));
  const known = run.names.filter((name) => there.has(name));
  if (known.length === there.size) return { names: known, range: known.map((name) => run.colours[run.names.indexOf(name)]) };
  const names = [...there];
  return { names, range: names.map((name, place) => colours[place % colours.length]) };
}

// What a link could carry, behind what it carried.
function capacityLayer(panel, x, y) {
  const [times, rates] = panel.capacity;
  return {
    data: { values: times.map((time, place) => ({ name: "capacity of the bottleneck", time, value: rates[place] })) },
    mark: { type: "area", interpolate: "step-after", color: "#d4d4d4", opacity: 0.75, clip: true },
    encoding: {
      x,
      y,
      tooltip: [
        { field: "name", title: "of" },
        { field: "time", type: "quantitative", title: "from (s)", format: ".6~g" },
        { field: "value", type: "quantitative", title: "Mbit/s", format: ".4~g" },
      ],
    },
  };
}

// Equal flows: the least to the most of them, and their mean.
function bandLayers(panel, x, y, color) {
  const values = panel.bands.flatMap(([name, times, low, mean, high]) => times.map((time, place) => ({ name, time, low: low[place], value: mean[place], high: high[place] })));
  const number = (field, title) => ({ field, type: "quantitative", title, format: ".4~g" });
  const tooltip = [
    { field: "name", title: "of" },
    number("time", "time (s)"),
    number("low", "least"),
    number("value", `mean ${panel.title}`),
    number("high", "most"),
  ];
  const low = { ...y, field: "low" };
  return [
    { data: { values }, mark: { type: "area", opacity: 0.25, clip: true, interpolate: panel.joined }, encoding: { x, y: low, y2: { field: "high" }, color, tooltip } },
    { data: { values }, mark: { type: "line", interpolate: panel.joined, strokeWidth: 1.6, strokeJoin: "round", clip: true, point: "transparent" }, encoding: { x, y, color, tooltip } },
  ];
}

function panelSpec(panel, run, width, isLast) {
  const { names, range } = coloured(panel, run);
  // Samples far apart are no line: it would show a beat of the window's sawtooth with them.
  const isDots = run.apart && !panel.rate && panel.lines.length > 0;
  const legend = (names.length > 1 && names.length <= 8) || panel.bands.length ? { orient: "top", symbolType: isDots ? "circle" : "stroke", symbolOpacity: 1 } : null;
  const values = panel.lines.flatMap(([name, times, series]) => times.map((time, place) => ({ name, time, value: series[place] })));
  const highest = [...panel.lines.map((line) => line[2]), ...panel.bands.map((band) => band[4]), panel.capacity ? panel.capacity[1] : []];
  const high = highest.flat().reduce((most, each) => Math.max(most, each), 0);
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
        { field: "name", title: "of" },
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

// What a panel shows, for those who do not see it: the range of each line and band.
function seen(panel) {
  const ends = (values) => `${spelled(values.reduce((a, b) => Math.min(a, b)))} to ${spelled(values.reduce((a, b) => Math.max(a, b)))}`;
  const lines = panel.lines.filter((line) => line[2].length).map(([name, , values]) => `${name} ${ends(values)}`);
  const bands = panel.bands.map(([name, , low, , high]) => `${name} ${ends([...low, ...high])}`);
  const named = [...lines, ...bands];
  return named.slice(0, SEEN).join("; ") + (named.length > SEEN ? `; and ${named.length - SEEN} more` : "");
}

let drawn = null;

async function draw() {
  const { run, label } = drawn;
  const holder = at(".panels");
  const config = structuredClone(window.dumbbellLooks.config);
  config.axisY = { minExtent: 46, maxExtent: 46 };
  const figures = run.panels.map((panel, place) => {
    const figure = made("div", null, { class: "panel" });
    return [figure, { config, ...panelSpec(panel, run, holder.clientWidth, place === run.panels.length - 1) }];
  });
  holder.replaceChildren(...figures.map(([figure]) => figure));
  const views = [];
  for (const [place, [figure, spec]] of figures.entries()) {
    const { view } = await vegaEmbed(figure, spec, { actions: false, mode: "vega-lite", renderer: "canvas" });
    figure.setAttribute("role", "img");
    figure.setAttribute("aria-label", `${run.panels[place].title} over time, ${label}: ${seen(run.panels[place])}.`);
    views.push(view);
  }
  together(views);
}

// All panels show the same time.
function together(views) {
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
  at("#problem").hidden = true;
  try {
    await load(`runs/${encodeURIComponent(name)}.js`);
  } catch {
    complain(`There is no test ${name} in this study, or none of its runs was asked for.`);
    return;
  }
  const test = tests.get(name);
  const row = test.rows.find((each) => each[KEY] === key);
  if (!row) {
    complain(`The test ${name} has no run ${key} here: it was of another engine, or of another plan.`);
    return;
  }
  retitle(test, row);
  if (row[STATE] !== 0) {
    complain(`This run is ${test.states[row[STATE]]}${row[WHY] ? `: ${row[WHY]}` : ""}.`);
    return;
  }
  try {
    await Promise.all([load(`series/${key.slice(0, 2)}/${key}.js`), load(`${siteRoot}assets/vega.js`)]);
  } catch {
    complain("The time series of this run are missing; write the report again.");
    return;
  }
  const run = await unpack(runs.get(key));
  steps(test, row);
  facts(test, row, run);
  metrics(test, row);
  totals(run);
  at(".how").textContent = told(run);
  at("#run").hidden = false;
  drawn = { run, label: spelledPoint(test, row) };
  await draw();
}

const shown = () => show().catch((error) => console.error(error));
window.addEventListener("hashchange", shown);

let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (drawn && window.innerWidth !== width) {
    width = window.innerWidth;
    draw().catch((error) => console.error(error));
  }
});

shown();
