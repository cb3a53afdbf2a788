// Zoom and pan: the part of the plane that all panels show.
function look() {
  for (const p of panels) {
    p.root.setAttribute("viewBox", `${view.x.toFixed(1)} ${view.y.toFixed(1)} ${view.w.toFixed(1)} ${view.h.toFixed(1)}`);
    if (p.title) {
      p.title.setAttribute("x", view.x + view.w / 2);
      p.title.setAttribute("y", view.y + 0.045 * view.h);
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
