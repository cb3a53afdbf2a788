// Files made in the browser, of what the picture shows at the moment.
function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// picture is the panels side by side as an SVG of their own, in light colours.
function picture() {
  const gap = 20, out = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width: panels.length * (view.w + gap) - gap, height: view.h });
  out.setAttribute("viewBox", `0 0 ${panels.length * (view.w + gap) - gap} ${view.h}`);
  const style = svg("style");
  style.textContent = element("picture-style").textContent;
  out.append(style, svg("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
  for (const p of panels) {
    const copy = p.root.cloneNode(true);
    for (const name of ["tabindex", "role", "aria-describedby", "aria-label"]) copy.removeAttribute(name);
    for (const hidden of copy.querySelectorAll(".off")) hidden.remove();
    copy.setAttribute("x", p.panel * (view.w + gap));
    copy.setAttribute("width", view.w);
    copy.setAttribute("height", view.h);
    out.append(copy);
  }
  return { text: new XMLSerializer().serializeToString(out), width: panels.length * (view.w + gap) - gap, height: view.h };
}

function savePNG() {
  const { text, width, height } = picture(), image = new Image(), scale = Math.max(1, 2400 / width);
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [scale * width, scale * height];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(`${data.file}.png`, "image/png", blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}

// columns are those of an edge that are known.
const columns = ["estimate", "low", "high", "p", "q", "inclusion"].filter((name) => data[name]);

function rows() {
  return visible().map((pair) => ({ pair, sizes: data.values.map((_, panel) => sizeOf(pair, panel)), more: columns.map((name) => known(data[name], pair)) }));
}

function csv() {
  const cell = (value) => (value === null ? "" : /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const sizes = data.compare ? ["partial_correlation_a", "partial_correlation_b"] : ["partial_correlation"];
  const lines = [["from", "to", ...sizes, ...columns], ...rows().map((r) => [...r.pair.ends.map((end) => nodes[end].name), ...r.sizes, ...r.more])];
  return lines.map((line) => line.map(cell).join(",")).join("\n") + "\n";
}

function graphml() {
  const safe = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  const sizes = data.compare ? ["partial_correlation_a", "partial_correlation_b"] : ["partial_correlation"];
  const keys = ["weight", ...sizes, ...columns].map((name) => `  <key id="${name}" for="edge" attr.name="${name}" attr.type="double"/>`);
  const values = (names, list) => names.map((name, i) => (list[i] === null ? "" : `<data key="${name}">${list[i]}</data>`)).join("");
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    '  <key id="label" for="node" attr.name="label" attr.type="string"/>', ...keys, '  <graph id="network" edgedefault="undirected">',
    ...nodes.map((node) => `    <node id="n${node.i}"><data key="label">${safe(node.name)}</data></node>`),
    ...rows().map((r, i) => `    <edge id="e${i}" source="n${r.pair.ends[0]}" target="n${r.pair.ends[1]}">${values(["weight", ...sizes, ...columns], [Math.max(...r.sizes.map(Math.abs)), ...r.sizes, ...r.more])}</edge>`),
    "  </graph>", "</graphml>", ""].join("\n");
}

function listenToButtons() {
  element("save-svg").addEventListener("click", () => save(`${data.file}.svg`, "image/svg+xml", picture().text));
  element("save-png").addEventListener("click", savePNG);
  element("save-csv").addEventListener("click", () => save(`${data.file}.csv`, "text/csv", csv()));
  element("save-graphml").addEventListener("click", () => save(`${data.file}.graphml`, "application/xml", graphml()));
}
