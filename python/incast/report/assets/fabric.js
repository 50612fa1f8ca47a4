"use strict";
// The fabric in its layers: switches as boxes, links as lines, hosts under their switch. Colour is the figure.

const RAMPS = {
  utilisation: { light: ["#d3dce3", "#8fc0dd", "#3d8fc1", "#0b5a94", "#06305a"], dark: ["#5f6d78", "#3f82b3", "#4aa3d8", "#a5d9fa", "#f2faff"] },
  paused_share: { light: ["#e0dad4", "#f2b683", "#d96a12", "#9a3d00", "#5a2300"], dark: ["#70665e", "#ad6a35", "#f0883e", "#ffc795", "#fff1e4"] },
};
RAMPS.drops = RAMPS.paused_share;
const DRAWN = {{drawn}};
const LINED_HOSTS = 64;
/** Width of a letter and height of a line of the names of layers, and the largest part of the width that these take. */
const LETTER = 6.4, LINE = 14, GUTTER = 0.3;
const ARCS = 130;
const MEASURES = { utilisation: "utilisation", paused_share: "share of time paused", drops: "packets dropped or lost" };
const WAYS = { both: "busier direction", up: "away from hosts", down: "towards hosts" };

function blend(ramp, share) {
  const at = Math.max(0, Math.min(1, share)) * (ramp.length - 1);
  const low = Math.min(ramp.length - 2, Math.floor(at));
  const part = (hex, place) => parseInt(hex.slice(1 + 2 * place, 3 + 2 * place), 16);
  const mixed = [0, 1, 2].map((k) => Math.round(part(ramp[low], k) + (part(ramp[low + 1], k) - part(ramp[low], k)) * (at - low)));
  return `rgb(${mixed.join(",")})`;
}

