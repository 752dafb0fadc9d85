"use strict";

// Pictures become interactive charts when they come into view; without scripts they stay pictures.
// Everything is loaded with script elements, because pages opened as files may not fetch.

const loading = new Map();

function load(source) {
  if (!loading.has(source)) {
    loading.set(source, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`cannot load ${source}`));
      document.head.append(script);
    }));
  }
  return loading.get(source);
}

async function bringToLife(chart) {
  const picture = chart.querySelector("img");
  if (!picture || chart.clientWidth < Number(picture.getAttribute("width"))) return;
  const name = chart.dataset.figure;
  await Promise.all([load("assets/vega.js"), load(`figures/${name}.js`)]);
  const drawing = document.createElement("div");
  await vegaEmbed(drawing, dumbbellFigures[name], { actions: false, renderer: "svg" });
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", picture.alt);
  picture.replaceWith(drawing);
}

window.dumbbellFigures = {};

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((each) => each.isIntersecting)) {
    observer.unobserve(entry.target);
    bringToLife(entry.target).catch((error) => console.error(error));
  }
}, { rootMargin: "400px" });

document.querySelectorAll(".chart").forEach((chart) => observer.observe(chart));

const filter = document.querySelector(".filter");
if (filter) {
  filter.hidden = false;
  filter.addEventListener("click", (event) => {
    const chosen = event.target.closest("button");
    if (!chosen) return;
    for (const button of filter.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button === chosen));
    }
    const verdict = chosen.dataset.verdict;
    for (const row of document.querySelectorAll(".claims tbody tr")) {
      row.hidden = verdict !== "" && !row.classList.contains(verdict);
    }
  });
}
