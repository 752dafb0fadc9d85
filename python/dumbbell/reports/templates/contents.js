"use strict";

// Contents that stay in sight: on a wide page open beside the text, on a narrow one a line above it
// that opens. Either way they mark what is being read.

const contents = document.querySelector(".beside > .contents details");
const heading = contents.querySelector("summary");
const wide = matchMedia("(min-width: 70rem)");
const places = new Map();

for (const link of contents.querySelectorAll('a[href^="#"]:not([href="#top"])')) {
  const place = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (place) places.set(place, link);
}

function unfold() {
  contents.open = wide.matches;
}

function mark(link) {
  for (const each of places.values()) each.removeAttribute("aria-current");
  link?.setAttribute("aria-current", "true");
  heading.textContent = link && !wide.matches ? `Contents: ${link.textContent}` : "Contents";
}

// What is read is the last place that begins in the upper third of the window.
function follow() {
  const passed = [...places.keys()].filter((place) => place.getBoundingClientRect().top < innerHeight / 3);
  passed.sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top);
  mark(places.get(passed.pop()));
}

let waiting = false;
function followSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; follow(); });
}

contents.addEventListener("click", (event) => {
  if (event.target.closest("a") && !wide.matches) contents.open = false;
});
wide.addEventListener("change", () => { unfold(); follow(); });
addEventListener("scroll", followSoon, { passive: true });
addEventListener("resize", followSoon);
unfold();
follow();
