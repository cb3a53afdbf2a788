// Numbers and sentences about nodes and edges, for tooltips and the live region.
function number(x, digits = 3) {
  return x === null ? "–" : x.toFixed(digits).replace("-", "−");
}

function small(p) {
  if (p === null) return "–";
  return p < 1e-15 ? "< 1e−15" : Number(p.toPrecision(2)).toString().replace("-", "−");
}

// named is an element with a name, cut off from the direction of the writing around it.
function named(text) {
  const made = document.createElement("bdi");
  made.textContent = text;
  return made;
}

// full is a node's name with its label, where it has another.
function full(node) {
  return node.label === node.name || node.label.endsWith("…") ? node.name : `${node.label} (${node.name})`;
}

// describeEdge is all that is known of a pair.
function describeEdge(pair) {
  const words = data.panels.map((title, panel) => `${title ? title + ": " : ""}${unsigned(pair) ? "strength" : "partial correlation"} ${number(sizeOf(pair, panel))}`).join("; ");
  const more = [];
  const estimate = known(data.estimate, pair);
  if (estimate !== null) {
    let text = `${data.compare ? "difference" : "estimate"} ${number(estimate)}`;
    if (known(data.low, pair) !== null) text += `, ${data.level} % interval ${number(known(data.low, pair))} to ${number(known(data.high, pair))}`;
    more.push(text);
  }
  if (known(data.p, pair) !== null) more.push(`p ${small(known(data.p, pair))}`);
  if (known(data.q, pair) !== null) more.push(`q ${small(known(data.q, pair))}`);
  if (known(data.inclusion, pair) !== null) more.push(`in ${Math.round(100 * known(data.inclusion, pair))} % of resamples`);
  if (data.levels && data.levels[pair.i] && state.lambda === null) more.push(data.levels[pair.i]);
  return [named(full(nodes[pair.ends[0]])), " – ", named(full(nodes[pair.ends[1]])), `: ${[words, ...more].join("; ")}`];
}

// describeNode names a node's group and edges.
function describeNode(node, most = 12) {
  const edges = edgesOf(node);
  const parts = [named(full(node))];
  if (node.group >= 0 && data.groups[node.group].name) parts.push(" (", named(data.groups[node.group].name), ")");
  parts.push(edges.length === 0 ? ": no edges" : `: ${edges.length} ${edges.length === 1 ? "edge" : "edges"}: `);
  edges.slice(0, most).forEach((pair, i) => {
    const other = nodes[pair.ends[0] === node.i ? pair.ends[1] : pair.ends[0]];
    const sizes = data.values.map((_, panel) => number(sizeOf(pair, panel))).join(" and ");
    parts.push(i > 0 ? ", " : "", named(other.label), ` ${sizes}`);
  });
  if (edges.length > most) parts.push(` and ${edges.length - most} more`);
  return parts;
}