function svgElement(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function percent(share) {
  return share === 0 ? "0 %" : share < 0.001 ? "< 0.1 %" : `${Number((share * 100).toPrecision(share < 0.1 ? 2 : 3))} %`;
}

/** A value of a measure as text. */
function shown(measure, value) {
  return measure === "drops" ? Math.round(value).toLocaleString("en") : percent(value);
}

/** Links by pair of nodes, the value of each way, and who is next to whom. */
function pairsOf(fabric, figures, measure) {
  const pairs = new Map();
  const values = figures[measure];
  fabric.from.forEach((from, port) => {
    const to = fabric.to[port];
    const [low, high] = [from, to].sort((a, b) => fabric.tiers[a] - fabric.tiers[b] || a - b);
    const key = `${low}-${high}`;
    if (!pairs.has(key)) pairs.set(key, { low, high, up: 0, down: 0, ports: { up: 0, down: 0 }, rate: fabric.rate[port] });
    const pair = pairs.get(key);
    const way = from === low ? "up" : "down";
    pair[way] = Math.max(pair[way], values[port]);
    pair.ports[way] += 1;
  });
  // A port without traffic is not there.
  return [...pairs.values()].map((pair) => ({ ...pair, links: Math.max(pair.ports.up, pair.ports.down) }));
}

function valueOf(pair, way) {
  return way === "both" ? Math.max(pair.up, pair.down) : pair[way];
}

/** The lines of a layer's name; of unnamed nodes, with the first and the last name. */
function layerName(fabric, tier, nodes, named) {
  const count = nodes.length.toLocaleString("en");
  if (tier === 0) return [`${count} ${fabric.vms ? "VM" : "host"}${nodes.length === 1 ? "" : "s"}`];
  const range = named ? [] : [`${fabric.nodes[nodes[0]]} to`, fabric.nodes[nodes.at(-1)]];
  if (fabric.vms && tier === 1) return [`${count} server${nodes.length === 1 ? "" : "s"}`, ...range];
  return [`tier ${tier}`, `${count} ${nodes.length === 1 ? "switch" : "switches"}`, ...range];
}

/** Where every node stands: to the right of the names of layers. */
function layoutOf(fabric, pairs, whole) {
  const nodesOf = (tier) => fabric.nodes.map((_, node) => node).filter((node) => fabric.tiers[node] === tier);
  const names = [...new Set(fabric.tiers)].flatMap((tier) => layerName(fabric, tier, nodesOf(tier), tier === 0));
  const left = Math.min(GUTTER * whole, LETTER * Math.max(...names.map((name) => name.length)) + 8);
  const width = whole - left;
  const tiers = [...new Set(fabric.tiers)].sort((a, b) => b - a);
  const places = new Map();
  const rows = [];
  const gap = fabric.nodes.length > 400 ? 118 : 96;
  let y = 34;
  const home = new Map();
  for (const pair of pairs) {
    if (fabric.tiers[pair.low] === 0 && !home.has(pair.low)) home.set(pair.low, pair.high);
  }
  for (const tier of tiers.filter((each) => each > 0)) {
    const nodes = nodesOf(tier);
    const step = width / nodes.length;
    // As wide as names need, where there is room.
    const named = 5.9 * Math.max(...nodes.map((node) => fabric.nodes[node].length)) + 4.1;
    const size = Math.max(2, Math.min(56, Math.max(step * 0.68, Math.min(named, step - 4))));
    // Links within a layer are arcs above it.
    const within = pairs.some((pair) => fabric.tiers[pair.low] === tier && fabric.tiers[pair.high] === tier);
    if (within) y += ARCS;
    nodes.forEach((node, place) => places.set(node, { x: left + (place + 0.5) * step, y, w: size, h: 14, kind: "switch" }));
    rows.push({ tier, y, lines: layerName(fabric, tier, nodes, size >= named) });
    y += gap;
  }
  const hosts = nodesOf(0);
  const racks = new Map();
  for (const host of hosts) {
    const rack = home.get(host) ?? -1;
    if (!racks.has(rack)) racks.set(rack, []);
    racks.get(rack).push(host);
  }
  const lined = hosts.length <= LINED_HOSTS;
  // Racks in the order of their switches; hosts whose first switch has a place stand under it.
  const order = [...racks.keys()].sort((a, b) => (places.get(a)?.x ?? 0) - (places.get(b)?.x ?? 0));
  const step = width / Math.max(1, order.length);
  let bottom = y;
  const merged = !lined && step < 7;
  if (hosts.length) {
    const top = y - (lined ? 10 : gap - 44);
    const largest = Math.max(...[...racks.values()].map((rack) => rack.length));
    const space = step * 0.86;
    let columns = 1, cell = space;
    if (lined) {
      columns = largest;
      cell = Math.max(3, Math.min(16, space / columns - 2));
    } else if (!merged) {
      // Cells as square as the rack's strip allows, at most 130 pixels high.
      for (columns = 1; columns < largest; columns++) {
        cell = space / columns - 1;
        if (Math.ceil(largest / columns) * (Math.min(cell, 12) + 1) <= 130) break;
      }
      cell = Math.max(2, Math.min(12, space / columns - 1));
    }
    order.forEach((rack, place) => {
      const members = racks.get(rack);
      const centre = left + (place + 0.5) * step;
      members.forEach((host, number) => {
        if (merged) {
          places.set(host, { x: centre, y: top, w: Math.max(1, step * 0.8), h: 12, kind: "host", merged: rack });
          return;
        }
        const used = Math.min(columns, members.length);
        const column = number % columns, row = Math.floor(number / columns);
        const x = centre + (column - (used - 1) / 2) * (cell + (lined ? 2 : 1));
        const at = top + row * (cell + 1);
        places.set(host, { x, y: at, w: cell, h: cell, kind: "host" });
        bottom = Math.max(bottom, at + cell);
      });
      if (merged) bottom = Math.max(bottom, top + 12);
    });
    rows.push({ tier: 0, y: top, lines: layerName(fabric, 0, hosts, true) });
  }
  return { places, rows, lined, left, width, height: bottom + 22 };
}

/** Draws the fabric into a container; returns what is needed to save it. */
function drawFabric(container, packed, fabric, choice, announce) {
  const figures = packed.schemes[choice.scheme];
  const width = Math.max(280, container.clientWidth);
  const pairs = pairsOf(fabric, figures, choice.measure);
  const layout = layoutOf(fabric, pairs, width);
  const most = niceTop(Math.max(...highestOf(choice.scale === "all" ? packed : { schemes: { [choice.scheme]: figures } }, choice.measure).map(([, value]) => value)));
  const ramp = RAMPS[choice.measure][isDark() ? "dark" : "light"];
  const colour = (value) => blend(ramp, most ? value / most : 0);
  const svg = svgElement("svg", {
    xmlns: "http://www.w3.org/2000/svg", width, height: layout.height, viewBox: `0 0 ${width} ${layout.height}`,
    tabindex: 0, role: "application", "aria-label": `Fabric: ${MEASURES[choice.measure]} of links under ${choice.scheme}. Arrow keys move from node to node.`,
    "font-family": getComputedStyle(document.body).fontFamily, "font-size": 11.5,
  });
  svg.append(svgElement("rect", { width, height: layout.height, fill: css("--ground") }));
  const drawn = drawLinks(svg, fabric, pairs, layout, choice.way, colour);
  drawNodes(svg, fabric, pairs, layout, choice.way, colour);
  for (const row of layout.rows) {
    const letters = Math.floor((layout.left - 4) / LETTER);
    row.lines.forEach((line, place) => {
      const text = line.length > letters ? `${line.slice(0, letters - 1)}…` : line;
      svg.append(svgElement("text", { class: "layer", x: 0, y: row.y + 11 + LINE * place, fill: css("--quiet") }, text));
    });
  }
  container.replaceChildren(svg);
  walkable(svg, fabric, figures, pairs, layout, choice, announce);
  return { svg, most, ramp, left: pairs.length - layoutHidden(layout, pairs, fabric) - drawn };
}

function niceTop(value) {
  if (value <= 0) return 0;
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1];
  return steps.find((step) => value <= step * 1.0000001) ?? value;
}

