// The picture: one panel for each network, all with the same places.
const strongest = Math.max(...data.values.flat().map((v) => Math.abs(v || 0)), 1e-9);
const many = nodes.length > 100;

// box is the rectangle around the nodes, with room for their names.
const shown = nodes.filter((node) => node.shown);
const across = shown.length ? Math.max(...shown.map((n) => n.x)) - Math.min(...shown.map((n) => n.x)) : 0;
const stagesWide = element("stages").clientWidth, panelWide = stagesWide < 660 ? stagesWide : stagesWide / data.panels.length;
const legible = Math.max(15, across / 75, 9 * across / panelWide); // at least 9 pixels
const fits = 44 / (0.62 * Math.max(1, ...nodes.map((node) => [...node.label].length)));
const inside = !many && !data.radii && fits >= legible;
const font = inside ? Math.min(fits, 24) : legible;
const radius = many ? 17 : inside ? 25 : 19;
const radiusOf = (i, panel) => radius * (data.radii ? data.radii[panel][i] : 1);
const pitch = 1.15 * font, most = Math.max(1, ...nodes.map((node) => node.lines.length)); // lines of names

function boxOfAll() {
  const half = (node) => Math.max(radius, inside || many ? 0 : [...node.label].length * font * 0.31) + 8;
  const xs = shown.flatMap((n) => [n.x - half(n), n.x + half(n)]), below = radius + (inside ? 8 : most * pitch + 10), ys = shown.flatMap((n) => [n.y - below, n.y + below]);
  let [x, y] = [Math.min(...xs, 0), Math.min(...ys, 0)];
  let [w, h] = [Math.max(...xs, 1) - x, Math.max(...ys, 1) - y];
  const title = data.panels[0] ? 2 * font : 0;
  const width = Math.max(w, 520), height = Math.max(h, 300);
  return { x: x - (width - w) / 2, y: y - (height - h) / 2 - title, w: width, h: height + title };
}

let home = boxOfAll();
let view = { ...home };

const panels = data.values.map((_, panel) => {
  const layers = { marks: svg("g"), edges: svg("g"), nodes: svg("g") };
  const root = svg("svg", {
    class: "stage", tabindex: 0, role: "application", "aria-describedby": "keys", preserveAspectRatio: "xMidYMid meet",
    "aria-label": `Network${data.panels[panel] ? " of " + data.panels[panel] : ""}: ${shown.length} nodes. Arrow keys go through nodes and their edges.`,
  }, layers.marks, layers.edges, layers.nodes);
  const title = data.panels[panel] ? svg("text", { class: "title", "font-size": 1.3 * font }) : null;
  if (title) {
    title.textContent = data.panels[panel];
    root.append(title);
  }
  element("stages").append(root);
  return { panel, root, layers, title, lines: new Map(), discs: [] };
});

const steps = [...Array(41).keys()].map((k) => k / 40); // along an edge

