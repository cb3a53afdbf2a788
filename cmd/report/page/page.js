// Sliders and fields above the picture; each is there only where its number is known.
function said(id, text) {
  element(id).textContent = text;
}

function applied() {
  const all = strongestFirst(pairs);
  drawn = all.length > state.most ? new Set(all.slice(0, state.most)) : null;
  draw();
  said("count", drawn ? `the ${drawn.size} strongest of ${all.length} edges shown, and all of what is picked` : `${all.length} ${all.length === 1 ? "edge" : "edges"} shown`);
}

// setLambda goes to a point of the path; the chosen one is the network itself.
function setLambda(at) {
  state.lambda = at === data.chosen ? null : at;
  element("lambda").value = at;
  sayLambda(at);
  applied();
  drawPath();
}

function sayLambda(at) {
  const text = `λ = ${Number(data.lambdas[at].toPrecision(3))}`;
  said("lambda-said", at === data.chosen ? `${text}, the network` : text);
  element("lambda").setAttribute("aria-valuetext", element("lambda-said").textContent);
}

function listenToControls() {
  const on = (id, act) => { if (element(id)) element(id).addEventListener("input", (event) => { act(event.target.value); applied(); }); };
  on("size", (value) => { state.size = strongest * value / 200; said("size-said", `at least ${number(state.size, 2)}`); });
  on("q", (value) => { state.q = value === "" ? Infinity : Number(value); });
  on("inclusion", (value) => { state.inclusion = value / 100; said("inclusion-said", `at least ${value} %`); });
  on("search", (value) => {
    state.search = value;
    const wanted = value.toLowerCase(), found = nodes.filter((n) => wanted && (n.name.toLowerCase().includes(wanted) || n.label.toLowerCase().includes(wanted)));
    said("search-said", wanted ? `${found.length} found` : "");
    if (found.length === 1) pick(found[0].shown ? found[0] : null);
    else if (state.picked) pick(null);
  });
  if (element("lambda")) {
    sayLambda(data.chosen);
    element("lambda").addEventListener("input", (event) => setLambda(Number(event.target.value)));
    element("to-chosen").addEventListener("click", () => setLambda(data.chosen));
  }
  on("most", (value) => { state.most = value === "" ? Infinity : Number(value); });
  if (element("most")) state.most = Number(element("most").value);
  if (data.compare) state.q = Number(element("q").value);
  element("zoom-in").addEventListener("click", () => zoom(1.25));
  element("zoom-out").addEventListener("click", () => zoom(0.8));
  element("zoom-reset").addEventListener("click", resetView);
}

// Tables: sorted by a click on a heading, the one of edges filtered by words and by the controls.
function valueOf(cell) {
  const text = cell ? cell.textContent.replaceAll("−", "-").replace(/^<\s*/, "") : "";
  const value = parseFloat(text);
  return cell && cell.classList.contains("n") ? (Number.isNaN(value) ? -Infinity : value) : text.toLowerCase();
}

function sortBy(table, heading) {
  const column = [...heading.parentNode.children].indexOf(heading), down = heading.getAttribute("aria-sort") !== "descending";
  for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0], sign = down ? -1 : 1;
  const rows = [...body.rows].map((row) => ({ row, value: valueOf(row.cells[column]) }));
  rows.sort((a, b) => (a.value < b.value ? -sign : a.value > b.value ? sign : 0));
  body.append(...rows.map((r) => r.row));
}

function makeSortable(table) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading));
    heading.append(button);
  }
}

// filterEdges shows the rows that have the words in a name.
function filterEdges() {
  const wanted = element("words").value.toLowerCase().split(/\s+/).filter(Boolean), rows = [...element("edges").tBodies[0].rows];
  for (const row of rows) {
    const text = pairs[Number(row.dataset.pair)].ends.map((end) => `${nodes[end].name} ${nodes[end].label}`).join(" ").toLowerCase();
    row.hidden = !wanted.every((word) => text.includes(word));
  }
  said("words-said", `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`);
}

// listed are the edges of the network, or all pairs of a comparison.
const listed = pairs.filter((pair) => data.compare || data.values[0][pair.i]);
const mostRows = 1000, forestRows = 20;

function made(name, text, attributes = {}) {
  const out = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  out.append(...[text].flat());
  return out;
}

function makeEdges() {
  const name = (end) => named(full(nodes[end])), kind = (fact) => (fact.words ? {} : { class: "n" });
  element("edges").append(
    made("thead", made("tr", [made("th", "from"), made("th", "to"), ...facts.map((fact) => made("th", fact.head, kind(fact)))])),
    made("tbody", listed.slice(0, mostRows).map((pair) => made("tr", [made("th", name(pair.ends[0]), { scope: "row" }), made("td", name(pair.ends[1]), { "data-head": "to" }),
      ...facts.map((fact) => made("td", fact.text(pair), { ...kind(fact), "data-head": fact.head }))], { "data-pair": pair.i }))));
}

