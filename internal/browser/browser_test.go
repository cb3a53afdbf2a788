package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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

// A chain of ten columns, each a third of the one before and noise, with gaps.
func table(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for j, name := range hostile {
		if j > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.ReplaceAll(name, `"`, `""`) + `"`)
	}
	b.WriteString(",side\n")
	state := uint32(7)
	uniform := func() float64 {
		state = state*1664525 + 1013904223
		return float64(state>>8)/(1<<24) - 0.5
	}
	for i := range 240 {
		last := 0.0
		for j := range hostile {
			sign := 1.0
			if j%3 == 2 {
				sign = -1
			}
			last = sign*0.8*last + uniform() + uniform() + uniform()
			if uniform() > -0.42 {
				fmt.Fprintf(&b, "%.4f", last)
			}
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s\n", []string{"left", "right"}[i%2])
	}
	path := filepath.Join(dir, "hostile.csv")
	must(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

func report(t *testing.T, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if text, err := exec.Command(program, append(args, "--out", out)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, text)
	}
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

// Tried three times: Chromium may fail to start on a busy machine.
func started(t *testing.T, path string) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1200, 1000))
	var failed error
	for range 3 {
		allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
		tab, shut := chromedp.NewContext(allocated)
		ctx, stop := context.WithTimeout(tab, 60*time.Second)
		if failed = chromedp.Run(ctx); failed == nil {
			t.Cleanup(func() { stop(); shut(); end() })
			return ctx
		}
		stop()
		shut()
		end()
	}
	t.Fatal(failed)
	return nil
}

func open(t *testing.T, file string) *page {
	t.Helper()
	path, err := chromium()
	if err != nil {
		t.Skip(err)
	}
	ctx := started(t, path)
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
