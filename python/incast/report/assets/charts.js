"use strict";
// Vega-Lite charts in figures: drawn to the width there is, in the page's colours, saved as SVG, PNG and CSV.

const PALETTES = { light: {{light}}, dark: {{dark}} };
const PAPER = { "{{ground}}": "--ground", "{{ink}}": "--text" };

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The specification in the colours of the theme. */
function themed(spec) {
  if (!isDark()) return structuredClone(spec);
  let text = JSON.stringify(spec);
  PALETTES.light.forEach((colour, place) => {
    text = text.replaceAll(`"${colour}"`, `"${PALETTES.dark[place]}"`);
  });
  for (const [colour, name] of Object.entries(PAPER)) text = text.replaceAll(`"${colour}"`, `"${css(name)}"`);
  return JSON.parse(text);
}

function config() {
  const font = getComputedStyle(document.body).fontFamily;
  const text = css("--text"), quiet = css("--quiet"), line = css("--line");
  return {
    background: css("--ground"),
    font,
    padding: 2,
    // The figure has a name, and its data as a table.
    aria: false,
    view: { stroke: null },
    axis: {
      labelColor: quiet, titleColor: quiet, domainColor: line, tickColor: line, gridColor: line, gridOpacity: 0.6,
      labelFontSize: 11, titleFontSize: 11.5, titleFontWeight: "normal", tickSize: 4, labelLimit: 150,
    },
    axisX: { titleAnchor: "end" },
    header: { labelColor: text, labelFontSize: 12, labelFontWeight: 600, labelPadding: 6, labelLimit: WIDEST_PANEL + 20 },
    legend: { labelColor: text, titleColor: quiet, labelFontSize: 12, labelLimit: WIDEST_ENTRY + 20, titleFontWeight: "normal", symbolOpacity: 1, symbolBaseFillColor: text },
    facet: { spacing: 26 },
  };
}

/** Approximate width of an entry of a legend, in pixels: 7 for each letter. */
function entryWidth({ scale, legend }) {
  const longest = Math.max(0, ...(scale?.domain ?? []).map((name) => String(name).length));
  // Names of equal schemes are two names.
  return Math.max(150, 36 + Math.min(WIDEST_ENTRY, 7 * longest * (legend.labelExpr ? 2 : 1)));
}

/** Widest names of panels and of entries of legends, in pixels. */
const WIDEST_PANEL = 300, WIDEST_ENTRY = 240;
const pen = document.createElement("canvas").getContext("2d");

/** A text without its middle, of so many letters; with the first letter that differs from the nearest of other names. */
function cut(text, names, letters) {
  const common = (name) => {
    let end = 0;
    while (end < text.length && name[end] === text[end]) end++;
    return end;
  };
  const differs = Math.max(0, ...names.filter((name) => name !== text).map(common));
  const left = Math.ceil(letters / 2), right = letters - left;
  if (differs < left || differs >= text.length - right) return `${text.slice(0, left)}…${text.slice(text.length - right)}`;
  const head = Math.ceil(letters / 4), from = differs - head;
  const end = from + letters - head;
  return `${text.slice(0, head)}…${text.slice(from, end)}${end < text.length ? "…" : ""}`;
}

vega.expressionFunction("shortened", (text, names, widest, weight) => {
  pen.font = `${weight} 12px ${getComputedStyle(document.body).fontFamily}`;
  const whole = String(text);
  let made = whole;
  for (let letters = whole.length - 1; letters > 2 && pen.measureText(made).width > widest; letters--) made = cut(whole, names, letters);
  return made;
});

/** The specification with names of panels and entries that are as wide as there is space; `panel`: width of a panel. */
function named(spec, panel) {
  const label = (given, names, widest, weight) => ({
    ...given,
    labelExpr: `shortened(${given.labelExpr ?? "datum.label"}, ${JSON.stringify((names ?? []).map(String))}, ${widest}, ${weight})`,
  });
  return JSON.parse(JSON.stringify(spec, (_, value) => {
    if (value?.header) return { ...value, header: label(value.header, Array.isArray(value.sort) ? value.sort : [], panel, 600) };
    if (value?.type === "nominal" && value.legend) return { ...value, legend: label(value.legend, value.scale?.domain, WIDEST_ENTRY, 400) };
    return value;
  }));
}