// prominent are the nodes by strength, and those of them that are always named, with the place of the
// name. Names outside of nodes stand below or above, first on the side with fewer and weaker edges, or
// beside them: where they cover no edge, else no node, else no name.
function prominent() {
  const strength = nodes.map(() => 0), lean = nodes.map(() => 0); // to below
  pairs.forEach((pair) => {
    const size = Math.abs(data.values[0][pair.i] || 0) + Math.abs((data.values[1] || [])[pair.i] || 0);
    const [a, b] = pair.ends.map((end) => nodes[end]), down = size * (b.y - a.y) / (Math.hypot(b.x - a.x, b.y - a.y) || 1);
    strength[a.i] += size;
    strength[b.i] += size;
    lean[a.i] += down;
    lean[b.i] -= down;
  });
  const order = shown.map((n) => n.i).sort((a, b) => strength[b] - strength[a]);
  const names = new Map(inside ? order.map((i) => [i, [0, 0]]) : []), taken = [], drawn = pairs.filter((pair) => data.values.some((of) => of[pair.i]));
  for (const i of inside ? [] : order.slice(0, many ? 60 : 100)) {
    const { x, y, lines } = nodes[i], half = Math.max(...lines.map((line) => [...line].length)) * font * 0.28, high = lines.length * pitch / 2, outside = radius + 0.15 * font + high;
    const free = ([dx, dy]) => !taken.some((t) => Math.abs(t.x - x - dx) < t.half + half && Math.abs(t.y - y - dy) < t.high + high);
    const clear = ([dx, dy]) => free([dx, dy]) && !shown.some((n) => n.i !== i && Math.abs(n.x - x - dx) < radius + half && Math.abs(n.y - y - dy) < radius + high);
    const within = ([dx]) => x + dx - half > home.x && x + dx + half < home.x + home.w;
    const apart = ([dx, dy]) => clear([dx, dy]) && within([dx]) && !drawn.some(({ ends: [a, b] }) => steps.some((at) =>
      Math.abs(nodes[a].x + at * (nodes[b].x - nodes[a].x) - x - dx) < half + 4 && Math.abs(nodes[a].y + at * (nodes[b].y - nodes[a].y) - y - dy) < high + 4));
    const beside = radius + 0.4 * font + half, upright = lean[i] > 0 ? [[0, -outside], [0, outside]] : [[0, outside], [0, -outside]];
    const around = [...upright, [beside, 0], [-beside, 0]], corners = [-1, 1].flatMap((u) => [-1, 1].map((v) => [u * (radius + half), v * outside]));
    const to = around.find(apart) || upright.find(clear) || corners.find(clear) || [...around, ...corners].find(free) || (many ? null : upright[0]);
    if (!to) continue;
    taken.push({ x: x + to[0], y: y + to[1], half, high });
    names.set(i, [to[0], to[1] - (lines.length - 1) * pitch / 2]); // of the first line
  }
  return { order, names };
}
const rank = prominent();

for (const p of panels) {
  for (const i of [...rank.order].reverse()) {
    const node = nodes[i], disc = svg("circle", { r: radiusOf(i, p.panel) }), [x, y] = rank.names.get(i) || [0, radius + 0.7 * font], text = svg("text", { "font-size": font, y });
    if (node.group >= 0) disc.style.fill = data.groups[node.group].colour;
    node.lines.forEach((line, k) => text.append(svg("tspan", { x, dy: k ? pitch : 0 }, line)));
    const g = svg("g", { class: "node" + (node.group >= 0 ? " coloured" : "") + (inside ? "" : " below") + (rank.names.has(i) ? "" : " unnamed") }, disc, text);
    p.discs[i] = g;
    p.layers.nodes.append(g);
  }
}

function placeNodes() {
  for (const p of panels) for (const node of shown) p.discs[node.i].setAttribute("transform", `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`);
}

// lineOf is a pair's line in a layer, made when it is first needed.
function lineOf(p, pair, layer) {
  const key = layer + pair.i;
  if (!p.lines.has(key)) {
    const line = svg("line");
    p.lines.set(key, line);
    p.layers[layer].append(line);
  }
  return p.lines.get(key);
}

// span puts a line from rim to rim, so that dashes begin there.
function span(line, pair, panel) {
  const [a, b] = pair.ends.map((end) => nodes[end]);
  const far = Math.hypot(b.x - a.x, b.y - a.y), [from, to] = pair.ends.map((end) => far > 2 * radius ? radiusOf(end, panel) / far : 0);
  line.setAttribute("x1", (a.x + from * (b.x - a.x)).toFixed(1));
  line.setAttribute("y1", (a.y + from * (b.y - a.y)).toFixed(1));
  line.setAttribute("x2", (b.x - to * (b.x - a.x)).toFixed(1));
  line.setAttribute("y2", (b.y - to * (b.y - a.y)).toFixed(1));
}

function drawEdge(p, pair) {
  const on = passes(pair, p.panel);
  if (!on && !p.lines.has("edges" + pair.i)) return;
  const line = lineOf(p, pair, "edges"), size = sizeOf(pair, p.panel), share = Math.min(1, Math.abs(size) / strongest), width = Math.max(0.8, 10 * share);
  const faded = state.picked && !touches(state.picked, pair);
  line.setAttribute("class", `${lineClass(pair, size)}${on ? "" : " off"}${faded ? " faded" : ""}`);
  line.setAttribute("stroke-width", width.toFixed(2));
  line.setAttribute("stroke-opacity", (0.3 + 0.7 * share).toFixed(2));
  line.setAttribute("stroke-dasharray", size < 0 ? `${Math.max(7, 2 * width).toFixed(1)} ${Math.max(5, 1.4 * width).toFixed(1)}` : "none");
  span(line, pair, p.panel);
}

