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