/** Pairs that are no lines: hosts in cells carry the colour of their link. */
function layoutHidden(layout, pairs, fabric) {
  return layout.lined ? 0 : pairs.filter((pair) => fabric.tiers[pair.low] === 0).length;
}

function drawLinks(svg, fabric, pairs, layout, way, colour) {
  const lines = pairs.filter((pair) => layout.lined || fabric.tiers[pair.low] > 0);
  const highest = Math.max(...fabric.rate);
  lines.sort((a, b) => valueOf(b, way) - valueOf(a, way));
  const kept = lines.slice(0, DRAWN).reverse();
  const group = svgElement("g", { fill: "none", class: "links" });
  const thin = kept.length > 600 ? 0.8 : kept.length > 150 ? 1.1 : 1.7;
  for (const pair of kept) {
    const a = layout.places.get(pair.low), b = layout.places.get(pair.high);
    // The top of such a curve is half as high as its handle.
    const lift = 24 + (2 * ARCS - 30) * Math.abs(a.x - b.x) / layout.width;
    const path = a.y === b.y
      ? `M${a.x.toFixed(1)} ${a.y}Q${((a.x + b.x) / 2).toFixed(1)} ${(a.y - lift).toFixed(1)} ${b.x.toFixed(1)} ${b.y}`
      : `M${a.x.toFixed(1)} ${(a.y + a.h / 2).toFixed(1)}L${b.x.toFixed(1)} ${(b.y + b.h / 2).toFixed(1)}`;
    const wide = thin * (pair.rate >= highest ? 1.35 : 1) * Math.min(2, Math.sqrt(pair.links));
    group.append(svgElement("path", { d: path, stroke: colour(valueOf(pair, way)), "stroke-width": wide.toFixed(2), "data-low": pair.low, "data-high": pair.high }));
  }
  svg.append(group);
  return kept.length;
}

function drawNodes(svg, fabric, pairs, layout, way, colour) {
  const values = new Map();
  for (const pair of pairs) {
    if (fabric.tiers[pair.low] === 0) values.set(pair.low, Math.max(values.get(pair.low) ?? 0, valueOf(pair, way)));
  }
  const line = css("--quiet"), ground = css("--raised");
  const group = svgElement("g", {});
  const sums = new Map();
  // The names of a layer are all shown or none.
  const fits = (node, at) => at.w >= 5.9 * fabric.nodes[node].length + 4;
  const cramped = new Set([...layout.places].filter(([node, at]) => !fits(node, at)).map(([node]) => fabric.tiers[node]));
  for (const [node, at] of layout.places) {
    if (at.merged !== undefined) {
      const rack = sums.get(at.merged) ?? { sum: 0, count: 0, at, node };
      rack.sum += values.get(node) ?? 0;
      rack.count += 1;
      sums.set(at.merged, rack);
      continue;
    }
    const host = at.kind === "host";
    group.append(svgElement("rect", {
      x: (at.x - at.w / 2).toFixed(1), y: at.y.toFixed(1), width: at.w.toFixed(1), height: at.h.toFixed(1), rx: host ? 1 : 2,
      fill: host ? colour(values.get(node) ?? 0) : ground, stroke: host ? "none" : line, "stroke-width": 1, "data-node": node,
    }));
    if (!host && !cramped.has(fabric.tiers[node])) {
      group.append(svgElement("text", { x: at.x.toFixed(1), y: at.y + 10.5, "text-anchor": "middle", "font-size": 9.5, fill: css("--text"), "pointer-events": "none" }, fabric.nodes[node]));
    }
  }
  for (const rack of sums.values()) {
    group.append(svgElement("rect", {
      x: (rack.at.x - rack.at.w / 2).toFixed(1), y: rack.at.y, width: rack.at.w.toFixed(1), height: rack.at.h,
      fill: colour(rack.sum / rack.count), "data-node": rack.node,
    }));
  }
  svg.append(group);
}

