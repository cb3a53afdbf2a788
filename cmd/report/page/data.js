// What the page was made with: nodes, pairs, the path. Numbers that are not known are null.
const data = JSON.parse(document.getElementById("data").textContent);

// nodes and pairs as objects; a pair has its place in the columns of numbers.
const nodes = data.nodes.map((name, i) => ({
  i, name, label: data.labels[i], lines: data.lines[i], x: 100 * data.x[i], y: 100 * data.y[i], shown: data.shown[i], group: data.group[i],
}));
const pairs = data.from.map((from, i) => ({ i, ends: [from, data.to[i]] }));

const known = (column, pair) => (column && column[pair.i] !== null ? column[pair.i] : null);

// The picture shows data.path at state.lambda, or at null the network itself: of the edges that
// pass the limits the strongest, so many as state.most, and all of what is picked.
const state = { lambda: null, size: 0, q: Infinity, inclusion: 0, most: Infinity, search: "", picked: null };
let drawn = null; // the pairs among the strongest, null for all

// unsigned tells whether sizes of a pair have no sign.
const unsigned = (pair) => Boolean(data.unsigned && data.unsigned[pair.i]);

// lineClass is how lines of a pair with a size are drawn.
const lineClass = (pair, size) => (unsigned(pair) ? "unsigned" : size < 0 ? "negative" : "positive");

// sizeOf is a pair's partial correlation as it is shown in a panel, 0 for no edge.
function sizeOf(pair, panel) {
  if (state.lambda === null) return data.values[panel][pair.i] || 0;
  const path = data.path[pair.i];
  return (path && path[1 + state.lambda - path[0]] || 0) / 1000;
}

// passes tells whether a panel shows an edge.
function passes(pair, panel) {
  return (drawn === null || drawn.has(pair) || (state.picked && touches(state.picked, pair))) && allowed(pair, panel);
}

// allowed tells whether the limits of the controls let an edge through.
function allowed(pair, panel) {
  const size = Math.abs(sizeOf(pair, panel));
  if (size === 0 || size < state.size || !pair.ends.every((end) => nodes[end].shown)) return false;
  if (!data.compare && state.q < Infinity && !(known(data.q, pair) !== null && known(data.q, pair) <= state.q)) return false;
  return state.inclusion === 0 || known(data.inclusion, pair) >= state.inclusion;
}

// marked tells whether two networks differ in a pair.
const marked = (pair) => data.compare && known(data.q, pair) !== null && known(data.q, pair) <= Math.min(state.q, 1);

// visible are the pairs that some panel shows.
const visible = () => pairs.filter((pair) => data.values.some((_, panel) => passes(pair, panel)));

// strongestFirst are the pairs of a list that the limits let through in some panel.
function strongestFirst(list) {
  const size = new Map();
  for (const pair of list) if (data.values.some((_, panel) => allowed(pair, panel))) size.set(pair, Math.max(...data.values.map((_, panel) => Math.abs(sizeOf(pair, panel)))));
  return [...size.keys()].sort((a, b) => size.get(b) - size.get(a));
}

// edgesOf are a node's edges, whether they are among the strongest or not.
const edgesOf = (node) => strongestFirst(pairs.filter((pair) => pair.ends.includes(node.i)));

const element = (id) => document.getElementById(id);

// svg makes an SVG element with attributes.
function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Numbers and sentences about nodes and edges, for tooltips and the live region.
function number(x, digits = 3) {
  return x === null ? "–" : x.toFixed(digits).replace(/^-(?=0\.0*$)/, "").replace("-", "−");
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

// facts are what is known of pairs: the columns of the table, and the words of a pair that is picked.
const facts = [
  ...data.panels.map((title, panel) => ({ of: "values", head: title || "partial correlation", text: (pair) => number(sizeOf(pair, panel)) })),
  { of: "estimate", head: data.compare ? "difference" : "estimate", text: (pair) => number(known(data.estimate, pair)) },
  { of: "low", head: `${data.level} % interval`, text: (pair) => (known(data.low, pair) === null ? "–" : `${number(data.low[pair.i])} to ${number(data.high[pair.i])}`) },
  { of: "p", head: "p", text: (pair) => small(known(data.p, pair)) },
  { of: "q", head: "q", text: (pair) => small(known(data.q, pair)) },
  { of: "inclusion", head: "inclusion in resamples", text: (pair) => (known(data.inclusion, pair) === null ? "–" : `${Math.round(100 * data.inclusion[pair.i])} %`) },
  { of: "levels", head: "levels that go together", text: (pair) => data.levels[pair.i], words: true },
].filter((fact) => data[fact.of]);

function describeEdge(pair) {
  const told = facts.map((fact) => ({ head: fact.head, text: fact.text(pair) })).filter(({ text }) => text && text !== "–");
  return [named(full(nodes[pair.ends[0]])), " – ", named(full(nodes[pair.ends[1]])), `: ${told.map(({ head, text }) => `${head} ${text}`).join("; ")}`];
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
