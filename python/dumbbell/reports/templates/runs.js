"use strict";

// The list of a test's runs. It shows a hundred rows at a time, as a browser is slow with thousands.

const STEP = 100;
const [POINT, REPETITION, KEY, STATE, PLAN, VALUES, REASON] = [0, 1, 2, 3, 4, 5, 6];

function newElement(tag, text, className) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

function formatted(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

class RunList {
  constructor(data) {
    this.data = data;
    this.order = null;
    this.limit = STEP;
    this.table = document.getElementById("runs");
    this.more = document.querySelector("#more");
    this.showHeads();
    this.more.querySelector("button").addEventListener("click", () => { this.limit += STEP; this.fill(); });
    this.filters = new Filters(document.querySelector(".filters"), (filters) => {
      this.limit = STEP;
      this.matching = data.rows.filter((row) => filters.match((facet) => this.value(row, facet)));
      filters.showCount(this.matching.length, data.rows.length, "runs");
      this.fill();
    });
  }

  value(row, facet) {
    if (facet === "run") return this.data.states[row[STATE]];
    const axis = this.data.axes.findIndex(({ name }) => name === facet);
    return this.data.axes[axis].values[row[POINT][axis]][0];
  }

  columns() {
    const { axes, quantities } = this.data;
    return [
      { title: "run", number: false, of: (row) => row[REPETITION] },
      ...axes.map((axis, place) => ({ title: axis.name, number: false, of: (row) => row[POINT][place] })),
      ...quantities.map((metric, place) => ({
        title: metric.name + (metric.unit ? ` (${metric.unit})` : ""),
        what: metric.what,
        number: true,
        of: (row) => row[VALUES][place] ?? null,
      })),
    ];
  }

  showHeads() {
    const row = document.createElement("tr");
    this.columns().forEach((column, place) => {
      const head = document.createElement("th");
      head.scope = "col";
      if (column.number) head.className = "number";
      const button = newElement("button", column.title);
      button.type = "button";
      button.title = `Sort by ${column.what ? `${column.title}: ${column.what}` : column.title}`;
      button.addEventListener("click", () => this.sort(place));
      head.append(button);
      row.append(head);
    });
    this.table.tHead.replaceChildren(row);
  }

  sort(place) {
    const descending = this.order?.place === place && !this.order.descending;
    this.order = { place, descending };
    [...this.table.tHead.rows[0].cells].forEach((head, number) => {
      if (number === place) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.fill();
  }

  ordered() {
    if (!this.order) return this.matching;
    const { of } = this.columns()[this.order.place];
    const sign = this.order.descending ? -1 : 1;
    const known = this.matching.filter((row) => of(row) !== null);
    const unknown = this.matching.filter((row) => of(row) === null);
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
    const line = document.createElement("tr");
    const state = states[row[STATE]];
    const head = document.createElement("th");
    head.scope = "row";
    if (row[STATE] === 0) {
      const link = newElement("a", `${row[REPETITION]}`);
      link.href = `../run.html#${test}/${row[KEY]}`;
      link.append(newElement("code", row[KEY].slice(0, 8)));
      head.append(link);
    } else {
      head.append(`${row[REPETITION]}`, newElement("code", row[KEY].slice(0, 8)));
    }
    if (plans[row[PLAN]].quick) head.append(newElement("small", "quick"));
    line.append(head);
    axes.forEach((axis, place) => line.append(newElement("td", axis.values[row[POINT][place]][1])));
    if (row[STATE] === 0) {
      quantities.forEach((_, place) => line.append(newElement("td", formatted(row[VALUES][place]), "number")));
    } else {
      const reason = row[REASON] ?? state;
      const cell = newElement("td", reason.startsWith(state) ? reason : `${state}: ${reason}`, "reason");
      cell.colSpan = Math.max(1, quantities.length);
      line.append(cell);
      line.className = "absent";
    }
    return line;
  }
}

window.dumbbellTest = (data) => new RunList(data);
