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