/** Least width of a panel in pixels, and most times that a chart is drawn to find its width. */
const LEAST = 120, TRIES = 3;

/** The specification for a width: panels in as many columns as fit, one chart as wide as there is. */
function fitted(spec, width, inner) {
  const panels = spec.facet;
  const columns = panels ? Math.max(1, Math.min(spec.columns, spec.count ?? spec.columns, Math.floor(width / 270))) : 1;
  const given = inner ?? Math.max(180, Math.floor((width - 60 * columns) / columns));
  const made = { ...spec };
  delete made.count;
  const fields = new Set();
  JSON.stringify(made, (_, value) => {
    if (value?.legend?.orient === "top") fields.add(value.field);
    return value;
  });
  const stacked = fields.size > 1 && width < 300 * fields.size;
  if (stacked) made.config = { legend: { layout: { top: { anchor: "start", direction: "vertical" } } } };
  const available = stacked ? width : width / Math.max(1, fields.size);
  const legends = JSON.parse(JSON.stringify(made, (_, value) => value?.legend?.orient === "top"
    ? { ...value, legend: { ...value.legend, columns: Math.max(1, Math.floor(available / entryWidth(value))) } } : value));
  if (!panels) return [{ ...legends, width: given }, columns, given];
  return [{ ...legends, columns, spec: { ...legends.spec, width: given } }, columns, given];
}

async function viewOf(spec, rows, container, available) {
  const width = available - 4;
  const make = async (inner) => {
    const [fit, columns, given] = fitted(spec, width, inner);
    const texts = named(themed(fit), Math.min(WIDEST_PANEL, given + 20));
    const compiled = vegaLite.compile({ ...texts, data: { values: rows } }, { config: config(), logger: vega.logger(vega.Error) });
    const view = new vega.View(vega.parse(compiled.spec), { renderer: "svg", container, hover: true, tooltip: hint });
    await view.runAsync();
    const svg = container.querySelector("svg");
    return [view, columns, given, svg ? svg.getBoundingClientRect().width : 0];
  };
  let [view, columns, given, drawn] = await make(null);
  // Axes take what they take: again with what they leave, which depends on the labels that fit.
  let spare = (width - drawn) / columns;
  for (let tries = 0; tries < TRIES && (tries ? drawn > width + 1 : Math.abs(spare) > 3) && given > LEAST; tries++) {
    view.finalize();
    container.replaceChildren();
    [view, columns, given, drawn] = await make(Math.max(LEAST, Math.floor(given + spare - 1)));
    spare = (width - drawn) / columns;
  }
  return view;
}

/** A tooltip that follows the pointer. */
function hint(_, event, __, value) {
  const box = document.getElementById("tooltip");
  if (value === null || value === undefined || value === "") {
    box.hidden = true;
    return;
  }
  box.replaceChildren();
  for (const [name, text] of Object.entries(typeof value === "object" ? value : { "": value })) {
    const line = document.createElement("span");
    line.textContent = name ? `${name}: ${text}` : `${text}`;
    box.append(line);
  }
  place(box, event);
}

function place(box, event) {
  box.hidden = false;
  const x = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8);
  const above = event.clientY + 18 + box.offsetHeight > innerHeight;
  box.style.left = `${Math.max(8, x)}px`;
  box.style.top = `${above ? event.clientY - box.offsetHeight - 12 : event.clientY + 18}px`;
}

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function csvOf(names, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [names.join(","), ...rows.map((row) => names.map((name) => cell(row[name])).join(","))].join("\n") + "\n";
}

/** An SVG drawing as a PNG of twice its size. */
function pngOf(svg) {
  return new Promise((done, failed) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = image.width * 2;
      canvas.height = image.height * 2;
      const context = canvas.getContext("2d");
      context.scale(2, 2);
      context.drawImage(image, 0, 0);
      canvas.toBlob(done, "image/png");
    };
    image.onerror = () => failed(new Error("the chart cannot be converted to PNG"));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
}
