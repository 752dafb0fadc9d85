"use strict";

// Toggles that choose what is shown: within a group any of the chosen, of groups all. The choice
// stands in the page's address (#verdict=holds&statement=number,order), so that it can be linked and kept.

class Filters {
  constructor(form, show) {
    this.form = form;
    this.show = show;
    this.chosen = new Map();
    for (const group of form.querySelectorAll("[data-facet]")) this.chosen.set(group.dataset.facet, new Set());
    form.addEventListener("click", (event) => this.toggle(event.target.closest("[data-value]")));
    form.addEventListener("reset", (event) => { event.preventDefault(); this.clear(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", () => this.read());
    form.hidden = false;
    this.read();
  }

  toggle(button) {
    if (!button) return;
    const values = this.chosen.get(button.closest("[data-facet]").dataset.facet);
    if (!values.delete(button.dataset.value)) values.add(button.dataset.value);
    this.write();
  }

  clear() {
    for (const values of this.chosen.values()) values.clear();
    this.write();
  }

  // An address without "=" is an anchor, which is none of our business.
  read() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) {
      this.update();
      return;
    }
    for (const values of this.chosen.values()) values.clear();
    for (const part of hash.split("&").filter(Boolean)) {
      const [facet, list] = part.split("=", 2);
      const values = this.chosen.get(decodeURIComponent(facet));
      if (values) for (const value of list.split(",")) values.add(decodeURIComponent(value));
    }
    this.update();
  }

  write() {
    const parts = [];
    for (const [facet, values] of this.chosen) {
      if (values.size) parts.push(`${encodeURIComponent(facet)}=${[...values].map(encodeURIComponent).join(",")}`);
    }
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
    this.update();
  }

  update() {
    for (const button of this.form.querySelectorAll("[data-value]")) {
      const values = this.chosen.get(button.closest("[data-facet]").dataset.facet);
      button.setAttribute("aria-pressed", String(values.has(button.dataset.value)));
    }
    this.show(this);
  }

  // Whether something with these values, by facet, is chosen.
  keeps(value) {
    for (const [facet, values] of this.chosen) {
      if (values.size && !values.has(value(facet))) return false;
    }
    return true;
  }

  tell(shown, all, what) {
    const few = shown === all ? `${all.toLocaleString("en")}` : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")}`;
    this.form.querySelector("output").value = `${few} ${what} shown.`;
    this.form.querySelector("[type=reset]").hidden = ![...this.chosen.values()].some((values) => values.size);
  }
}