/** What there is to say of a node: its links, the busiest first. */
function sayNode(fabric, figures, node) {
  const links = [];
  fabric.from.forEach((from, port) => {
    if (from === node) links.push({ peer: fabric.to[port], out: port, rate: fabric.rate[port] });
  });
  const back = new Map();
  fabric.to.forEach((to, port) => {
    if (to === node) back.set(fabric.from[port], Math.max(back.get(fabric.from[port]) ?? 0, figures.utilisation[port]));
  });
  links.sort((a, b) => figures.utilisation[b.out] - figures.utilisation[a.out]);
  const tier = fabric.tiers[node];
  const kind = tier === 0 ? (fabric.vms ? "VM" : "host") : tier === 1 && fabric.vms ? "server" : `switch of tier ${tier}`;
  const one = (link) => {
    const paused = figures.paused_share[link.out];
    return `to ${fabric.nodes[link.peer]} ${percent(figures.utilisation[link.out])} out, ${percent(back.get(link.peer) ?? 0)} in` + (paused ? `, paused ${percent(paused)} of the time` : "");
  };
  const many = links.length > 3 ? ` ${links.length} links, busiest:` : "";
  return `${fabric.nodes[node]}, ${kind}:${many} ${links.slice(0, 3).map(one).join("; ")}.`;
}

/** Pointer and arrow keys choose a node; its links stand out. */
function walkable(svg, fabric, figures, pairs, layout, choice, announce) {
  const layers = layout.rows.map((row) => [...layout.places.entries()]
    .filter(([node, at]) => fabric.tiers[node] === row.tier && (row.tier > 0 || at.merged === undefined))
    .sort((a, b) => a[1].y - b[1].y || a[1].x - b[1].x).map(([node]) => node)).filter((layer) => layer.length);
  const frame = svgElement("rect", { fill: "none", stroke: css("--accent"), "stroke-width": 2, rx: 3, visibility: "hidden" });
  svg.append(frame);
  const paths = [...svg.querySelectorAll(".links path")];
  let chosen = null;
  const choose = (node) => {
    chosen = node;
    for (const path of paths) {
      const near = node === null || Number(path.dataset.low) === node || Number(path.dataset.high) === node;
      path.setAttribute("opacity", near ? 1 : 0.12);
    }
    if (node === null) {
      frame.setAttribute("visibility", "hidden");
      announce("");
      return;
    }
    const at = layout.places.get(node);
    for (const [name, value] of Object.entries({ x: at.x - at.w / 2 - 2, y: at.y - 2, width: at.w + 4, height: at.h + 4, visibility: "visible" })) frame.setAttribute(name, value);
    announce(sayNode(fabric, figures, node));
  };
  svg.addEventListener("click", (event) => choose(event.target.dataset?.node === undefined ? null : Number(event.target.dataset.node)));
  svg.addEventListener("pointermove", (event) => {
    const { node, low, high } = event.target.dataset ?? {};
    if (node !== undefined) hint(null, event, null, sayNode(fabric, figures, Number(node)));
    else if (low !== undefined) {
      const pair = pairs.find((each) => each.low === Number(low) && each.high === Number(high));
      hint(null, event, null, `${fabric.nodes[pair.low]} to ${fabric.nodes[pair.high]} ${shown(choice.measure, pair.up)}, back ${shown(choice.measure, pair.down)} (${MEASURES[choice.measure]})` + (pair.links > 1 ? `, maximum of ${pair.links} links` : ""));
    } else hint(null, event, null, null);
  });
  svg.addEventListener("pointerleave", (event) => hint(null, event, null, null));
  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key === "Escape") choose(null);
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [down, right] = steps[event.key];
    let layer = Math.max(0, layers.findIndex((each) => each.includes(chosen)));
    let place = chosen === null ? -right : layers[layer].indexOf(chosen);
    if (chosen === null) return choose(layers[0][0]);
    if (down) {
      const next = Math.max(0, Math.min(layers.length - 1, layer + down));
      place = Math.round((place / Math.max(1, layers[layer].length - 1)) * (layers[next].length - 1));
      layer = next;
    } else place = (place + right + layers[layer].length) % layers[layer].length;
    choose(layers[layer][Math.max(0, place)]);
  });
}
