package browser

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var program string

func TestMain(m *testing.M) {
	if _, err := chromium(); err != nil {
		fmt.Println("no browser test:", err)
		return
	}
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "missingscore")
	build := exec.Command("go", "build", "-o", program, "./cmd/missingscore")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Printf("%v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("neither chromium nor google-chrome is on the PATH")
}

var hostile = []string{
	`</script><script>window.broken = 1</script>`, `<img src=x onerror="window.broken = 1">`, `"quoted" & 'single'`, "مرحبا بالعالم",
	"😀🧪", strings.Repeat("very long name ", 20) + "end", "a,b;c\\d", "${broken}`{{.}}", "]]>--><!--", "x",
}

// table is a simulated star of ten columns with hostile names, and a column of sides.
func table(t *testing.T, dir string) string {
	t.Helper()
	ran(t, "simulate", "star", "--d", "10", "--n", "240", "--missing", "0.08", "--out", dir)
	simulated, err := os.ReadFile(filepath.Join(dir, "data.csv"))
	must(t, err)
	_, rows, _ := strings.Cut(strings.TrimSpace(string(simulated)), "\n")
	var b bytes.Buffer
	header := csv.NewWriter(&b)
	must(t, header.Write(append(slices.Clone(hostile), "side")))
	header.Flush()
	for i, row := range strings.Split(rows, "\n") {
		fmt.Fprintf(&b, "%s,%s\n", row, []string{"left", "right"}[i%2])
	}
	path := filepath.Join(dir, "hostile.csv")
	must(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

func ran(t *testing.T, args ...string) {
	t.Helper()
	if text, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, text)
	}
}

func report(t *testing.T, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	ran(t, append(args, "--out", out)...)
	return filepath.Join(out, "report.html")
}

type page struct {
	t         *testing.T
	ctx       context.Context
	downloads string
	finished  chan string

	mu   sync.Mutex
	bad  []string
	name map[string]string // of downloads, by their identity
}

func open(t *testing.T, file string) *page {
	t.Helper()
	path, err := chromium()
	if err != nil {
		t.Skip(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.WindowSize(1200, 1000), chromedp.WSURLReadTimeout(time.Minute)) // on a busy machine it starts slowly
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	tab, shut := chromedp.NewContext(allocated)
	ctx, stop := context.WithTimeout(tab, time.Minute)
	t.Cleanup(func() { stop(); shut(); end() })
	p := &page{t: t, ctx: ctx, downloads: t.TempDir(), finished: make(chan string, 8), name: map[string]string{}}
	own := (&url.URL{Scheme: "file", Path: file}).String()
	chromedp.ListenTarget(ctx, func(event any) { p.heard(event, own) })
	p.do(network.Enable(), log.Enable(),
		browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(p.downloads).WithEventsEnabled(true),
		chromedp.Navigate(own), chromedp.WaitVisible("#stages svg", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelectorAll("details").forEach((part) => { part.open = true; })`, nil))
	return p
}

func (p *page) heard(event any, own string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; u != own && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") {
			p.bad = append(p.bad, "fetched "+u)
		}
	case *runtime.EventExceptionThrown:
		p.bad = append(p.bad, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		p.bad = append(p.bad, fmt.Sprintf("console: %s", e.Type))
	case *log.EventEntryAdded:
		p.bad = append(p.bad, fmt.Sprintf("log: %s %s", e.Entry.Level, e.Entry.Text))
	case *browser.EventDownloadWillBegin:
		p.name[e.GUID] = e.SuggestedFilename
	case *browser.EventDownloadProgress:
		if e.State == browser.DownloadProgressStateCompleted {
			p.finished <- p.name[e.GUID]
		}
	}
}

func (p *page) do(actions ...chromedp.Action) {
	p.t.Helper()
	must(p.t, chromedp.Run(p.ctx, actions...))
}

func (p *page) number(script string) (v float64) {
	p.t.Helper()
	p.do(chromedp.Evaluate(script, &v))
	return v
}

func (p *page) text(script string) (v string) {
	p.t.Helper()
	p.do(chromedp.Evaluate(script, &v))
	return v
}

func (p *page) lines() float64 {
	return p.number(`document.querySelector("#stages svg").querySelectorAll("line.positive:not(.off), line.negative:not(.off)").length`)
}

func (p *page) keys(selector string, keys ...string) {
	p.t.Helper()
	p.do(chromedp.Focus(selector, chromedp.ByQuery))
	for _, k := range keys {
		p.do(chromedp.KeyEvent(k))
	}
}

func (p *page) set(id, value string) {
	p.t.Helper()
	p.do(chromedp.Evaluate(fmt.Sprintf(`{ const field = document.getElementById(%q); field.value = %q; field.dispatchEvent(new Event("input", {bubbles: true})); }`, id, value), nil))
}

// middle is where node i of the first panel is on the screen.
func (p *page) middle(i int) (x, y float64) {
	p.t.Helper()
	var at [2]float64
	p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const svg = document.querySelector("#stages svg"); svg.scrollIntoView({block: "center"}); const r = svg.querySelectorAll("g.node circle")[%d].getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, i), &at))
	return at[0], at[1]
}

func (p *page) mouse(kind input.MouseType, x, y float64, button input.MouseButton) {
	p.t.Helper()
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		event := input.DispatchMouseEvent(kind, x, y).WithButton(button)
		if button != input.None {
			event = event.WithClickCount(1).WithButtons(1)
		}
		return event.Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Target))
	}))
}

func (p *page) drag(x, y, right, down float64) {
	p.t.Helper()
	p.mouse(input.MousePressed, x, y, input.Left)
	p.mouse(input.MouseMoved, x+right/2, y+down/2, input.Left)
	p.mouse(input.MouseMoved, x+right, y+down, input.Left)
	p.mouse(input.MouseReleased, x+right, y+down, input.Left)
}

func (p *page) download(button string) []byte {
	p.t.Helper()
	p.do(chromedp.Click("#"+button, chromedp.ByQuery))
	select {
	case name := <-p.finished:
		content, err := os.ReadFile(filepath.Join(p.downloads, name))
		must(p.t, err)
		return content
	case <-time.After(20 * time.Second):
		p.t.Fatalf("%s saved nothing within 20 seconds", button)
		return nil
	}
}

// quiet fails if anything was fetched, logged or thrown, or a name ran as a program.
func (p *page) quiet() {
	p.t.Helper()
	if p.number(`window.broken || 0`) != 0 {
		p.t.Error("the name of a column ran as a program")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.bad) > 0 {
		p.t.Errorf("the browser did or said: %s", strings.Join(p.bad, "\n"))
	}
}
