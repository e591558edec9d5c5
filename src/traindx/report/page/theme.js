"use strict";
// Before anything is painted: the reader's own choice, else what the system prefers.
const theme = {
  system: matchMedia("(prefers-color-scheme: dark)"),
  chosen() {
    try { return localStorage.getItem("traindx-theme"); } catch { return null; }
  },
  keep(name) {
    try { localStorage.setItem("traindx-theme", name); } catch { /* private windows may refuse */ }
  },
  now() { return document.documentElement.dataset.theme; },
  show(name) { document.documentElement.dataset.theme = name; },
  wished() { return this.chosen() || (this.system.matches ? "dark" : "light"); },
};
theme.show(theme.wished());
