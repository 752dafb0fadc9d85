"use strict";

// The list of all runs: search by words or values, sort, select. The page's address keeps the
// search, so that a link or a reload repeats it.

const STEP = 100;
const query = (selector) => document.querySelector(selector);
const maximum = Number(query("#main").dataset.maximum);
const selected = new Map();
let columns = [];
let rows = [];
let limit = STEP;
let order = null;

// Names of columns in scenario files.
const SYNONYMS = { algorithms: ["algorithm"], length: ["duration"] };

// Units of each kind of quantity, as in scenario files.
const UNITS = {
  time: { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 6e10, h: 3.6e12 },
  rate: { bit: 1, kbit: 1e3, mbit: 1e6, gbit: 1e9, tbit: 1e12 },
  size: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1048576, gib: 1073741824 },
  packets: { p: 1, packets: 1 },
  share: { "": 1, "%": 0.01 },
  bdp: { bdp: 1, "%bdp": 0.01 },
};

// Equal quantities become equal texts, such as 0.04s and 40ms. Other texts stay as they are.
function normalised(text) {
  const quantity = /^([0-9.]+(?:e[+-]?[0-9]+)?)([a-z%]*)$/.exec(text);
  if (!quantity) return text;
  const [, number, unit] = quantity;
  const kind = Object.keys(UNITS).find((name) => unit in UNITS[name]);
  return kind ? `${kind} ${(Number(number) * UNITS[kind][unit]).toPrecision(12)}` : text;
}

// Add to a row what a search compares: its texts, and the values of each name.
function indexed(row, scenarios) {
  const values = new Map();
  const add = (name, text) => {
    const known = values.get(name) ?? values.set(name, []).get(name);
    for (const value of [text, ...text.split(", ")]) {
      const lower = value.toLowerCase();
      known.push(lower, lower.split("@")[0], normalised(lower));
    }
  };
  columns.forEach((column, place) => {
    const [name, unit] = column.split(/[ ()]+/);
    const text = row.cells[place];
    for (const synonym of [name, ...(SYNONYMS[name] ?? [])]) {
      add(synonym, text);
      if (unit) add(synonym, text.split(", ").map((value) => value + unit).join(", "));
    }
  });
  for (const [name, value] of [...row.axes, ...scenarios[row.scenario]]) add(name.toLowerCase(), value);
  const words = [...row.cells, ...row.axes.map(([axis, value]) => `${axis}=${value}`)];
  return { ...row, key: row.cells[columns.indexOf("run")], values, text: words.join("\n").toLowerCase() };
}

function matches(row, word) {
  const equals = word.indexOf("=");
  if (equals <= 0) return row.text.includes(word);
  const value = word.slice(equals + 1);
  const known = row.values.get(word.slice(0, equals)) ?? [];
  return known.includes(value) || known.includes(normalised(value));
}

function matchingRows() {
  const words = query("#search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = rows.filter((row) => words.every((word) => matches(row, word)));
  if (!order) return matching;
  const { place, descending } = order;
  const sign = descending ? -1 : 1;
  return matching.sort((one, other) => sign * (one.order[place] === null
    ? one.cells[place].localeCompare(other.cells[place], "en", { numeric: true })
    : one.order[place] - other.order[place]));
}

function newElement(tag, content, className) {
  const element = document.createElement(tag);
  element.append(content);
  if (className) element.className = className;
  return element;
}

function tableRow(row) {
  const line = document.createElement("tr");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = selected.has(row.key);
  box.disabled = !box.checked && selected.size >= maximum;
  box.setAttribute("aria-label", `Select ${row.key}`);
  box.addEventListener("change", () => {
    if (box.checked) selected.set(row.key, row);
    else selected.delete(row.key);
    fill();
  });
  line.append(newElement("td", box));
  row.cells.forEach((text, place) => {
    if (columns[place] === "run") {
      const link = newElement("a", newElement("code", text));
      link.href = `overlay/${row.key}/`;
      const head = newElement("th", link);
      head.scope = "row";
      if (row.invalid) {
        const label = newElement("small", "invalid");
        label.title = row.invalid;
        head.append(label);
      }
      line.append(head);
    } else {
      line.append(newElement("td", text, typeof row.order[place] === "number" ? "number" : ""));
    }
  });
  line.title = row.axes.map(([axis, value]) => `${axis}=${value}`).join("  ");
  if (row.invalid) line.className = "absent";
  return line;
}

function fill() {
  const matching = matchingRows();
  // New rows replace the old ones, so the focus moves to the new box of the same run.
  const focused = document.activeElement?.getAttribute("aria-label");
  query("#runs tbody").replaceChildren(...matching.slice(0, limit).map(tableRow));
  if (focused) [...document.querySelectorAll("#runs input")].find((box) => box.getAttribute("aria-label") === focused)?.focus();
  const left = matching.length - limit;
  query("#more").hidden = left <= 0;
  query("#more button").textContent = `Show ${Math.min(STEP, left)} more of ${left.toLocaleString("en")}`;
  const all = rows.length.toLocaleString("en");
  query(".search output").value = matching.length === rows.length ? `${all} runs` : `${matching.length.toLocaleString("en")} of ${all} runs`;
  showSelection();
}

function showSelection() {
  const keys = [...selected.keys()];
  const full = keys.length >= maximum ? " (the maximum)" : "";
  query("#selected").textContent = keys.length ? `${keys.length} selected${full}: ${keys.join(", ")}` : "No run is selected.";
  query("#overlay").hidden = keys.length < 2;
  query("#overlay").href = `overlay/${keys.join("-")}/`;
  query("#difference").hidden = keys.length !== 2;
  query("#difference").href = `difference/${keys.join("-")}/`;
  query("#clear").hidden = !keys.length;
}

function sort(place) {
  order = { place, descending: order?.place === place && !order.descending };
  [...query("#runs thead tr").cells].slice(1).forEach((head, number) => {
    if (number === place) head.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  fill();
}

function showHeads() {
  const line = document.createElement("tr");
  line.append(newElement("td", ""));
  columns.forEach((column, place) => {
    const button = newElement("button", column);
    button.type = "button";
    button.title = `Sort by ${column}`;
    button.addEventListener("click", () => sort(place));
    const head = newElement("th", button);
    head.scope = "col";
    line.append(head);
  });
  query("#runs thead").replaceChildren(line);
}

function searchFromAddress() {
  query("#search").value = decodeURIComponent(location.hash.slice(1));
  limit = STEP;
  fill();
}

async function start() {
  const answer = await fetch("runs.json");
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error);
  columns = data.columns;
  rows = data.rows.map((row) => indexed(row, data.scenarios));
  query("#list").hidden = !rows.length;
  query("#empty").hidden = rows.length > 0;
  showHeads();
  query("#search").addEventListener("input", () => {
    limit = STEP;
    history.replaceState(null, "", `#${encodeURIComponent(query("#search").value)}`);
    fill();
  });
  query("#clear").addEventListener("click", () => { selected.clear(); fill(); });
  query("#more button").addEventListener("click", () => { limit += STEP; fill(); });
  window.addEventListener("hashchange", searchFromAddress);
  searchFromAddress();
}

start().catch((error) => {
  query("#problem").textContent = error instanceof TypeError ? "The server does not answer. Start it again with dumbbell serve." : error.message;
  query("#problem").hidden = false;
});
