"use strict";

// Claims are in the page; those that are not chosen are hidden.

for (const form of document.querySelectorAll("form[data-of='claims-table']")) {
  const claims = [...document.querySelectorAll("#claims-table tbody")];
  new Filters(form, (filters) => {
    for (const claim of claims) claim.hidden = !filters.keeps((facet) => claim.dataset[facet]);
    filters.tell(claims.filter((claim) => !claim.hidden).length, claims.length, "claims");
  });
}
