package cmd

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"missingscore/trainers/engine"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a fit is: a bar on a terminal that can draw one, a line for
// each tenth of a stage elsewhere. Nothing is coloured (NO_COLOR).
type progress struct {
	w       io.Writer
	bar     *progressbar.ProgressBar
	live    bool
	verbose bool
	stage   string
	tenth   int
	start   time.Time // of the stage
	before  int       // units of it that an earlier run had done
}

func newProgress(w io.Writer, verbose bool) *progress {
	f, ok := beneath(w).(*os.File)
	return &progress{w: w, live: ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb", verbose: verbose}
}

func (p *progress) observe(s engine.Progress) {
	if s.Stage == "bootstrap" || s.Stage == "stability" { // estimates made again, all alike
		p.count(s.Stage, s.Unit+"s", s.Iteration, s.Total)
		return
	}
	if s.Stage == "standard errors" {
		p.derivatives(s)
		return
	}
	stage := s.Stage
	if s.Trial != "" {
		stage += " (" + s.Trial + ")"
	}
	p.enter(stage, s.Total)
	if p.live {
		p.bar.Describe(stage + "  " + standing(s))
		_ = p.bar.Set(s.Iteration) // a bar that cannot be drawn is no reason to stop a fit
		return
	}
	if p.due(s.Iteration, s.Total) {
		fmt.Fprintf(p.w, "%s: %s %d of %d, %s\n", stage, s.Unit, s.Iteration, s.Total, standing(s))
	}
}

// count shows how many of the stage's units are done, with the time that the rest will take.
func (p *progress) count(stage, units string, done, total int) {
	if stage != p.stage {
		p.enter(stage, total)
		p.before = max(0, done-1)
	}
	if p.live {
		p.bar.Describe(stage)
		_ = p.bar.Set(done)
		return
	}
	if p.due(done, total) {
		left := time.Since(p.start) / time.Duration(max(1, done-p.before)) * time.Duration(total-done)
		fmt.Fprintf(p.w, "%s: %d of %d %s, about %v left\n", stage, done, total, units, left.Round(time.Second))
	}
}

// derivatives shows how many of an equation's derivatives are known. There is a line for those
// that take long only.
func (p *progress) derivatives(s engine.Progress) {
	p.enter(s.Stage, s.Total)
	if p.live {
		p.bar.Describe(s.Stage)
		_ = p.bar.Set(s.Iteration)
		return
	}
	if p.due(s.Iteration, s.Total) && (p.verbose || time.Since(p.start) > slow) {
		fmt.Fprintf(p.w, "%s: %s %d of %d\n", s.Stage, s.Unit, s.Iteration, s.Total)
	}
}

const slow = 10 * time.Second

// enter begins a stage, if it is a new one.
func (p *progress) enter(stage string, total int) {
	if stage == p.stage {
		return
	}
	p.finish()
	p.stage, p.tenth, p.start = stage, 0, time.Now()
	if p.live {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(beneath(p.w)), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100e6))
	}
}

// due says whether another part of the stage is done.
func (p *progress) due(done, total int) bool {
	parts := 10
	if p.verbose {
		parts = 100
	}
	tenth := done * parts / total
	if tenth <= p.tenth {
		return false
	}
	p.tenth = tenth
	return true
}

// note writes a line in the middle of a stage.
func (p *progress) note(line string) {
	if p.bar != nil {
		_ = p.bar.Clear() // drawn again when it moves on
	}
	fmt.Fprintln(p.w, line)
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
	p.stage = ""
}

// standing is where a fit is.
func standing(s engine.Progress) string {
	switch {
	case s.Stage == "ebic":
		return "fitted without the penalty"
	case math.IsNaN(s.Loss) && s.Lambda != 0:
		return fmt.Sprintf("λ %.4g, %d edges", s.Lambda, s.Edges)
	case math.IsNaN(s.Loss):
		return "paths on parts of the rows"
	}
	if s.Lambda == 0 { // not along a path
		return fmt.Sprintf("loss %.5f", s.Loss)
	}
	return fmt.Sprintf("λ %.4g, %d edges, loss %.5f", s.Lambda, s.Edges, s.Loss)
}
