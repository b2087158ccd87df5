"use strict";
(() => {
  // Rows without a value stay last whichever way is sorted.
  const compare = (a, b, numeric, sign) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const order = numeric ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });
    return sign * order;
  };

  const sortBy = (header) => {
    const table = header.closest("table");
    const body = table.tBodies[0];
    const descending = header.getAttribute("aria-sort") === "ascending";
    const value = (row) => row.cells[header.cellIndex].dataset.value;
    const rows = [...body.rows];
    const numeric = rows.every((row) => value(row) === "" || Number.isFinite(Number(value(row))));
    rows.sort((a, b) => compare(value(a), value(b), numeric, descending ? -1 : 1));
    body.append(...rows);
    for (const other of header.parentElement.cells) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  };

  for (const header of document.querySelectorAll("table.sortable th")) {
    header.querySelector("button").addEventListener("click", () => sortBy(header));
  }

  // On paper nothing can be unfolded, except that the settings would fill pages.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open])")].filter((d) => !d.querySelector("pre"));
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });

  const contents = document.querySelector("nav details");
  if (matchMedia("(max-width: 70rem)").matches) contents.open = false;
})();
