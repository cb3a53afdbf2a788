package browser

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestNetworkReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	groups := filepath.Join(dir, "groups.csv")
	must(t, os.WriteFile(groups, []byte("name,group\nx,\"<b>letters</b>\"\n😀🧪,pictures\n"), 0o600))
	p := open(t, report(t, "network", table(t, dir), "--exclude", "side", "--inference", "model", "--groups", groups, "--lambdas", "30"))
	all := p.lines()
	if all < 5 {
		t.Fatalf("%v edges are drawn", all)
	}
	t.Run("path", func(t *testing.T) {
		p.keys("#lambda", kb.Home)
		none := p.lines()
		want(t, none < all, "%v edges at the largest λ, %v in the network", none, all)
		p.keys("#lambda", kb.End)
		dense := p.lines()
		want(t, dense > all, "%v edges at the smallest λ, %v in the network", dense, all)
		p.do(chromedp.Click("#to-chosen", chromedp.ByQuery))
		want(t, p.lines() == all, "%v edges after going back", p.lines())
	})
	t.Run("limits", func(t *testing.T) { limits(t, p, all) })
	t.Run("hover, keys and drag", func(t *testing.T) { pointing(t, p) })
	t.Run("table", func(t *testing.T) { tables(t, p) })
	t.Run("files", func(t *testing.T) { saved(t, p, int(all)) })
	t.Run("dark", func(t *testing.T) {
		light := p.text(`getComputedStyle(document.body).backgroundColor`)
		p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
		dark := p.text(`getComputedStyle(document.body).backgroundColor`)
		want(t, dark != light, "the page is %s in both colour schemes", dark)
	})
	t.Run("phone", func(t *testing.T) {
		p.do(emulation.SetDeviceMetricsOverride(390, 844, 1, true), chromedp.Reload(), chromedp.WaitVisible("#stages svg", chromedp.ByQuery))
		low := p.number(`document.querySelector("#stages svg").getBoundingClientRect().bottom`)
		want(t, low <= 844, "the picture ends %v pixels below the top", low)
		p.do(chromedp.Evaluate(`document.querySelectorAll("details").forEach((part) => { part.open = true; })`, nil))
		wide := p.number(`document.documentElement.scrollWidth`)
		want(t, wide <= 390, "the page is %v pixels wide", wide)
		p.do(emulation.ClearDeviceMetricsOverride())
	})
	for _, name := range hostile {
		want(t, p.number(`[...document.querySelectorAll("#centrality tbody th")].filter((th) => th.textContent === `+strconv.Quote(name)+`).length`) == 1, "the table of nodes has not the name %q", name)
	}
	p.quiet()
}

// Of a dense network the strongest edges are drawn, and all edges of the node that is picked.
func TestManyEdges(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	ran(t, "simulate", "normal", "--d", "120", "--n", "60", "--missing", "0.1", "--out", out)
	p := open(t, report(t, "network", filepath.Join(out, "data.csv"), "--method", "pairwise", "--lambdas", "6", "--lambda-min", "0.002", "--select", "density=0.5"))
	drawn := func(when string, ok func(lines float64) bool) {
		t.Helper()
		want(t, ok(p.lines()), "%v edges are drawn %s", p.lines(), when)
	}
	hundred := func(lines float64) bool { return lines == 100 }
	drawn("at first", func(lines float64) bool { return lines == 1500 })
	told := p.text(`document.getElementById("count").textContent`)
	want(t, strings.HasPrefix(told, "the 1500 strongest of "), "the page says %q", told)
	weakest := `Math.min(...[...document.querySelectorAll("#stages line:is(.positive, .negative):not(.off)")]` +
		`.map((line) => Number(line.getAttribute("stroke-opacity"))))`
	before := p.number(weakest)
	p.set("most", "100")
	drawn("of at most 100", hundred)
	want(t, p.number(weakest) > before, "the palest edge has opacity %v, of more edges %v", p.number(weakest), before)
	p.keys("#stages svg", kb.ArrowRight)
	drawn("with those of a node that is picked", func(lines float64) bool { return lines > 100 })
	p.keys("#stages svg", kb.Escape)
	p.keys("#lambda", kb.End)
	drawn("at the smallest λ", hundred)
	p.keys("#lambda", kb.Home)
	drawn("at the largest λ", func(lines float64) bool { return lines < 100 })
	p.do(chromedp.Click("#to-chosen", chromedp.ByQuery))
	p.set("most", "")
	drawn("without a limit", func(lines float64) bool { return lines > 1500 })
	p.quiet()
}

func limits(t *testing.T, p *page, all float64) {
	p.set("size", "190")
	left := p.lines()
	want(t, left != 0 && left < all, "%v of %v edges pass the size", left, all)
	p.set("size", "0")
	p.set("q", "0.001")
	left = p.lines()
	want(t, left != 0 && left <= all, "%v of %v edges pass the q value", left, all)
	p.set("q", "")
	want(t, p.lines() == all, "%v edges without limits", p.lines())
	p.set("search", "😀")
	found := p.text(`document.getElementById("search-said").textContent`)
	want(t, found == "1 found", "the search says %q", found)
	p.set("search", "")
}

