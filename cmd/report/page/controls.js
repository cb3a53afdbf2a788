// Sliders and fields above the picture; each is there only where its number is known.
function said(id, text) {
  element(id).textContent = text;
}

function applied() {
  const all = strongestFirst(pairs);
  drawn = all.length > state.most ? new Set(all.slice(0, state.most)) : null;
  draw();
  filterEdges();
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
