"use strict";

// The list of all runs: found by words or by values of columns and axes, sorted, picked.
// What is looked for stands in the page's address.

const STEP = 100;
const part = (selector) => document.querySelector(selector);
const most = Number(part("#main").dataset.most);
const picked = new Map();
let columns = [];
let rows = [];
let said = [];
let limit = STEP;
let sorted = null;

// What columns are called in scenario files.
const ALSO = { algorithms: ["algorithm"], length: ["duration"] };

// Units by what they measure, as in files: 0.04s is 40ms.
const UNITS = {
  time: { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 6e10, h: 3.6e12 },
  rate: { bit: 1, kbit: 1e3, mbit: 1e6, gbit: 1e9, tbit: 1e12 },
  size: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1048576, gib: 1073741824 },
  packets: { p: 1, packets: 1 },
  share: { "": 1, "%": 0.01 },
  bdp: { bdp: 1, "%bdp": 0.01 },
};

// A text that is the same for equal quantities, however they are written; other texts as they are.
function meaning(text) {
  const written = /^([0-9.]+(?:e[+-]?[0-9]+)?)([a-z%]*)$/.exec(text);
  const kind = written && Object.keys(UNITS).find((each) => written[2] in UNITS[each]);
  return kind ? `${kind} ${(Number(written[1]) * UNITS[kind][written[2]]).toPrecision(12)}` : text;
}

// What a row is found by: its texts, and the values of each name.
function indexed(row) {
  const values = new Map();
  const add = (name, text) => {
    const known = values.get(name) ?? values.set(name, []).get(name);
    for (const each of [text, ...text.split(", ")]) {
      const small = each.toLowerCase();
      known.push(small, small.split("@")[0], meaning(small));
    }
  };
  columns.forEach((column, place) => {
    const [name, unit] = column.split(/[ ()]+/);
    const text = row.cells[place];
    for (const called of [name, ...(ALSO[name] ?? [])]) {
      add(called, text);
      if (unit) add(called, text.split(", ").map((each) => each + unit).join(", "));
    }
  });
  for (const [name, value] of [...row.axes, ...said[row.said]]) add(name.toLowerCase(), value);
  const words = [...row.cells, ...row.axes.map(([axis, value]) => `${axis}=${value}`)];
  return { ...row, key: row.cells[columns.indexOf("run")], values, text: words.join("\n").toLowerCase() };
}

function matches(row, word) {
  const at = word.indexOf("=");
  const named = at > 0 ? row.values.get(word.slice(0, at)) : undefined;
  if (at > 0) return named !== undefined && (named.includes(word.slice(at + 1)) || named.includes(meaning(word.slice(at + 1))));
  return row.text.includes(word);
}

function chosen() {
  const words = part("#words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => words.every((word) => matches(row, word)));
  if (!sorted) return found;
  const { place, falling } = sorted;
  const sign = falling ? -1 : 1;
  return found.sort((one, other) => sign * (one.order[place] === null
    ? one.cells[place].localeCompare(other.cells[place], "en", { numeric: true })
    : one.order[place] - other.order[place]));
}

function cell(tag, content, className) {
  const made = document.createElement(tag);
  made.append(content);
  if (className) made.className = className;
  return made;
}

function line(row) {
  const made = document.createElement("tr");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = picked.has(row.key);
  box.disabled = !box.checked && picked.size >= most;
  box.setAttribute("aria-label", `Pick ${row.key}`);
  box.addEventListener("change", () => {
    if (box.checked) picked.set(row.key, row);
    else picked.delete(row.key);
    fill();
  });
  made.append(cell("td", box));
  row.cells.forEach((text, place) => {
    if (columns[place] === "run") {
      const link = cell("a", cell("code", text));
      link.href = `overlay/${row.key}/`;
      const head = cell("th", link);
      head.scope = "row";
      if (row.invalid) {
        const small = cell("small", "invalid");
        small.title = row.invalid;
        head.append(small);
      }
      made.append(head);
    } else {
      made.append(cell("td", text, typeof row.order[place] === "number" ? "number" : ""));
    }
  });
  made.title = row.axes.map(([axis, value]) => `${axis}=${value}`).join("  ");
  if (row.invalid) made.className = "absent";
  return made;
}

function fill() {
  const found = chosen();
  // What has the focus keeps it when its row is made anew.
  const focused = document.activeElement?.getAttribute("aria-label");
  part("#runs tbody").replaceChildren(...found.slice(0, limit).map(line));
  if (focused) [...document.querySelectorAll("#runs input")].find((box) => box.getAttribute("aria-label") === focused)?.focus();
  const left = found.length - limit;
  part("#more").hidden = left <= 0;
  part("#more button").textContent = `Show ${Math.min(STEP, left)} more of ${left.toLocaleString("en")}`;
  const all = rows.length.toLocaleString("en");
  part(".find output").value = found.length === rows.length ? `${all} runs` : `${found.length.toLocaleString("en")} of ${all} runs`;
  tell();
}

function tell() {
  const keys = [...picked.keys()];
  const full = keys.length >= most ? ", as many as fit" : "";
  part("#picked").textContent = keys.length ? `${keys.length} picked${full}: ${keys.join(", ")}` : "None is picked.";
  part("#over").hidden = keys.length < 2;
  part("#over").href = `overlay/${keys.join("-")}/`;
  part("#apart").hidden = keys.length !== 2;
  part("#apart").href = `difference/${keys.join("-")}/`;
  part("#none").hidden = !keys.length;
}

function sort(place) {
  sorted = { place, falling: sorted?.place === place && !sorted.falling };
  [...part("#runs thead tr").cells].slice(1).forEach((head, number) => {
    if (number === place) head.setAttribute("aria-sort", sorted.falling ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  fill();
}

function heads() {
  const row = document.createElement("tr");
  row.append(cell("td", ""));
  columns.forEach((column, place) => {
    const button = cell("button", column);
    button.type = "button";
    button.title = `Sort by ${column}`;
    button.addEventListener("click", () => sort(place));
    const head = cell("th", button);
    head.scope = "col";
    row.append(head);
  });
  part("#runs thead").replaceChildren(row);
}

function fromAddress() {
  part("#words").value = decodeURIComponent(location.hash.slice(1));
  limit = STEP;
  fill();
}

async function start() {
  const answer = await fetch("runs.json");
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error);
  columns = data.columns;
  said = data.said;
  rows = data.rows.map(indexed);
  part("#find").hidden = !rows.length;
  part("#empty").hidden = rows.length > 0;
  heads();
  part("#words").addEventListener("input", () => {
    limit = STEP;
    history.replaceState(null, "", `#${encodeURIComponent(part("#words").value)}`);
    fill();
  });
  part("#none").addEventListener("click", () => { picked.clear(); fill(); });
  part("#more button").addEventListener("click", () => { limit += STEP; fill(); });
  window.addEventListener("hashchange", fromAddress);
  fromAddress();
}

start().catch((error) => {
  part("#problem").textContent = error instanceof TypeError ? "The server has ended; dumbbell serve starts it again." : error.message;
  part("#problem").hidden = false;
});