func pointing(t *testing.T, p *page) {
	x, y := p.middle(0)
	p.mouse(input.MouseMoved, x, y, input.None)
	tip := p.text(`document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent`)
	want(t, strings.Contains(tip, "edge"), "over a node the tip says %q", tip)
	p.keys("#stages svg", kb.ArrowRight)
	told := p.text(`document.getElementById("details").textContent`)
	want(t, strings.Contains(told, "edge"), "of a node is told %q", told)
	p.keys("#stages svg", kb.ArrowDown)
	told = p.text(`document.getElementById("details").textContent`)
	want(t, strings.Contains(told, "95 % interval") && strings.Contains(told, "q "), "of an edge is told %q", told)
	p.keys("#stages svg", kb.Escape)
	x, y = p.middle(0)
	p.drag(x, y, 60, 40)
	nowX, nowY := p.middle(0)
	want(t, math.Abs(nowX-x-60) <= 3 && math.Abs(nowY-y-40) <= 3, "a node that was dragged by 60, 40 moved by %.1f, %.1f", nowX-x, nowY-y)
	before := p.text(`document.querySelector("#stages svg").getAttribute("viewBox")`)
	p.do(chromedp.Click("#zoom-in", chromedp.ByQuery))
	want(t, p.text(`document.querySelector("#stages svg").getAttribute("viewBox")`) != before, "nothing is larger after +")
	p.do(chromedp.Click("#zoom-reset", chromedp.ByQuery))
}

func tables(t *testing.T, p *page) {
	rows := `[...document.querySelectorAll("#edges tbody tr")].filter((row) => !row.hidden)`
	whole := p.number(rows + `.length`)
	p.set("words", "very long")
	left := p.number(rows + `.length`)
	want(t, left != 0 && left < whole, "%v of %v rows have the words", left, whole)
	p.set("words", "")
	p.do(chromedp.Evaluate(`document.querySelector("#edges thead th:nth-child(3) button").click()`, nil))
	sorted := p.text(`document.querySelector("#edges thead th:nth-child(3)").getAttribute("aria-sort")`)
	want(t, sorted == "descending", "the heading says %q", sorted)
	first := p.number(`parseFloat(document.querySelector("#edges tbody tr td:nth-child(3)").textContent.replace("−", "-"))`)
	last := p.number(`parseFloat(document.querySelector("#edges tbody tr:last-child td:nth-child(3)").textContent.replace("−", "-"))`)
	want(t, first > last, "sorted from %v to %v", first, last)
}

func saved(t *testing.T, p *page, edges int) {
	lines, err := csv.NewReader(bytes.NewReader(p.download("save-csv"))).ReadAll()
	must(t, err)
	want(t, slices.Equal(lines[0], []string{"from", "to", "partial_correlation", "estimate", "low", "high", "p", "q"}) && len(lines) == edges+1, "%d lines, the first %v", len(lines), lines[0])
	for _, line := range lines[1:] {
		want(t, slices.Contains(hostile, line[0]) && slices.Contains(hostile, line[1]), "%q – %q are not columns", line[0], line[1])
	}
	picture := p.download("save-svg")
	found := count(t, picture)
	want(t, found["circle"] == len(hostile) && found["line"] >= edges && found["script"] == 0, "the SVG has %v", found)
	image, err := png.Decode(bytes.NewReader(p.download("save-png")))
	want(t, err == nil && image.Bounds().Dx() >= 2000, "the PNG: %v", err)
}

func count(t *testing.T, content []byte) map[string]int {
	t.Helper()
	found := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(content)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return found
		}
		must(t, err)
		if start, ok := token.(xml.StartElement); ok {
			found[start.Name.Local]++
		}
	}
}

func TestComparisonReport(t *testing.T) {
	t.Parallel()
	p := open(t, report(t, "compare", table(t, t.TempDir()), "--by", "side", "--permutations", "9", "--lambdas", "15", "--method", "pairwise"))
	panels := p.number(`document.querySelectorAll("#stages svg").length`)
	want(t, panels == 2, "%v panels", panels)
	p.set("q", "")
	marks := p.number(`document.querySelectorAll("#stages line.marked:not(.off)").length`)
	want(t, marks != 0 && math.Mod(marks, 2) == 0, "%v pairs are marked", marks)
	x, y := p.middle(1)
	p.drag(x, y, 40, 20)
	same := `(() => { const [a, b] = [...document.querySelectorAll("#stages svg")].map((svg) => [...svg.querySelectorAll("g.node")].map((g) => g.getAttribute("transform")).join()); return a === b ? "same" : "different"; })()`
	want(t, p.text(same) == "same", "a node that was dragged is not at the same place in both panels")
	found := count(t, p.download("save-svg"))
	want(t, found["circle"] == 2*len(hostile), "the SVG has %v", found)
	p.quiet()
}

func want(t *testing.T, ok bool, otherwise string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(otherwise, args...)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
