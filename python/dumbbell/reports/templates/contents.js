"use strict";

// Contents that stay in sight: a column next to the text on a wide page, and a line that opens on a
// narrow one. Both mark the current section.

const contents = document.querySelector(".with-contents > .contents details");
const heading = contents.querySelector("summary");
const wide = matchMedia("(min-width: 70rem)");
const links = new Map();

for (const link of contents.querySelectorAll('a[href^="#"]:not([href="#top"])')) {
  const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (section) links.set(section, link);
}

function unfold() {
  contents.open = wide.matches;
}

function mark(link) {
  for (const other of links.values()) other.removeAttribute("aria-current");
  link?.setAttribute("aria-current", "true");
  heading.textContent = link && !wide.matches ? `Contents: ${link.textContent}` : "Contents";
}

// The current section is the last one that begins in the upper third of the window.
function markCurrent() {
  const top = (section) => section.getBoundingClientRect().top;
  const begun = [...links.keys()].filter((section) => top(section) < innerHeight / 3);
  begun.sort((one, other) => top(one) - top(other));
  mark(links.get(begun.pop()));
}

let isScheduled = false;
function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => { isScheduled = false; markCurrent(); });
}

contents.addEventListener("click", (event) => {
  if (event.target.closest("a") && !wide.matches) contents.open = false;
});
wide.addEventListener("change", () => { unfold(); markCurrent(); });
addEventListener("scroll", schedule, { passive: true });
addEventListener("resize", schedule);
unfold();
markCurrent();
