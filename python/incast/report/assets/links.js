"use strict";
// The section of the fabric: choices, legend, drawing and table of links.

const SCALES = { all: "all schemes", own: "this scheme" };
/** Most schemes with their highest value next to the legend. */
const HIGHEST = 4;

function showFabric() {
  const container = document.querySelector('[data-charts="fabric"]');
  container.replaceChildren();
  const chosen = variation();
  const packed = chosen?.fabric;
  if (!packed) {
    container.append(make("p", { class: "empty" }, chosen ? OMITTED : NO_RUN));
    return;
  }
  const fabric = DATA.fabrics[packed.of];
  const choice = state.fabric;
  const schemes = Object.keys(packed.schemes);
  if (!choice.chosen) choice.measure = tellingMeasure(packed);
  if (!schemes.includes(choice.scheme)) [choice.scheme] = highestOf(packed, choice.measure).find(([, highest]) => highest > 0) ?? schemes;
  const chart = { title: "Fabric", about: ofSeed(packed.about), leftOut: packed.leftOut };
  const { figure, saves, plot } = figureOf(chart, null, "fabric");
  plot.setAttribute("role", "group");
  const redraw = (change) => { Object.assign(choice, change); paint(); };
  const controls = make("div", { class: "controls" },
    selectOf("scheme", schemes.map((scheme) => [scheme, scheme]), choice.scheme, (scheme) => redraw({ scheme })),
    selectOf("colour", Object.entries(MEASURES), choice.measure, (measure) => redraw({ measure, chosen: true })),
    selectOf("direction", Object.entries(WAYS), choice.way, (way) => redraw({ way })));
  if (schemes.length > 1) controls.append(selectOf("scale", Object.entries(SCALES), choice.scale, (scale) => redraw({ scale })));
  const legend = make("div", { class: "legend" });
  const said = make("p", { class: "chosen", "aria-live": "polite" });
  const left = make("p", { class: "left-out" });
  const busiest = make("div", {});
  plot.before(controls, legend);
  plot.after(said, left, busiest);
  container.append(figure);
  let svg = null;
  const paint = () => {
    const drawn = drawFabric(plot, packed, fabric, choice, (text) => { said.textContent = text; });
    svg = drawn.svg;
    legend.replaceChildren(legendOf(drawn), scaleNote(packed, choice));
    left.textContent = drawn.left > 0 ? `The ${DRAWN.toLocaleString("en")} links with the highest values are drawn, ${drawn.left.toLocaleString("en")} others are not; the CSV file has all links.` : "";
    busiest.replaceChildren(busiestLinks(packed, fabric, choice));
  };
  paint();
  const text = () => new XMLSerializer().serializeToString(svg);
  const name = () => fileName(`fabric-${slug(choice.scheme)}`);
  button(saves, "SVG", chart.title, () => download(`${name()}.svg`, new Blob([text()], { type: "image/svg+xml" })));
  button(saves, "PNG", chart.title, async () => download(`${name()}.png`, await pngOf(text())));
  button(saves, "CSV", chart.title, () => download(`${fileName("fabric")}.csv`, new Blob([csvOf(LINK_NAMES, linkRows(packed, fabric))], { type: "text/csv" })));
}

/** The highest value of a measure under each scheme, in their order. */
function highestOf(packed, measure) {
  return Object.entries(packed.schemes).map(([scheme, figures]) => [scheme, figures[measure].reduce((a, b) => Math.max(a, b), 0)]);
}

/** The measure that matters in these runs: pauses above 1 % of the time, else drops, else utilisation. */
function tellingMeasure(packed) {
  const most = (measure) => Math.max(...highestOf(packed, measure).map(([, value]) => value));
  if (most("paused_share") > 0.01) return "paused_share";
  return most("drops") > 0 ? "drops" : "utilisation";
}

const LINK_NAMES = ["scheme", "port", "node_name", "peer_name", "tier", "peer_tier", "rate_bps", "utilisation", "paused_share", "marks", "drops", "peak_queue_bytes"];

function linkRows(packed, fabric) {
  return Object.entries(packed.schemes).flatMap(([scheme, figures]) => fabric.from.map((from, place) => ({
    scheme, port: fabric.port[place], node_name: fabric.nodes[from], peer_name: fabric.nodes[fabric.to[place]], tier: fabric.tiers[from],
    peer_tier: fabric.tiers[fabric.to[place]], rate_bps: fabric.rate[place],
    ...Object.fromEntries(Object.keys(figures).map((name) => [name, figures[name][place]])),
  })));
}

function superlative(measure) {
  return measure === "drops" ? "Most" : "Highest";
}

/** Schemes that the scale covers, and the highest value of each scheme. */
function scaleNote(packed, { measure, scheme, scale }) {
  const highest = highestOf(packed, measure).sort((a, b) => b[1] - a[1]);
  if (highest.length < 2 || !highest[0][1]) return "";
  const listed = highest.slice(0, HIGHEST).map(([name, value]) => `${shown(measure, value)} (${name})`).join(", ");
  const more = highest.length > HIGHEST ? `, ${highest.length - HIGHEST} more` : "";
  const covers = scale === "all" ? "The scale is the same for all schemes." : `The scale is that of ${scheme} alone.`;
  const interval = measure === "drops" ? "" : ` (of ${packed.interval})`;
  return make("p", { class: "note" }, bound(`${covers} ${superlative(measure)} ${MEASURES[measure]}${interval}: ${listed}${more}.`));
}

function legendOf({ most, ramp }) {
  if (!most) return make("p", { class: "note" }, `The ${MEASURES[state.fabric.measure]} of all links is 0.`);
  const svg = svgElement("svg", { width: 250, height: 30, role: "img", "aria-label": `Colours from 0 to ${shown(state.fabric.measure, most)}` });
  const steps = 60;
  for (let step = 0; step < steps; step++) svg.append(svgElement("rect", { x: 4 + step * 4, y: 2, width: 4.2, height: 9, fill: blend(ramp, step / (steps - 1)) }));
  [0, 0.5, 1].forEach((share, place) => svg.append(svgElement("text", { x: 4 + share * 240, y: 25, "font-size": 11, fill: css("--quiet"), "text-anchor": ["start", "middle", "end"][place] }, shown(state.fabric.measure, share * most))));
  return svg;
}

function busiestLinks(packed, fabric, choice) {
  const figures = packed.schemes[choice.scheme];
  const order = fabric.from.map((_, place) => place).sort((a, b) => figures[choice.measure][b] - figures[choice.measure][a] || a - b).slice(0, 8);
  const head = ["from", "to", "rate", "utilisation", "share of time paused", "ECN marks", "drops or losses", "longest queue, of one priority"].map((name, place) => make("th", { scope: "col", ...(place > 1 ? { class: "number" } : {}) }, name));
  const body = order.map((place) => {
    const cells = [rateText(fabric.rate[place]), percent(figures.utilisation[place]), percent(figures.paused_share[place]), figures.marks[place].toLocaleString("en"), figures.drops[place].toLocaleString("en"), bytesText(figures.peak_queue_bytes[place])];
    return make("tr", {}, make("th", { scope: "row" }, fabric.nodes[fabric.from[place]]), make("td", {}, fabric.nodes[fabric.to[place]]), ...cells.map((cell) => make("td", { class: "number" }, cell)));
  });
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
  const title = `Links with the ${superlative(choice.measure).toLowerCase()} ${MEASURES[choice.measure]}, ${choice.scheme}`;
  return make("div", {}, make("h4", { class: "caption" }, title), make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": title }, table));
}