// makeForest draws the strongest edges, or the largest differences, with their intervals.
function makeForest() {
  const sized = (pair) => (data.compare || known(data.low, pair) !== null ? known(data.estimate, pair) : data.values[0][pair.i]) || 0;
  const ends = (pair) => (known(data.low, pair) === null ? null : [data.low[pair.i], data.high[pair.i]]);
  const rows = [...listed].sort((a, b) => Math.abs(sized(b)) - Math.abs(sized(a))).slice(0, forestRows).filter((pair) => sized(pair) !== 0);
  const all = rows.flatMap((pair) => [sized(pair), ...(ends(pair) || [])]), low = Math.min(0, ...all), high = Math.max(0, ...all);
  const x = (v) => Number((20 + 960 * (v - low) / (high - low || 1)).toFixed(1));
  const step = [0.05, 0.1, 0.2, 0.5].find((s) => (high - low) / s <= 3) || 1, grid = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) grid.push(k * step);
  const strip = (pair) => {
    const v = sized(pair), interval = ends(pair), around = interval && interval[0] <= 0 && interval[1] >= 0;
    return svg("svg", { class: around ? "around" : lineClass(pair, v), viewBox: "0 0 1000 2", preserveAspectRatio: "none", "aria-hidden": "true" },
      ...grid.map((g) => svg("path", { class: g === 0 ? "grid zero" : "grid", d: `M${x(g)} 0V2` })),
      ...(interval ? [svg("path", { d: `M${x(interval[0])} 1H${x(interval[1])}` })] : []), svg("path", { class: "dot", d: `M${x(v)} 1h.1` }));
  };
  const text = (pair) => number(sized(pair), 2) + (ends(pair) ? ` [${ends(pair).map((v) => number(v, 2)).join(", ")}]` : "");
  const label = (end) => named(nodes[end].label);
  element("forest").style.setProperty("--wide", `${Math.max(...rows.map((pair) => pair.ends.reduce((sum, end) => sum + [...nodes[end].label].length, 3)))}ch`);
  element("forest").append(
    made("tbody", rows.map((pair) => made("tr", [made("th", [label(pair.ends[0]), " – ", label(pair.ends[1])], { scope: "row" }), made("td", strip(pair), { class: "strip" }), made("td", text(pair), { class: "n" })], { "data-pair": pair.i }))),
    made("tfoot", made("tr", [made("td", ""), made("td", grid.map((g) => made("span", String(Number(g.toFixed(2))).replace("-", "−"), { style: `left: ${x(g) / 10}%` })), { class: "strip" }), made("td", "")]), { "aria-hidden": "true" }));
}

// listenToRows makes the rows of pairs pick these: by a click, or with the arrow keys.
function listenToRows(body) {
  const rows = [...body.rows].filter((row) => row.dataset.pair);
  for (const row of rows) {
    row.tabIndex = row === rows[0] ? 0 : -1;
    row.addEventListener("click", () => { row.focus(); });
    row.addEventListener("focus", () => pick(pairs[Number(row.dataset.pair)]));
    row.addEventListener("keydown", (event) => {
      const by = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (!by) return;
      event.preventDefault();
      let next = row[by];
      while (next && next.hidden) next = next[by];
      if (next) next.focus();
    });
  }
}

function listenToTables() {
  if (element("forest")) makeForest();
  if (element("edges")) makeEdges();
  for (const table of document.querySelectorAll("table")) {
    if (table.tHead) makeSortable(table);
    listenToRows(table.tBodies[0]);
  }
  if (element("words")) element("words").addEventListener("input", filterEdges);
}

// Partial correlations along the path, with the λ of the picture; a click goes to another.
const pathSize = { w: 900, h: 300, left: 46, right: 12, top: 12, bottom: 34 };

function pathScales() {
  const { w, h, left, right, top, bottom } = pathSize;
  const logs = data.lambdas.map(Math.log), first = logs[0], last = logs[logs.length - 1];
  const all = data.path.flatMap((p) => (p ? p.slice(1) : [])), high = Math.max(...sample(all), 1), low = Math.min(...sample(all), -1);
  return {
    low, high,
    x: (at) => left + (w - left - right) * (first === last ? 0.5 : (first - logs[at]) / (first - last)),
    y: (v) => top + (h - top - bottom) * (high - v) / (high - low),
  };
}

// sample keeps spread arguments few.
function sample(values) {
  let [low, high] = [0, 0];
  for (const v of values) [low, high] = [Math.min(low, v), Math.max(high, v)];
  return [low, high];
}

let pathLine = null, pathCurves = new Map(), scales = null;

