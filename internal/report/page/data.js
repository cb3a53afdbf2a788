// What the page was made with: nodes, pairs, the path. Numbers that are not known are null.
const data = JSON.parse(document.getElementById("data").textContent);

// nodes and pairs as objects; a pair has its place in the columns of numbers.
const nodes = data.nodes.map((name, i) => ({
  i, name, label: data.labels[i], x: 100 * data.x[i], y: 100 * data.y[i], shown: data.shown[i], group: data.group[i],
}));
const pairs = data.from.map((from, i) => ({ i, ends: [from, data.to[i]] }));

const known = (column, pair) => (column && column[pair.i] !== null ? column[pair.i] : null);

// The picture shows data.path at state.lambda, or at null the network itself.
const state = { lambda: null, size: 0, q: Infinity, inclusion: 0, search: "", picked: null };

// sizeOf is a pair's partial correlation as it is shown in a panel, 0 for no edge.
function sizeOf(pair, panel) {
  if (state.lambda === null) return data.values[panel][pair.i] || 0;
  const path = data.path[pair.i];
  return (path && path[1 + state.lambda - path[0]] || 0) / 1000;
}

// passes tells whether the limits of the controls let an edge through.
function passes(pair, panel) {
  const size = Math.abs(sizeOf(pair, panel));
  if (size === 0 || size < state.size || !pair.ends.every((end) => nodes[end].shown)) return false;
  if (!data.compare && state.q < Infinity && !(known(data.q, pair) !== null && known(data.q, pair) <= state.q)) return false;
  return state.inclusion === 0 || known(data.inclusion, pair) >= state.inclusion;
}

// marked tells whether two networks differ in a pair.
const marked = (pair) => data.compare && known(data.q, pair) !== null && known(data.q, pair) <= Math.min(state.q, 1);

// visible are the pairs that some panel shows.
const visible = () => pairs.filter((pair) => data.values.some((_, panel) => passes(pair, panel)));

// edgesOf are a node's visible pairs, the strongest first.
function edgesOf(node) {
  const size = (pair) => Math.max(...data.values.map((_, panel) => Math.abs(sizeOf(pair, panel))));
  return visible().filter((pair) => pair.ends.includes(node.i)).sort((a, b) => size(b) - size(a));
}

const element = (id) => document.getElementById(id);

// svg makes an SVG element with attributes.
function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
