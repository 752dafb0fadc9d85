"use strict";

// Mark on which sides a wide table has hidden parts, for the hint and the fading of report.css.

function markHidden(box) {
  const left = box.scrollLeft > 1;
  const right = box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
  box.dataset.more = [left && "left", right && "right"].filter(Boolean).join(" ");
}

const resizes = new ResizeObserver((entries) => entries.forEach((entry) => markHidden(entry.target.closest(".scroll"))));

function watchHidden(box) {
  box.addEventListener("scroll", () => markHidden(box), { passive: true });
  resizes.observe(box);
  for (const table of box.children) resizes.observe(table);
}

document.querySelectorAll(".scroll").forEach(watchHidden);
