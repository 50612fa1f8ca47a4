"use strict";
// The page: what is chosen, which charts that gives, and how they are saved.

const DATA = JSON.parse(document.getElementById("data").textContent);
const SECTIONS = { deadlocks: ["closing"], tenants: ["vms", "guarantees"], iterations: ["iterations"], slowdown: ["slowdown"], distributions: ["cdf-fct", "cdf-slowdown"], queues: ["queues"], rates: ["rates"], pauses: ["pauses"] };
const LABELLED = new Set(["slowdown", "cdf-fct", "cdf-slowdown"]);
const ALL = "all: mean and range";
const ROWS_SHOWN = 200;
const NO_RUN = "No run of this sweep has these values.";
const OMITTED = "Omitted from this page; see the notes at its end.";
/** Field of the places along the axis of a sweep; no column of a sweep has a colon in its name. */
const ALONG = "at:x";
const state = { group: 0, values: [], label: "", seeds: false, fabric: { scheme: null, measure: null, way: "both", scale: "all" }, over: {} };

/** What is drawn, by the name of its chart. */
const VIEWS = new Map();

/** A packed chart as rows. */
function unpacked(chart) {
  const columns = chart.columns.map((column) => (Array.isArray(column) ? column : column.places.map((place) => column.names[place])));
  const count = columns.length ? columns[0].length : 0;
  return Array.from({ length: count }, (_, row) => Object.fromEntries(chart.names.map((name, place) => [name, columns[place][row]])));
}

function make(name, attributes = {}, ...inner) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inner);
  return made;
}

/** A text in which no line begins with a unit. */
function bound(text) {
  return text.replace(/{{unit}}/g, "\u00a0");
}

/** A text, with what is between backticks as code. */
function prose(text) {
  return text.split("`").map((part, place) => place % 2 ? make("code", {}, part) : bound(part));
}

function slug(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
}

const group = () => DATA.groups[state.group];
const seedColumn = () => group().columns.findIndex((column) => column.path === "seed" && column.values.length > 1);
const same = (a, b) => a.length === b.length && a.every((value, place) => value === b[place]);
const variation = () => group().variations.find((each) => same(each.values, state.values)) ?? null;

/** The charts of the chosen scenario over all seeds. */
function overSeeds() {
  const seed = seedColumn();
  return group().overSeeds.find((each) => each.values.every((value, place) => place === seed || value === state.values[place]))?.charts ?? {};
}

// Choices

function byColumn() {
  const { columns, variations } = group();
  return columns.length > 0 && columns.reduce((count, column) => count * column.values.length, 1) <= 2 * variations.length;
}

function selectOf(label, options, chosen, changed) {
  const select = make("select", {});
  options.forEach(([value, text]) => {
    const option = make("option", { value }, text);
    option.selected = value === chosen;
    select.append(option);
  });
  select.addEventListener("change", () => changed(select.value));
  return make("label", {}, label, select);
}

function showChoices() {
  const form = document.getElementById("choices");
  form.replaceChildren();
  if (DATA.groups.length > 1) {
    form.append(selectOf(DATA.groups.every((each) => each.sweep) ? "sweep" : "folder",
      DATA.groups.map((each, place) => [String(place), each.title === each.name ? each.name : `${each.name}: ${each.title}`]), String(state.group),
      (value) => { state.group = Number(value); start(); }));
  }
  const { columns, variations } = group();
  // One choice for each column, unless most of their combinations were not run.
  if (byColumn()) {
    columns.forEach((column, place) => {
      if (column.values.length < 2) return;
      const options = column.values.map((value, number) => [String(number), String(value)]);
      const seed = place === seedColumn();
      if (seed) options.unshift([ALL, ALL]);
      const chosen = seed && state.seeds ? ALL : String(column.values.findIndex((value) => value === state.values[place]));
      form.append(selectOf(column.name, options, chosen, (value) => {
        if (seed) state.seeds = value === ALL;
        state.values[place] = column.values[value === ALL ? 0 : Number(value)];
        refresh();
      }));
    });
  } else if (variations.length > 1) {
    const options = variations.map((each, place) => [String(place), columns.map((column, k) => `${column.name} = ${each.values[k]}`).join(", ")]);
    form.append(selectOf("scenario", options, String(variations.indexOf(variation())), (value) => {
      state.values = [...variations[Number(value)].values];
      refresh();
    }));
  }
  const labels = variation()?.labels ?? [];
  if (labels.length) {
    form.append(selectOf("flows", [["", "each label"], ["all", "all together"], ...labels.map((label) => [label, label])], state.label, (value) => { state.label = value; refresh(); }));
  }
  form.hidden = !form.children.length;
}

