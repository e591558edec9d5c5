"use strict";
(() => {
  const PRINT_WIDTH = 680;
  const PRINT_HEIGHT = 0.8;
  const PRINT_ALL_UP_TO = 30;
  const charts = [...document.querySelectorAll(".chart")];
  const data = new Map();
  const narrow = () => innerWidth < 560;
  const touch = !matchMedia("(hover: hover)").matches;

  // ---- drawing
  function ofRun(run) {
    if (!data.has(run)) data.set(run, JSON.parse(document.getElementById(`${run}-charts`).textContent));
    return data.get(run);
  }

  function painted(value, css) {
    if (Array.isArray(value)) return value;
    const made = {};
    for (const [key, inner] of Object.entries(value)) {
      if (key === "colorscale") made[key] = inner.map(([at, name]) => [at, css.getPropertyValue(name.slice(4, -1)).trim()]);
      else if (inner && typeof inner === "object") made[key] = painted(inner, css);
      else if (/color$/.test(key) && /^var\(/.test(inner)) made[key] = css.getPropertyValue(inner.slice(4, -1)).trim();
      else made[key] = inner;
    }
    return made;
  }

  // Fields hold plain values: colours go by their logarithm, what is shown by themselves.
  function logarithmic({ logarithmic: wanted, ...trace }) {
    if (!wanted) return trace;
    const z = trace.z.map((row) => row.map((value) => (value > 0 ? Math.log10(value) : null)));
    return { ...trace, z, customdata: trace.z };
  }

  function figure(element) {
    const { curves, charts } = ofRun(element.dataset.run);
    const told = charts[Number(element.dataset.chart)];
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue(name).trim();
    const traces = told.data.map(({ curve, ...trace }) => logarithmic({ ...painted(trace, css), ...(curve === undefined ? {} : curves[curve]) }));
    const { plain, ...layout } = painted(told.layout, css);
    layout.annotations = told.layout.annotations.map((one) => ({ ...one, font: { color: colour("--ink"), size: 12 } }));
    const common = {
      gridcolor: colour("--grid"), linecolor: colour("--line"), tickcolor: colour("--line"),
      tickfont: { color: colour("--muted"), size: 11 }, zeroline: false, exponentformat: "e", minexponent: 4,
    };
    for (const [key, axis] of Object.entries(layout)) {
      if (!/^[xy]axis/.test(key) || axis.visible === false) continue;
      Object.assign(axis, common);
      if (element.dataset.scale && key === "yaxis2") {
        axis.type = element.dataset.scale;
        delete axis.range;
      }
      if (axis.type === "log") Object.assign(axis, { tickformat: ".3~g" }, axis.decades < 2.5 ? { tickmode: "linear", dtick: "D2" } : {});
      delete axis.decades;
    }
    layout.xaxis.title = { ...layout.xaxis.title, font: { color: colour("--muted"), size: 11 } };
    if (!plain) Object.assign(layout.xaxis, {
      showspikes: true, spikemode: "across", spikethickness: 1, spikedash: "dot", spikecolor: colour("--muted"),
      nticks: narrow() ? 5 : 9, separatethousands: true,
    });
    if (narrow()) layout.margin = { ...layout.margin, l: plain ? Math.min(layout.margin.l, 110) : 46, r: 6 };
    Object.assign(layout, {
      autosize: true, showlegend: false, hovermode: "closest", hoverdistance: 24,
      dragmode: touch ? false : "zoom", separators: ".,",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: css.getPropertyValue("--sans"), color: colour("--ink") },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--muted"), activecolor: colour("--ink") },
      hoverlabel: {
        bgcolor: colour("--surface"), bordercolor: colour("--line"), align: "left", namelength: -1,
        font: { color: colour("--ink"), size: 12, family: css.getPropertyValue("--sans") },
      },
    });
    return { traces, layout };
  }

  function draw(element) {
    const { traces, layout } = figure(element);
    const config = {
      responsive: true, displaylogo: false, scrollZoom: false,
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]], displayModeBar: touch ? false : "hover",
    };
    Plotly.react(element, traces, layout, config);
    element.dataset.drawn = "yes";
    element.dispatchEvent(new Event("drawn"));
  }

  const drawn = () => charts.filter((chart) => chart.dataset.drawn);
  const redraw = () => drawn().forEach(draw);
  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting && !target.dataset.drawn) {
        watcher.unobserve(target);
        draw(target);
      }
    }
  }, { rootMargin: "300px" });
  charts.forEach((chart) => watcher.observe(chart));

  // ---- linear or logarithmic
  for (const chart of charts) {
    const layout = () => ofRun(chart.dataset.run).charts[Number(chart.dataset.chart)].layout;
    const first = () => (layout().plain ? { type: "linear", decades: null } : layout().yaxis2);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "scale";
    const now = () => chart.dataset.scale || first().type;
    const label = () => { button.textContent = now() === "log" ? "Linear scale" : "Log scale"; };
    button.addEventListener("click", () => {
      chart.dataset.scale = now() === "log" ? "linear" : "log";
      label();
      draw(chart);
    });
    button.hidden = true;
    chart.before(button);
    chart.addEventListener("drawn", () => { button.hidden = first().decades === null; label(); });
  }

  // ---- light and dark
  const button = document.getElementById("theme");
  const other = () => (theme.now() === "dark" ? "light" : "dark");
  function repaint(name) {
    theme.show(name);
    button.textContent = `Show ${other()}`;
    redraw();
  }
  button.addEventListener("click", () => { repaint(other()); theme.keep(theme.now()); });
  theme.system.addEventListener("change", () => repaint(theme.wished()));
  repaint(theme.now());

  // ---- many runs: links open what they lead to, the table can be filtered
  function follow() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let outer = target; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  follow();
  const filter = document.getElementById("filter");
  if (filter) {
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of document.querySelectorAll(".triage tbody tr")) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
  }

  // ---- on paper everything stands open, light, and as wide as the sheet
  let before = null;
  addEventListener("beforeprint", () => {
    const runs = [...document.querySelectorAll("details.run")];
    const some = runs.length > PRINT_ALL_UP_TO && runs.filter((run) => run.open);
    const opened = [...document.querySelectorAll("details:not([open])")]
      .filter((one) => !some || some.includes(one.closest("details.run")));
    before = { opened, theme: theme.now() };
    opened.forEach((one) => { one.open = true; });
    theme.show("light");
    for (const chart of charts) {
      if (!chart.checkVisibility || chart.checkVisibility()) {
        draw(chart);
        const height = Math.round(PRINT_HEIGHT * chart.layout.height);
        Plotly.relayout(chart, { width: PRINT_WIDTH, height });
        chart.style.height = `${height}px`;
      }
    }
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    theme.show(before.theme);
    for (const chart of drawn()) {
      draw(chart);
      chart.style.height = `${chart.layout.height}px`;
      Plotly.relayout(chart, { width: null, autosize: true });
    }
    before.opened.forEach((one) => { one.open = false; });
    before = null;
  });
})();
