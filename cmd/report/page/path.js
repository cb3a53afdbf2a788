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