// Figures

/** A figure with its heading, its buttons and a place to draw in. */
function figureOf(chart, rows, name, heading = "h3") {
  const figure = make("figure", { id: `figure-${name}`, "data-chart": name });
  const saves = make("div", { class: "saves", role: "group", "aria-label": `Save: ${chart.title}` });
  const plot = make("div", { class: "plot", role: "img", "aria-label": `${chart.title}. ${chart.about}` });
  figure.append(make("div", { class: "head" }, make(heading, {}, chart.title), saves), make("p", { class: "about" }, ...prose(chart.about)), plot);
  for (const text of chart.leftOut ?? []) figure.append(make("p", { class: "left-out" }, ...prose(text)));
  if (rows) figure.append(tableOf(chart, rows));
  return { figure, saves, plot };
}

function button(saves, label, title, act) {
  const made = make("button", { type: "button", "aria-label": `Save ${title} as ${label}` }, label);
  made.addEventListener("click", act);
  saves.append(made);
}

/** The rows under a chart, for those who read rather than look. */
function tableOf(chart, rows) {
  const box = make("details", {}, make("summary", {}, "Data as a table"));
  box.addEventListener("toggle", () => {
    if (!box.open || box.children.length > 1) return;
    const heads = chart.names.map((name, place) => make("th", { scope: "col" }, chart.units[place] && !name.endsWith(chart.units[place]) ? `${name} (${chart.units[place]})` : name));
    const body = rows.slice(0, ROWS_SHOWN).map((row) => make("tr", {}, ...chart.names.map((name) => make("td", {}, row[name] === null ? "" : String(row[name])))));
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
    box.append(make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": `Data of ${chart.title}` }, table));
    if (rows.length > ROWS_SHOWN) box.append(make("p", { class: "note" }, `The first ${ROWS_SHOWN} of ${rows.length.toLocaleString("en")} rows; the CSV file has all rows.`));
  });
  return box;
}

function fileName(name) {
  if (name.startsWith("study-")) return [slug(DATA.title), name].join("-");
  return [slug(DATA.title), name, ...state.values.map((value) => slug(String(value))), state.label && slug(state.label)].filter(Boolean).join("-");
}

async function showChart(container, chart, name, spec, rows, names = chart.names) {
  const heading = container.closest("article") ? "h4" : "h3";
  if (chart.whyEmpty || !rows.length) {
    container.append(make("figure", { id: `figure-${name}`, "data-chart": name }, make(heading, {}, chart.title), make("p", { class: "empty" }, chart.whyEmpty ?? "Nothing to draw.")));
    return;
  }
  const { figure, saves, plot } = figureOf(chart, rows, name, heading);
  container.append(figure);
  const counted = { ...spec };
  if (spec.facet) counted.count = spec.transform?.some((each) => each.fold) ? 3 : new Set(rows.map((row) => row[spec.facet.field])).size;
  const view = await viewOf(counted, [...rows, ...(chart.events ?? [])], plot, plot.clientWidth);
  const file = fileName(name);
  button(saves, "SVG", chart.title, async () => download(`${file}.svg`, new Blob([await view.toSVG()], { type: "image/svg+xml" })));
  button(saves, "PNG", chart.title, async () => download(`${file}.png`, await pngOf(await view.toSVG())));
  button(saves, "CSV", chart.title, () => download(`${file}.csv`, new Blob([csvOf(names, rows)], { type: "text/csv" })));
  VIEWS.set(name, { view, rows, names });
}

/** The cycles of deadlocks on their fabric. The pictures are the page's own, not anybody's input. */
function showCycles(container, { cycles, findings }) {
  for (const { title, lines, svg } of cycles) {
    const name = `Cycle under ${title}`;
    const head = make("div", { class: "head" }, make("h3", {}, name));
    // Findings have the times of the deadlock.
    const figure = make("figure", { class: "cycle" }, head, ...(findings ? [] : lines.map((line) => make("p", { class: "about" }, line))));
    if (svg) {
      const box = make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": name });
      box.innerHTML = svg;
      const saves = make("div", { class: "saves", role: "group", "aria-label": `Save: ${name}` });
      button(saves, "SVG", name, () => download(`${fileName("cycle")}-${slug(title)}.svg`, new Blob([svg], { type: "image/svg+xml" })));
      head.append(saves);
      figure.append(box);
    }
    container.append(figure);
  }
}

/** Shows or hides a section with its link: other folders of the page may have what this one lacks. */
function showWhole(name, whole) {
  document.getElementById(name).hidden = !whole;
  document.querySelector(`nav a[href="#${name}"]`).hidden = !whole;
}

/** A description of a chart, with the seed if all seeds are chosen but the chart has one. */
function ofSeed(about) {
  return state.seeds ? `${about} Seed ${state.values[seedColumn()]}.` : about;
}

async function showSection(name) {
  const container = document.querySelector(`[data-charts="${name}"]`);
  if (!container) return;
  container.style.minHeight = `${container.offsetHeight}px`;
  container.replaceChildren();
  const chosen = variation();
  showWhole(name, !chosen || SECTIONS[name].some((key) => chosen.charts[key] || chosen.omitted.includes(key)));
  if (!chosen) {
    container.append(make("p", { class: "empty" }, NO_RUN));
    return;
  }
  if (name === "deadlocks") {
    container.classList.toggle("single", !chosen.cycles.length);
    showCycles(container, chosen);
  }
  for (const key of SECTIONS[name]) {
    const byLabel = chosen.charts[key];
    if (!byLabel) {
      if (chosen.omitted.includes(key)) container.append(make("p", { class: "empty" }, OMITTED));
      continue;
    }
    const label = LABELLED.has(key) ? state.label : "";
    const chart = byLabel[label] ?? byLabel[""];
    const pooled = state.seeds && key === "slowdown" ? overSeeds()[label] : null;
    const shown = pooled ?? { ...chart, about: ofSeed(chart.about) };
    await showChart(container, shown, key, DATA.specs[shown.spec], unpacked(shown));
  }
  container.style.minHeight = "";
}

// Findings

function showFindings() {
  const container = document.querySelector(`#findings [data-group="${state.group}"] .findings`);
  if (!container) return;
  const chosen = variation();
  const found = chosen?.findings ?? [];
  const why = !chosen ? NO_RUN : chosen.findings ? "No rule found anything to report." : OMITTED;
  container.replaceChildren(found.length ? make("ul", {}, ...found.map((finding) => make("li", {}, ...prose(finding.text)))) : make("p", { class: "empty" }, why));
  if (chosen && state.seeds) container.append(make("p", { class: "note" }, `Findings of seed ${state.values[seedColumn()]}.`));
}

// Counters

function figureText(value, unit) {
  if (value === null || value === undefined) return "";
  if (unit === "ps") return timeText(value);
  if (unit === "B") return bytesText(value);
  return Number.isInteger(value) ? value.toLocaleString("en") : Number(value).toPrecision(4).replace(/\.?0+$/, "");
}

function scaled(value, steps, last) {
  if (value === 0) return "0";
  for (const [unit, factor] of steps) if (Math.abs(value) >= factor) return `${Number((value / factor).toPrecision(4))} ${unit}`;
  return `${value} ${last}`;
}

const timeText = (value) => scaled(value, [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3]], "ps");
const rateText = (value) => scaled(value, [["Tb/s", 1e12], ["Gb/s", 1e9], ["Mb/s", 1e6], ["kb/s", 1e3]], "b/s");
const bytesText = (value) => scaled(value, [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]], "B");

