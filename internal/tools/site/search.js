// Shows the sections that contain every word of the box, headings first.
const box = document.getElementById("search"), hits = document.getElementById("hits"), up = document.body.dataset.up;
for (const s of sections) s.all = (s.t + " " + s.h + " " + s.x).toLowerCase();

function show() {
  const words = box.value.toLowerCase().split(/\s+/).filter(w => w);
  const found = [];
  if (words.length) for (const s of sections) {
    if (!words.every(w => s.all.includes(w))) continue;
    let rank = 0;
    for (const w of words) rank += 20 * s.h.toLowerCase().includes(w) + 8 * s.t.toLowerCase().includes(w) + Math.min(5, s.all.split(w).length - 1);
    found.push([rank, s]);
  }
  found.sort((a, b) => b[0] - a[0]);
  hits.replaceChildren(...found.slice(0, 12).map(([, s]) => {
    const at = Math.max(0, s.x.toLowerCase().indexOf(words[0]) - 40), item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("small");
    link.href = up + s.p;
    link.textContent = s.h === s.t ? s.t : s.t + " › " + s.h;
    text.textContent = s.x.slice(at, at + 140).trim();
    link.append(text);
    item.append(link);
    return item;
  }));
  if (words.length && !found.length) hits.textContent = "Nothing found.";
  hits.hidden = !words.length;
}

box.addEventListener("input", show);
addEventListener("keydown", e => {
  if (e.key === "/" && document.activeElement !== box) { box.focus(); e.preventDefault(); }
  if (e.key === "Escape") { box.value = ""; show(); }
  if (e.key === "Enter" && document.activeElement === box) hits.querySelector("a")?.click();
  if (e.key === "ArrowDown" || e.key === "ArrowUp") {
    const links = [box, ...hits.querySelectorAll("a")], i = links.indexOf(document.activeElement);
    if (i >= 0 && !hits.hidden) { links[Math.max(0, Math.min(links.length - 1, i + (e.key === "ArrowDown" ? 1 : -1)))].focus(); e.preventDefault(); }
  }
});
addEventListener("click", e => { if (!e.target.closest("header")) hits.hidden = true; });
