// SPDX-License-Identifier: BSD-3-Clause
// Filters, sorting, the way from a point to its row, and all of that in the page's address. Without it the page has
// everything as well: all figures, all rows, links that work.
(() => {
  "use strict";
  const OPTIONS = ["study", "system", "mpi", "variant", "size"];
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const all = (query, within = document) => [...within.querySelectorAll(query)];
  const form = byId("filters");
  const boxes = all("input[type=checkbox]", form);
  const rows = all("tr[data-f]").map((row) => ({ row, places: row.dataset.f.split(" ").map(Number) }));
  const figures = all("figure.plot");
  const state = { sort: "", at: "" };

  root.classList.add("scripted");

  // ---- the address -------------------------------------------------------------------------------------------------

  const chosen = (option) => boxes.filter((box) => box.name === option && box.checked);

  function readAddress() {
    const address = decodeURIComponent(location.hash.slice(1));
    const plainAnchor = address && !address.includes("=");
    const words = new URLSearchParams(plainAnchor ? "" : location.hash.slice(1));
    for (const box of boxes) box.checked = (words.get(box.name) || "").split(",").includes(box.value);
    state.sort = words.get("sort") || "";
    state.at = plainAnchor ? address : words.get("at") || "";
  }

  function writeAddress() {
    const words = OPTIONS.map((option) => [option, chosen(option).map((box) => box.value).join(",")]);
    const known = [...words, ["sort", state.sort], ["at", state.at]].filter(([, value]) => value);
    const address = known.map(([name, value]) => name + "=" + encodeURIComponent(value).replaceAll("%2C", ",")).join("&");
    history.replaceState(null, "", "#" + address);
    const command = byId("command");
    const options = OPTIONS.map((option, index) => [option, words[index][1] || command.dataset[option] || ""]);
    command.textContent = [command.dataset.base, ...options.filter(([, value]) => value)
      .map(([option, value]) => "--" + option + " " + (/[^\w.,:=+@/-]/.test(value) ? "'" + value + "'" : value))].join(" ");
  }

  // ---- filters -----------------------------------------------------------------------------------------------------

  function filter() {
    const wanted = OPTIONS.map((option) => new Set(chosen(option).map((box) => Number(box.dataset.i))));
    const shows = (places) => wanted.every((set, index) => !set.size || set.has(places[index]));
    for (const { row, places } of rows) row.hidden = !shows(places);
    for (const figure of figures) {
      const points = all("a[href^='#r']", figure.querySelector(".chart"));
      for (const point of points) {
        const row = byId(point.getAttribute("href").slice(1));
        point.classList.toggle("off", row.hidden);
      }
      for (const curve of all("g.c", figure)) redraw(curve);
      figure.hidden = points.length > 0 && points.every((point) => point.classList.contains("off"));
      rove(points.filter((point) => !point.classList.contains("off")));
    }
    for (const details of all("details.filtered")) {
      details.hidden = all("tr[data-f]", details).every((row) => row.hidden);
    }
    const drawn = rows.filter(({ row }) => row.id);
    const left = drawn.filter(({ row }) => !row.hidden).length;
    byId("count").textContent = left + " of " + drawn.length + " points are shown.";
  }

  // A line joins the points that are shown, and no others.
  function redraw(curve) {
    const line = curve.querySelector("path.line");
    if (!line) return;
    const places = all("a:not(.off):not(.none)", curve).map((point) => /\(([-\d.]+) ([-\d.]+)\)/.exec(point.getAttribute("transform")));
    line.setAttribute("d", places.length ? "M" + places.map((place) => place[1] + " " + place[2]).join("L") : "");
  }

  // ---- from a point to its row -------------------------------------------------------------------------------------

  // One point of a figure is in the tab order; the arrow keys go to the others.
  function rove(points) {
    points.forEach((point, index) => point.setAttribute("tabindex", index ? "-1" : "0"));
  }

  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

  function pointKey(event) {
    const point = event.target.closest("a[href^='#r']");
    if (!point || !(event.key in STEPS || event.key === "Home" || event.key === "End")) return;
    const points = all("a[href^='#r']:not(.off)", point.ownerSVGElement);
    const last = points.length - 1;
    const next = event.key === "Home" ? 0 : event.key === "End" ? last
      : Math.min(last, Math.max(0, points.indexOf(point) + STEPS[event.key]));
    point.setAttribute("tabindex", "-1");
    points[next].setAttribute("tabindex", "0");
    points[next].focus();
    event.preventDefault();
  }

  function reveal(id, focus) {
    for (const before of all(".at")) before.classList.remove("at");
    const target = byId(id);
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.classList.add("at");
    target.scrollIntoView({ block: "center" });
    if (focus) {
      target.setAttribute("tabindex", "-1");
      target.focus({ preventScroll: true });
    }
  }

  function follow(event) {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    state.at = link.getAttribute("href").slice(1);
    writeAddress();
    reveal(state.at, true);
  }

  // ---- sorting -----------------------------------------------------------------------------------------------------

  function makeSortable(table, number) {
    table.dataset.table = String(number);
    all("thead th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const direction = head.getAttribute("aria-sort") === "ascending" ? "d" : "a";
        state.sort = number + "." + column + "." + direction;
        sort();
        writeAddress();
      });
    });
  }

  function sort() {
    const [number, column, direction] = state.sort.split(".");
    const table = document.querySelector("table[data-table='" + Number(number) + "']");
    const heads = table ? all("thead th", table) : [];
    if (!state.sort || !heads[Number(column)]) return;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[Number(column)].setAttribute("aria-sort", direction === "d" ? "descending" : "ascending");
    const key = (row) => {
      const cell = row.cells[Number(column)];
      const value = cell.dataset.v || cell.textContent.trim();
      return value === "" || isNaN(Number(value)) ? value : Number(value);
    };
    const order = (one, other) => {
      const [a, b] = [key(one), key(other)];
      if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1; // what has no number comes last
      const sign = direction === "d" ? -1 : 1;
      return sign * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
    };
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort(order));
  }

  // ---- light and dark ----------------------------------------------------------------------------------------------

  function theme(name) {
    if (name) root.dataset.theme = name;
    const dark = name ? name === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    byId("theme").textContent = dark ? "Light page" : "Dark page";
    byId("theme").dataset.next = dark ? "light" : "dark";
  }

  byId("theme").addEventListener("click", (event) => theme(event.target.dataset.next));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(root.dataset.theme));

  // ---- all together ------------------------------------------------------------------------------------------------

  form.addEventListener("change", () => { filter(); writeAddress(); });
  byId("everything").addEventListener("click", () => {
    for (const box of boxes) box.checked = false;
    filter();
    writeAddress();
  });
  byId("copy").addEventListener("click", async () => {
    const command = byId("command");
    try {
      await navigator.clipboard.writeText(command.textContent);
      byId("count").textContent = "The command was copied.";
    } catch {
      getSelection().selectAllChildren(command);
      byId("count").textContent = "The command is selected: copy it with Ctrl+C.";
    }
  });
  document.addEventListener("click", follow);
  document.addEventListener("keydown", pointKey);
  addEventListener("hashchange", start);
  all("table.sortable").forEach(makeSortable);

  function start() {
    readAddress();
    filter();
    sort();
    writeAddress();
    if (state.at) reveal(state.at, false);
  }

  theme(root.dataset.theme);
  start();
})();
