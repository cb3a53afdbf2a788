// All parts are there: bring the page to life.
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
applied();
drawPath();
