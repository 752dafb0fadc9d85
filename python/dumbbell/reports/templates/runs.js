"use strict";

// The list of a test's runs: made from the data of a script, a hundred rows at a time, so that
// a page stays light however many runs there are.

const STEP = 100;
const [PLACES, REPETITION, KEY, STATE, PLAN, VALUES, WHY] = [0, 1, 2, 3, 4, 5, 6];

function cell(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function spelled(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

class List {
  constructor(data) {
    this.data = data;
    this.sorted = null;
    this.limit = STEP;
    this.table = document.getElementById("runs");
    this.more = document.querySelector("#more");
    this.head();
    this.more.querySelector("button").addEventListener("click", () => { this.limit += STEP; this.fill(); });
    this.filters = new Filters(document.querySelector(".filters"), (filters) => {
      this.limit = STEP;
      this.chosen = data.rows.filter((row) => filters.keeps((facet) => this.value(row, facet)));
      filters.tell(this.chosen.length, data.rows.length, "runs");
      this.fill();
    });
  }

  value(row, facet) {
    if (facet === "run") return this.data.states[row[STATE]];
    const axis = this.data.axes.findIndex((each) => each.name === facet);
    return this.data.axes[axis].values[row[PLACES][axis]][0];
  }

  columns() {
    const { axes, quantities } = this.data;
    return [
      { title: "run", number: false, of: (row) => row[REPETITION] },
      ...axes.map((axis, place) => ({ title: axis.name, number: false, of: (row) => row[PLACES][place] })),
      ...quantities.map((metric, place) => ({
        title: metric.name + (metric.unit ? ` (${metric.unit})` : ""),
        what: metric.what,
        number: true,
        of: (row) => row[VALUES][place] ?? null,
      })),
    ];
  }

  head() {
    const row = document.createElement("tr");
    this.columns().forEach((column, place) => {
      const head = document.createElement("th");
      head.scope = "col";
      if (column.number) head.className = "number";
      const button = cell("button", column.title);
      button.type = "button";
      button.title = `Sort by ${column.what ? `${column.title}: ${column.what}` : column.title}`;
      button.addEventListener("click", () => this.sort(place));
      head.append(button);
      row.append(head);
    });
    this.table.tHead.replaceChildren(row);
  }

  sort(place) {
    const falling = this.sorted?.place === place && !this.sorted.falling;
    this.sorted = { place, falling };
    [...this.table.tHead.rows[0].cells].forEach((head, number) => {
      if (number === place) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.fill();
  }

  ordered() {
    if (!this.sorted) return this.chosen;
    const { of } = this.columns()[this.sorted.place];
    const sign = this.sorted.falling ? -1 : 1;
    const known = this.chosen.filter((row) => of(row) !== null);
    const unknown = this.chosen.filter((row) => of(row) === null);
    return [...known.sort((one, other) => sign * (of(one) - of(other))), ...unknown];
  }

  fill() {
    const rows = this.ordered();
    this.table.tBodies[0].replaceChildren(...rows.slice(0, this.limit).map((row) => this.row(row)));
    const left = rows.length - this.limit;
    this.more.hidden = left <= 0;
    this.more.querySelector("button").textContent = `Show ${Math.min(STEP, left)} more of ${left.toLocaleString("en")}`;
  }

  row(row) {
    const { axes, quantities, states, plans, test } = this.data;
    const made = document.createElement("tr");
    const state = states[row[STATE]];
    const head = document.createElement("th");
    head.scope = "row";
    if (row[STATE] === 0) {
      const link = cell("a", `${row[REPETITION]}`);
      link.href = `../run.html#${test}/${row[KEY]}`;
      link.append(cell("code", row[KEY].slice(0, 8)));
      head.append(link);
    } else {
      head.append(`${row[REPETITION]}`, cell("code", row[KEY].slice(0, 8)));
    }
    if (plans[row[PLAN]].quick) head.append(cell("small", "quick"));
    made.append(head);
    axes.forEach((axis, place) => made.append(cell("td", axis.values[row[PLACES][place]][1])));
    if (row[STATE] === 0) {
      quantities.forEach((_, place) => made.append(cell("td", spelled(row[VALUES][place]), "number")));
    } else {
      const told = row[WHY] ?? state;
      const why = cell("td", told.startsWith(state) ? told : `${state}: ${told}`, "why");
      why.colSpan = Math.max(1, quantities.length);
      made.append(why);
      made.className = "absent";
    }
    return made;
  }
}

window.dumbbellTest = (data) => new List(data);
