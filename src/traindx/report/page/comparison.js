"use strict";
(() => {
  // ---- a run that is pointed at, in the table, the key or a chart, stands out everywhere
  const charts = [...document.querySelectorAll(".chart")];
  const marks = [...document.querySelectorAll("[data-group]")];
  const FAINT = 0.07;
  let pinned = null, shown = null, waiting = 0;

  function paint(group) {
    if (group === shown) return;
    shown = group;
    for (const chart of charts) {
      if (!chart.dataset.drawn || !chart.data) continue;
      const own = chart.data.map((trace) => trace.customopacity ?? trace.opacity ?? 1);
      chart.data.forEach((trace, at) => { trace.customopacity = own[at]; });
      const opacity = chart.data.map((trace, at) => (group === null || trace.meta === undefined || trace.meta === group ? own[at] : own[at] * FAINT));
      Plotly.restyle(chart, { opacity });
    }
    for (const mark of marks) mark.classList.toggle("pinned", pinned !== null && Number(mark.dataset.group) === pinned);
  }
  function point(group) {
    clearTimeout(waiting);
    waiting = setTimeout(() => paint(group ?? pinned), 60);
  }
  function pin(group) {
    pinned = pinned === group ? null : group;
    clearTimeout(waiting);
    shown = undefined;
    paint(pinned);
  }
  for (const mark of marks) {
    const group = Number(mark.dataset.group);
    mark.addEventListener("mouseenter", () => point(group));
    mark.addEventListener("mouseleave", () => point(null));
    mark.addEventListener("click", () => pin(group));
  }
  const listened = new WeakSet();
  for (const chart of charts) {
    chart.addEventListener("drawn", () => {
      shown = undefined;
      if (listened.has(chart)) return;
      listened.add(chart);
      chart.on("plotly_click", ({ points }) => {
        const group = points[0].data.meta ?? points[0].customdata;
        if (typeof group === "number") pin(group);
      });
    });
  }

  // ---- the table: sorted by any column, filtered by words
  const table = document.querySelector(".ranking");
  if (!table) return;
  const body = table.tBodies[0];
  const value = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent;
  table.querySelectorAll("th").forEach((head, at) => {
    head.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (a, b) => {
        const [x, y] = [value(a, at), value(b, at)];
        if ((x === "") !== (y === "")) return x === "" ? 1 : -1;
        const numbers = head.classList.contains("number") && !Number.isNaN(Number(x)) && !Number.isNaN(Number(y));
        return (numbers ? Number(x) - Number(y) : x.localeCompare(y)) * (down ? -1 : 1);
      };
      body.append(...[...body.rows].sort(order));
    });
  });
  const filter = document.getElementById("filter");
  if (filter) {
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of body.rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    });
  }
})();
