"use strict";

// Says of everything that scrolls sideways whether there is more on the left or on the right.

function tell(box) {
  const left = box.scrollLeft > 1;
  const right = box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
  box.dataset.more = [left && "left", right && "right"].filter(Boolean).join(" ");
}

const resized = new ResizeObserver((entries) => entries.forEach((entry) => tell(entry.target.closest(".scroll"))));

for (const box of document.querySelectorAll(".scroll")) {
  box.addEventListener("scroll", () => tell(box), { passive: true });
  resized.observe(box);
  for (const table of box.children) resized.observe(table);
}
