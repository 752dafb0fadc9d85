"use strict";

// Pictures become interactive charts when they come into view; without scripts they stay pictures.
// Everything is loaded with script elements, because pages opened as files may not fetch.

window.dumbbellFigures = {};

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

async function enliven(chart, picture) {
  const name = chart.dataset.figure;
  await Promise.all([load("assets/vega.js"), load(`figures/${name}.js`)]);
  const drawing = document.createElement("div");
  await vegaEmbed(drawing, window.dumbbellFigures[name], { actions: false, renderer: "svg" });
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", picture.alt);
  picture.replaceWith(drawing);
}

const waiting = new Set();

// A chart cannot shrink as its picture can, so on a narrow page the picture stays.
function enlivenWaiting() {
  for (const chart of waiting) {
    const picture = chart.querySelector("img");
    if (chart.clientWidth < Number(picture.getAttribute("width"))) continue;
    waiting.delete(chart);
    observer.unobserve(chart);
    enliven(chart, picture).catch((error) => console.error(error));
  }
}

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) waiting.add(entry.target);
    else waiting.delete(entry.target);
  }
  enlivenWaiting();
}, { rootMargin: "400px" });

document.querySelectorAll(".chart").forEach((chart) => observer.observe(chart));
window.addEventListener("resize", enlivenWaiting);
document.querySelector(".hint").hidden = false;

function show(verdict) {
  for (const button of filter.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict));
  }
  for (const row of document.querySelectorAll(".claims tbody tr")) {
    row.hidden = verdict !== "" && !row.classList.contains(verdict);
  }
}

const filter = document.querySelector(".filter");
if (filter) {
  filter.hidden = false;
  filter.addEventListener("click", (event) => {
    const chosen = event.target.closest("button");
    if (chosen) show(chosen.dataset.verdict);
  });
}
