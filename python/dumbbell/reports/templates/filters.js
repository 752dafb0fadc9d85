"use strict";

// Toggles that filter rows: a row matches one selected value in each group. The page's address keeps
// the selection (#verdict=holds&statement=number,order), so that a link or a reload repeats it.

class Filters {
  constructor(form, show) {
    this.form = form;
    this.show = show;
    this.selected = new Map();
    for (const group of form.querySelectorAll("[data-facet]")) this.selected.set(group.dataset.facet, new Set());
    form.addEventListener("click", (event) => this.toggle(event.target.closest("[data-value]")));
    form.addEventListener("reset", (event) => { event.preventDefault(); this.clear(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", () => this.read());
    form.hidden = false;
    this.read();
  }

  toggle(button) {
    if (!button) return;
    const values = this.selected.get(button.closest("[data-facet]").dataset.facet);
    if (!values.delete(button.dataset.value)) values.add(button.dataset.value);
    this.write();
  }

  clear() {
    for (const values of this.selected.values()) values.clear();
    this.write();
  }

  // An address without "=" is an anchor.
  read() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) {
      this.update();
      return;
    }
    for (const values of this.selected.values()) values.clear();
    for (const group of hash.split("&").filter(Boolean)) {
      const [facet, list] = group.split("=", 2);
      const values = this.selected.get(decodeURIComponent(facet));
      if (values) for (const value of list.split(",")) values.add(decodeURIComponent(value));
    }
    this.update();
  }

  write() {
    const groups = [];
    for (const [facet, values] of this.selected) {
      if (values.size) groups.push(`${encodeURIComponent(facet)}=${[...values].map(encodeURIComponent).join(",")}`);
    }
    history.replaceState(null, "", groups.length ? `#${groups.join("&")}` : location.pathname + location.search);
    this.update();
  }

  update() {
    for (const button of this.form.querySelectorAll("[data-value]")) {
      const values = this.selected.get(button.closest("[data-facet]").dataset.facet);
      button.setAttribute("aria-pressed", String(values.has(button.dataset.value)));
    }
    this.show(this);
  }

  // Return whether a row matches, given its value of each facet.
  match(value) {
    for (const [facet, values] of this.selected) {
      if (values.size && !values.has(value(facet))) return false;
    }
    return true;
  }

  showCount(shown, all, noun) {
    const count = shown === all ? `${all.toLocaleString("en")}` : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")}`;
    this.form.querySelector("output").value = `${count} ${noun} shown.`;
    this.form.querySelector("[type=reset]").hidden = ![...this.selected.values()].some((values) => values.size);
  }
}