function showCounters() {
  const container = document.querySelector('[data-charts="counters"]');
  container.replaceChildren();
  const chosen = variation();
  if (!chosen) return;
  const chart = chosen.charts.counters[""];
  const rows = unpacked(chart);
  const schemes = [...new Set(rows.map((row) => row.scheme))];
  const byCounter = new Map();
  for (const row of rows) {
    if (!byCounter.has(row.counter)) byCounter.set(row.counter, { unit: row.unit, values: {} });
    byCounter.get(row.counter).values[row.scheme] = row.value;
  }
  const { figure, saves, plot } = figureOf({ ...chart, about: ofSeed(chart.about) }, null, "counters");
  plot.removeAttribute("role");
  plot.className = "scrolls";
  plot.tabIndex = 0;
  plot.setAttribute("role", "region");
  const head = make("tr", {}, make("th", { scope: "col" }, ""), ...schemes.map((scheme) => make("th", { scope: "col", class: "number" }, scheme)));
  const body = [...byCounter].filter(([, { values }]) => Object.values(values).some((value) => value !== null)).map(([counter, { unit, values }]) =>
    make("tr", {}, make("th", { scope: "row" }, counter), ...schemes.map((scheme) => make("td", { class: "number" }, figureText(values[scheme], unit)))));
  plot.append(make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
  button(saves, "CSV", chart.title, () => download(`${fileName("counters")}.csv`, new Blob([csvOf(chart.names, rows)], { type: "text/csv" })));
  container.append(figure);
}

// Figures of a study

async function showFigures() {
  for (const [place, { id, charts }] of DATA.figures.entries()) {
    const container = document.querySelector(`[data-figure="${place}"]`);
    if (!container) continue;
    container.style.minHeight = `${container.offsetHeight}px`;
    container.replaceChildren();
    // The heading of a single chart is that of the figure.
    container.classList.toggle("titled", charts.length === 1);
    for (const [number, chart] of charts.entries()) {
      await showChart(container, chart, `study-${id}-${number + 1}`, DATA.specs[chart.spec], unpacked(chart));
    }
    container.style.minHeight = "";
  }
}

// The sweep as a whole

async function showOver() {
  const container = document.querySelector('[data-charts="over"]');
  if (!container) return;
  container.replaceChildren();
  const over = group().over;
  showWhole("over", over);
  if (!over) return;
  const rows = unpacked(over);
  const seed = seedColumn();
  const axes = group().columns.filter((column, place) => column.values.length > 1 && place !== seed);
  if (!axes.length) axes.push(group().columns[0]);
  const choice = state.over;
  if (!axes.some((column) => column.name === choice.x)) choice.x = axes[0].name;
  const figures = over.names.filter((name) => name in over.titles && rows.some((row) => row[name] !== null));
  if (!figures.includes(choice.y)) choice.y = figures.includes("slowdown_p99") ? "slowdown_p99" : figures[0];
  const controls = make("div", { class: "controls" },
    selectOf("figure", figures.map((name) => [name, over.titles[name]]), choice.y, (y) => { choice.y = y; draw("over"); }),
    selectOf("over", axes.map((column) => [column.name, column.name]), choice.x, (x) => { choice.x = x; draw("over"); }));
  // The other columns are as chosen at the top; all seeds are taken.
  const fixed = group().columns.filter((column, place) => column.name !== choice.x && place !== seed);
  const column = group().columns.find((each) => each.name === choice.x);
  const numeric = column.numbers.length > 0;
  const kept = rows.filter((row) => fixed.every((column) => row[column.name] === state.values[group().columns.indexOf(column)]))
    .map((row) => ({ ...row, [ALONG]: numeric ? column.numbers[column.values.indexOf(row[choice.x])] : row[choice.x] }));
  const filled = {
    X_FIELD: choice.x, X_PLACE: ALONG, X_TYPE: numeric ? "quantitative" : "ordinal", X_LABEL: column.label,
    Y_FIELD: choice.y, Y_TITLE: over.titles[choice.y], Y_LABEL: DATA.overLabels[choice.y],
  };
  const spec = JSON.parse(JSON.stringify(DATA.overSpec), (_, value) => (typeof value === "string" ? filled[value] ?? value : value));
  const scale = { domain: group().schemes, range: group().places.map((place) => PALETTES.light[place % PALETTES.light.length]) };
  for (const layer of spec.layer) {
    layer.encoding.color.scale = scale;
    if (layer.mark.type === "line" && group().places.some((place) => place >= PALETTES.light.length)) {
      const dashes = group().places.map((place) => DATA.dashes[Math.floor(place / PALETTES.light.length) % DATA.dashes.length]);
      layer.encoding.strokeDash = { field: "scheme", type: "nominal", scale: { domain: group().schemes, range: dashes }, legend: { title: null, orient: "top" } };
    }
    if (!numeric) {
      layer.encoding.x.sort = column.values;
      continue;
    }
    if (column.numbers.length <= 12) layer.encoding.x.axis.values = column.numbers;
    if (column.log) layer.encoding.x.scale = { type: "log", nice: false, padding: 20 };
  }
  const where = fixed.filter((each) => each.values.length > 1).map((each) => `${each.name} = ${state.values[group().columns.indexOf(each)]}`).join(", ");
  const about = `${over.about}${where ? ` ${where}.` : ""}${seed >= 0 ? " Bars: minimum to maximum over seeds." : ""}`;
  container.append(controls);
  await showChart(container, { ...over, about }, "over", spec, kept);
}

// All of it

const PARTS = new Map([
  ["findings", showFindings], ["figures", showFigures], ["counters", showCounters], ["fabric", showFabric], ["over", showOver],
  ...Object.keys(SECTIONS).map((name) => [name, () => showSection(name)]),
]);
const waiting = new Set();
let working = false;

/** Draws parts of the page anew, one after the other; what is asked for meanwhile is drawn afterwards. */
async function draw(...parts) {
  parts.forEach((part) => waiting.add(part));
  delete document.documentElement.dataset.drawn;
  if (working) return;
  working = true;
  try {
    while (waiting.size) {
      const [part] = waiting;
      waiting.delete(part);
      await PARTS.get(part)();
    }
  } finally {
    working = false;
  }
  document.documentElement.dataset.drawn = "yes";
}

function refresh() {
  // The page of a map has no scenarios to choose from.
  if (!DATA.groups.length) {
    draw("figures");
    return;
  }
  showChoices();
  draw(...PARTS.keys());
}

function start() {
  if (!DATA.groups.length) {
    refresh();
    return;
  }
  state.values = [...group().variations[0].values];
  state.label = "";
  state.seeds = byColumn() && seedColumn() >= 0;
  for (const each of document.querySelectorAll("[data-group]")) each.hidden = Number(each.dataset.group) !== state.group;
  refresh();
}

function showTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const toggle = document.getElementById("theme");
  toggle.setAttribute("aria-pressed", String(dark));
  toggle.textContent = dark ? "Light" : "Dark";
  toggle.setAttribute("aria-label", dark ? "Light colours" : "Dark colours");
}

const preferred = matchMedia("(prefers-color-scheme: dark)");
showTheme(preferred.matches);
preferred.addEventListener("change", () => { showTheme(preferred.matches); refresh(); });
document.getElementById("theme").addEventListener("click", () => { showTheme(!isDark()); refresh(); });

let width = innerWidth, soon = 0;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(soon);
  soon = setTimeout(refresh, 150);
});

const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.getAttribute("href").slice(1), link]));
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const [name, link] of links) {
      if (name === entry.target.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
}, { rootMargin: "-20% 0px -70% 0px" });
document.querySelectorAll("main section").forEach((section) => seen.observe(section));

start();
