// One node or edge is picked: it is told in the live region, and all else is pale.
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