function makePath() {
  if (!element("path") || data.lambdas.length < 2) return;
  scales = pathScales();
  const { w, h, left, right, bottom, top } = pathSize;
  const root = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "Partial correlations along the path, from the largest λ to the smallest; the table of edges has those of the network." });
  root.append(svg("line", { class: "axis", x1: left, x2: w - right, y1: scales.y(0), y2: scales.y(0) }));
  const size = (pair) => Math.abs(data.values[0][pair.i] || 0) + 1e-6 * Math.max(...data.path[pair.i].slice(1).map(Math.abs), 0);
  const drawn = pairs.filter((pair) => data.path[pair.i] && data.path[pair.i].length > 1).sort((a, b) => size(b) - size(a)).slice(0, 400);
  for (const pair of drawn.reverse()) {
    const [start, ...values] = data.path[pair.i], value = data.values[0][pair.i] || 0;
    const before = start > 0 ? [`${scales.x(start - 1).toFixed(1)},${scales.y(0).toFixed(1)}`] : [];
    const points = values.map((v, i) => `${scales.x(start + i).toFixed(1)},${scales.y(v).toFixed(1)}`);
    const curve = svg("polyline", { class: value === 0 ? "other" : lineClass(pair, value), points: [...before, ...points].join(" ") });
    pathCurves.set(pair, curve);
    root.append(curve);
  }
  for (const v of [scales.low, 0, scales.high]) root.append(words(left - 6, scales.y(v) + 4, number(v / 1000, 2), "end"));
  root.append(words(left, h - bottom + 22, `λ = ${Number(data.lambdas[0].toPrecision(2))}`, "start"), words(w - right, h - bottom + 22, `${Number(data.lambdas[data.lambdas.length - 1].toPrecision(2))}`, "end"));
  pathLine = svg("line", { class: "now", y1: top, y2: h - bottom });
  root.append(pathLine);
  root.addEventListener("click", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse()).x;
    setLambda(data.lambdas.map((_, i) => i).reduce((best, i) => (Math.abs(scales.x(i) - at) < Math.abs(scales.x(best) - at) ? i : best)));
  });
  element("path").prepend(root);
}

function words(x, y, text, anchor) {
  const made = svg("text", { x, y, "text-anchor": anchor });
  made.textContent = text;
  return made;
}

// drawPath moves the line to the picture's λ and shows what is picked.
function drawPath() {
  if (!pathLine) return;
  const at = scales.x(state.lambda === null ? data.chosen : state.lambda);
  pathLine.setAttribute("x1", at);
  pathLine.setAttribute("x2", at);
  for (const [pair, curve] of pathCurves) curve.classList.toggle("picked", state.picked === pair);
}

// Files made in the browser, of what the picture shows at the moment.
function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// picture is the panels side by side as an SVG of their own, in light colours.
function picture() {
  const gap = 20, out = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width: panels.length * (view.w + gap) - gap, height: view.h });
  out.setAttribute("viewBox", `0 0 ${panels.length * (view.w + gap) - gap} ${view.h}`);
  const style = svg("style");
  style.textContent = element("picture-style").textContent;
  out.append(style, svg("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
  for (const p of panels) {
    const copy = p.root.cloneNode(true);
    for (const name of ["tabindex", "role", "aria-describedby", "aria-label"]) copy.removeAttribute(name);
    for (const hidden of copy.querySelectorAll(".off")) hidden.remove();
    copy.setAttribute("x", p.panel * (view.w + gap));
    copy.setAttribute("width", view.w);
    copy.setAttribute("height", view.h);
    out.append(copy);
  }
  return { text: new XMLSerializer().serializeToString(out), width: panels.length * (view.w + gap) - gap, height: view.h };
}

function savePNG() {
  const { text, width, height } = picture(), image = new Image(), scale = Math.max(1, 2400 / width);
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [scale * width, scale * height];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(`${file}.png`, "image/png", blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}

// columns are those of an edge that are known.
const columns = ["estimate", "low", "high", "p", "q", "inclusion"].filter((name) => data[name]);

function rows() {
  return visible().map((pair) => ({ pair, sizes: data.values.map((_, panel) => sizeOf(pair, panel)), more: columns.map((name) => known(data[name], pair)) }));
}

function csv() {
  const cell = (value) => (value === null ? "" : /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const sizes = data.compare ? ["partial_correlation_a", "partial_correlation_b"] : ["partial_correlation"];
  const lines = [["from", "to", ...sizes, ...columns], ...rows().map((r) => [...r.pair.ends.map((end) => nodes[end].name), ...r.sizes, ...r.more])];
  return lines.map((line) => line.map(cell).join(",")).join("\n") + "\n";
}

const file = data.compare ? "networks" : "network";

function listenToButtons() {
  element("save-svg").addEventListener("click", () => save(`${file}.svg`, "image/svg+xml", picture().text));
  element("save-png").addEventListener("click", savePNG);
  element("save-csv").addEventListener("click", () => save(`${file}.csv`, "text/csv", csv()));
}

placeNodes();
look();
makePath();
listenToControls();
listenToTables();
listenToButtons();
for (const p of panels) {
  listen(p);
  p.root.addEventListener("keydown", pressed);
}
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && state.picked) keys.Escape(); });
applied();
drawPath();
