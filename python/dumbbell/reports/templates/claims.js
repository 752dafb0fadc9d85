"use strict";

// Hide the claims that the filters exclude.

for (const form of document.querySelectorAll("form.filters")) {
  const claims = [...document.querySelectorAll("#claims-table tbody")];
  new Filters(form, (filters) => {
    for (const claim of claims) claim.hidden = !filters.match((facet) => claim.dataset[facet]);
    filters.showCount(claims.filter((claim) => !claim.hidden).length, claims.length, "claims");
  });
}
