"use strict";

// Pictures become interactive charts when they come into view; without scripts they stay pictures.

window.dumbbellFigures = {};

async function enliven(chart, picture) {
  const name = chart.dataset.figure;
  await Promise.all([load(`${siteRoot}assets/vega.js`), load(`figures/${name}.js`)]);
  const drawing = document.createElement("div");
  // With `ast` Vega makes no functions of texts, which served pages forbid.
  await vegaEmbed(drawing, window.dumbbellFigures[name], { actions: false, ast: true, renderer: "svg" });
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
