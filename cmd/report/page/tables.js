// Tables: sorted by a click on a heading, the one of edges filtered by words and by the controls.
function valueOf(cell) {
  const text = cell ? cell.textContent.replaceAll("−", "-").replace(/^<\s*/, "") : "";
  const value = parseFloat(text);
  return cell && cell.classList.contains("n") ? (Number.isNaN(value) ? -Infinity : value) : text.toLowerCase();
}

function sortBy(table, heading) {
  const column = [...heading.parentNode.children].indexOf(heading), down = heading.getAttribute("aria-sort") !== "descending";
  for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0], sign = down ? -1 : 1;
  const rows = [...body.rows].map((row) => ({ row, value: valueOf(row.cells[column]) }));
  rows.sort((a, b) => (a.value < b.value ? -sign : a.value > b.value ? sign : 0));
  body.append(...rows.map((r) => r.row));
}

function makeSortable(table) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading));
    heading.append(button);
  }
}

// filterEdges shows the edges that pass the controls and have the words in a name.
function filterEdges() {
  const table = element("edges");
  if (!table) return;
  const words = element("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  let left = 0;
  for (const row of table.tBodies[0].rows) {
    const pair = pairs[Number(row.dataset.pair)];
    const text = pair.ends.map((end) => `${nodes[end].name} ${nodes[end].label}`).join(" ").toLowerCase();
    const size = Math.max(...data.values.map((v) => Math.abs(v[pair.i] || 0)));
    const passed = data.compare ? size >= state.size : limited(pair, size);
    row.hidden = !(passed && words.every((word) => text.includes(word)));
    if (!row.hidden) left++;
  }
  said("words-said", `${left} of ${table.tBodies[0].rows.length} rows`);
}

// limited is passes for the network itself, at whatever λ the picture is.
function limited(pair, size) {
  const q = known(data.q, pair), inclusion = known(data.inclusion, pair);
  return size >= state.size && (state.q === Infinity || (q !== null && q <= state.q)) && (state.inclusion === 0 || inclusion >= state.inclusion);
}

function listenToTables() {
  for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
  const edges = element("edges");
  if (!edges) return;
  element("words").addEventListener("input", filterEdges);
  for (const row of edges.tBodies[0].rows) {
    row.tabIndex = -1;
    row.addEventListener("click", () => { row.focus(); });
    row.addEventListener("focus", () => pick(pairs[Number(row.dataset.pair)]));
    row.addEventListener("keydown", (event) => {
      const by = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (!by) return;
      event.preventDefault();
      let next = row[by];
      while (next && next.hidden) next = next[by];
      if (next) next.focus();
    });
  }
  if (edges.tBodies[0].rows.length > 0) edges.tBodies[0].rows[0].tabIndex = 0;
}
