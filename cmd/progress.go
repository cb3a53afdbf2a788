package cmd

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"missingscore/trainers/engine"
)

// progress shows how far a fit is: a bar on a terminal that can draw one, elsewhere a line every
// 10 seconds. With --verbose there is also a line for each hundredth of a stage. Nothing is
// coloured (NO_COLOR).
type progress struct {
	w         io.Writer
	bar       *progressbar.ProgressBar
	live      bool
	verbose   bool
	stage     string
	hundredth int
	start     time.Time // of the stage
	shown     time.Time // the last line, or the beginning
	before    int       // units of the stage that an earlier run had done
}

func newProgress(w io.Writer, verbose bool) *progress {
	f, ok := beneath(w).(*os.File)
	return &progress{w: w, live: ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb", verbose: verbose, shown: time.Now()}
}

func (p *progress) observe(s engine.Progress) {
	if s.Stage == "bootstrap" || s.Stage == "stability" { // estimates made again, all alike
		p.count(s.Stage, s.Unit+"s", s.Iteration, s.Total)
		return
	}
	if s.Stage == "standard errors" || s.Stage == "reading" { // no steps of a fit
		p.count(s.Stage, s.Unit+"s", s.Iteration, s.Total)
		return
	}
	stage := s.Stage
	if s.Trial != "" {
		stage += " (" + s.Trial + ")"
	}
	if stage != p.stage {
		p.enter(stage, s.Total)
		p.before = s.Iteration - 1
	}
	if p.live {
		p.bar.Describe(stage + "  " + standing(s))
		_ = p.bar.Set(s.Iteration) // a bar that cannot be drawn is no reason to stop a fit
		return
	}
	if p.due(s.Iteration, s.Total) {
		fmt.Fprintf(p.w, "%s: %s %d of %d, %s, %s\n", stage, s.Unit, s.Iteration, s.Total, standing(s), p.left(s.Iteration, s.Total))
	}
}

// left says how long the rest of the stage will take, judged by what this run has done of it.
func (p *progress) left(done, total int) string {
	left := time.Since(p.start) / time.Duration(max(1, done-p.before)) * time.Duration(total-done)
	return fmt.Sprintf("about %v left", left.Round(time.Second))
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
		fmt.Fprintf(p.w, "%s: %d of %d %s, %s\n", stage, done, total, units, p.left(done, total))
	}
}

// sayEach is how often progress off a terminal has a line; tests that wait for one have it sooner.
var sayEach = 10 * time.Second

// enter begins a stage, if it is a new one.
func (p *progress) enter(stage string, total int) {
	if stage == p.stage {
		return
	}
	p.finish()
	p.stage, p.hundredth, p.before, p.start = stage, 0, 0, time.Now()
	if p.live {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(beneath(p.w)), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100e6))
	}
}

// due says whether it is time for another line.
func (p *progress) due(done, total int) bool {
	next := done * 100 / total
	if time.Since(p.shown) < sayEach && !(p.verbose && next > p.hundredth) {
		return false
	}
	p.hundredth, p.shown = next, time.Now()
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
		loss := fmt.Sprintf("loss %.5f", s.Loss)
		if at := s.Streamed; at != nil {
			return fmt.Sprintf("pass %d of %d, %d of %d rows, %s", at.Number, at.Passes, at.Done, at.Rows, loss)
		}
		return loss
	}
	return fmt.Sprintf("λ %.4g, %d edges, loss %.5f", s.Lambda, s.Edges, s.Loss)
}

// reading shows how much of a table's file is read, where that takes long; a file is read again where
// less of it is read than before.
type reading struct {
	bar   *progress
	start time.Time
	shown time.Time // the last line about a file of unknown size
	last  int64
}

const (
	longReading = 5 * time.Second // of which nothing is said up to then
	megabyte    = 1_000_000
)

func newReading(w io.Writer) *reading {
	now := time.Now()
	return &reading{bar: newProgress(w, false), start: now, shown: now}
}

// observe is told how many bytes of the file are read, of size or of a number that is not known.
func (r *reading) observe(read, size int64) {
	if read < r.last {
		r.bar.finish()
		r.start = time.Now()
	}
	r.last = read
	switch {
	case size > 0 && read >= size:
		r.bar.finish()
	case time.Since(r.start) < longReading:
	case size > 0:
		if r.bar.stage == "" { // what is left is judged by the whole reading
			r.bar.enter("reading", int(size/megabyte)+1)
			r.bar.start = r.start
		}
		r.bar.count("reading", "MB", int(read/megabyte), int(size/megabyte)+1)
	case time.Since(r.shown) > sayEach:
		r.shown = time.Now()
		r.bar.note(fmt.Sprintf("reading: %d MB", read/megabyte))
	}
}