function drawMark(p, pair) {
  const on = marked(pair) && pair.ends.every((end) => nodes[end].shown);
  if (!on && !p.lines.has("marks" + pair.i)) return;
  const line = lineOf(p, pair, "marks");
  line.setAttribute("class", "marked" + (on ? "" : " off"));
  line.setAttribute("stroke-width", (9 + 10 * Math.min(1, Math.abs(sizeOf(pair, p.panel)) / strongest)).toFixed(1));
  span(line, pair, p.panel);
}

// touches tells whether what is picked, a node or a pair, has to do with a pair.
const touches = (picked, pair) => (picked.ends ? picked === pair : pair.ends.includes(picked.i));

function drawNodes(p) {
  const near = new Set();
  if (state.picked && state.picked.ends) state.picked.ends.forEach((end) => near.add(end));
  else if (state.picked) {
    near.add(state.picked.i);
    for (const pair of edgesOf(state.picked)) pair.ends.forEach((end) => near.add(end));
  }
  const wanted = state.search.toLowerCase();
  for (const node of shown) {
    const found = wanted && (node.name.toLowerCase().includes(wanted) || node.label.toLowerCase().includes(wanted));
    const classes = p.discs[node.i].classList;
    classes.toggle("faded", wanted ? !found : near.size > 0 && !near.has(node.i));
    classes.toggle("unnamed", !rank.names.has(node.i) && !found && !near.has(node.i) && view.w > (many ? 0.45 : 0.75) * home.w);
  }
}

// draw brings all panels to the state.
function draw() {
  for (const p of panels) {
    for (const pair of pairs) {
      if (data.compare) drawMark(p, pair);
      drawEdge(p, pair);
    }
    drawNodes(p);
  }
}

// Zoom and pan: the part of the plane that all panels show.
function look() {
  for (const p of panels) {
    p.root.style.touchAction = view.w < home.w ? "none" : ""; // a finger pans what is zoomed, and else scrolls the page
    p.root.setAttribute("viewBox", `${view.x.toFixed(1)} ${view.y.toFixed(1)} ${view.w.toFixed(1)} ${view.h.toFixed(1)}`);
    if (p.title) {
      p.title.setAttribute("x", view.x + view.w / 2);
      p.title.setAttribute("y", view.y + font * view.w / home.w);
      p.title.setAttribute("font-size", 1.3 * font * view.w / home.w);
    }
  }
}

// zoom by a factor around a point of the plane, the middle by default.
function zoom(factor, at = { x: view.x + view.w / 2, y: view.y + view.h / 2 }) {
  const w = Math.min(3 * home.w, Math.max(home.w / 30, view.w / factor)), scale = w / view.w;
  view = { x: at.x - scale * (at.x - view.x), y: at.y - scale * (at.y - view.y), w, h: scale * view.h };
  look();
  for (const p of panels) drawNodes(p);
}

function pan(x, y) {
  view = { ...view, x: view.x + x, y: view.y + y };
  look();
}

function resetView() {
  view = { ...home };
  look();
  draw();
}

// plane is where in a panel's plane an event happened.
function plane(p, event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(p.root.getScreenCTM().inverse());
  return { x: at.x, y: at.y };
}

// pick tells of a node or edge in the live region, and makes all else pale; null clears.
function pick(what) {
  state.picked = what;
  element("details").replaceChildren(...(what ? (what.ends ? describeEdge(what) : describeNode(what)) : []));
  for (const row of document.querySelectorAll("tr[data-pair]")) {
    row.classList.toggle("picked", Boolean(what) && what.ends !== undefined && Number(row.dataset.pair) === what.i);
  }
  draw();
  drawPath();
}

// Keys of a panel. Left and right go through nodes, up and down through the edges of one.
let from = null; // the node whose edges are gone through
function step(by) {
  const order = rank.order, at = from === null ? -1 : order.indexOf(from.i);
  from = nodes[order[(at + by + order.length) % order.length]];
  pick(from);
}

function stepEdge(by) {
  if (from === null) return step(1);
  const edges = edgesOf(from), at = edges.indexOf(state.picked);
  if (edges.length > 0) pick(edges[at < 0 ? (by > 0 ? 0 : edges.length - 1) : (at + by + edges.length) % edges.length]);
}

const keys = {
  ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => stepEdge(1), ArrowUp: () => stepEdge(-1),
  "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: resetView, Escape: () => { from = null; pick(null); },
};
const shifted = {
  ArrowRight: () => pan(view.w / 10, 0), ArrowLeft: () => pan(-view.w / 10, 0), ArrowDown: () => pan(0, view.h / 10), ArrowUp: () => pan(0, -view.h / 10),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = (event.shiftKey && shifted[event.key]) || keys[event.key];
  if (!act || (event.key.startsWith("Arrow") && rank.order.length === 0)) return;
  event.preventDefault();
  act();
}

// Mouse, pen and finger: hover tells, a click picks, a node can be dragged, the rest pans.

// nearestTo is the node under a point or else the visible edge next to it.
function nearestTo(p, at) {
  const reach = 6 * view.w / p.root.clientWidth;
  let best = null, least = Math.max(radius, 1.5 * reach);
  for (const node of shown) {
    const far = Math.hypot(node.x - at.x, node.y - at.y);
    if (far <= least) [best, least] = [node, far];
  }
  if (best) return best;
  least = reach;
  for (const pair of pairs) {
    if (!passes(pair, p.panel) && !marked(pair)) continue;
    const [a, b] = pair.ends.map((end) => nodes[end]);
    const length = (b.x - a.x) ** 2 + (b.y - a.y) ** 2;
    const t = Math.max(0, Math.min(1, ((at.x - a.x) * (b.x - a.x) + (at.y - a.y) * (b.y - a.y)) / (length || 1)));
    const far = Math.hypot(a.x + t * (b.x - a.x) - at.x, a.y + t * (b.y - a.y) - at.y);
    if (far <= least) [best, least] = [pair, far];
  }
  return best;
}

function tip(what, event) {
  const box = element("tip");
  box.hidden = !what;
  if (!what) return;
  box.replaceChildren(...(what.ends ? describeEdge(what) : describeNode(what, 6)));
  const left = Math.min(event.pageX + 14, document.documentElement.clientWidth + window.scrollX - box.offsetWidth - 8);
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${event.pageY + 16}px`;
}

function listen(p) {
  let grip = null; // what a pressed pointer holds: where it began, and a node, or null for the plane
  p.root.addEventListener("pointerdown", (event) => {
    const at = plane(p, event), what = nearestTo(p, at);
    grip = { at, what, moved: false };
    p.root.setPointerCapture(event.pointerId);
  });
  p.root.addEventListener("pointermove", (event) => {
    const at = plane(p, event);
    if (!grip) {
      const what = nearestTo(p, at);
      p.root.classList.toggle("over", Boolean(what));
      tip(what, event);
      return;
    }
    if (!grip.moved && Math.hypot(at.x - grip.at.x, at.y - grip.at.y) < 4 * view.w / p.root.clientWidth) return;
    grip.moved = true;
    tip(null);
    if (grip.what && !grip.what.ends) {
      [grip.what.x, grip.what.y] = [at.x, at.y];
      placeNodes();
      draw();
    } else pan(grip.at.x - at.x, grip.at.y - at.y);
  });
  const release = () => {
    if (grip && !grip.moved) pick(grip.what);
    grip = null;
  };
  p.root.addEventListener("pointerup", release);
  p.root.addEventListener("pointercancel", () => { grip = null; });
  p.root.addEventListener("pointerleave", () => tip(null));
  p.root.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== p.root) return; // a page that is scrolled is not zoomed
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), plane(p, event));
  }, { passive: false });
}
