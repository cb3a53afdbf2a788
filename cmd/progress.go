package cmd

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"missingscore/internal/trainers/engine"
)

// progress shows a bar on a terminal, else a line every 10 seconds; --verbose adds a line for each hundredth
// of a stage.
type progress struct {
	w         io.Writer
	bar       *progressbar.ProgressBar
	live      bool
	verbose   bool
	stage     string
	hundredth int
	start     time.Time // of the stage
	shown     time.Time // the last line, or the beginning
	before    int       // units of the stage that were done at its start
	last      int       // units done at the last report
}

func newProgress(w io.Writer, verbose bool) *progress {
	f, ok := beneath(w).(*os.File)
	return &progress{w: w, live: ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb", verbose: verbose, shown: time.Now()}
}

func (p *progress) observe(s engine.Progress) {
	switch s.Stage {
	case "bootstrap", "stability", "standard errors", "reading": // no steps of a fit
		p.count(s.Stage, s.Unit+"s", s.Iteration, s.Total)
		return
	}
	stage := s.Stage
	if s.Trial != "" {
		stage += " (" + s.Trial + ")"
	}
	if stage != p.stage {
		p.enter(stage, s.Total)
		p.before = s.Iteration
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

func (p *progress) left(done, total int) string {
	if done <= p.before {
		return "time left unknown"
	}
	left := time.Since(p.start) / time.Duration(done-p.before) * time.Duration(total-done)
	return fmt.Sprintf("about %v left", left.Round(time.Second))
}

func (p *progress) count(stage, units string, done, total int) {
	if stage != p.stage || done < p.last { // another stage, or the same one again
		p.finish()
		p.enter(stage, total)
		p.before = done
	}
	p.last = done
	if p.live {
		p.bar.Describe(stage)
		_ = p.bar.Set(done)
		return
	}
	if p.due(done, total) {
		fmt.Fprintf(p.w, "%s: %d of %d %s, %s\n", stage, done, total, units, p.left(done, total))
	}
}

// sayEach is the time between lines; tests shorten it.
var sayEach = 10 * time.Second

func (p *progress) enter(stage string, total int) {
	if stage == p.stage {
		return
	}
	p.finish()
	p.stage, p.hundredth, p.before, p.last, p.start = stage, 0, 0, 0, time.Now()
	if p.live {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(beneath(p.w)), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100e6))
	}
}

func (p *progress) due(done, total int) bool {
	next := done * 100 / total
	if time.Since(p.shown) < sayEach && !(p.verbose && next > p.hundredth) {
		return false
	}
	p.hundredth, p.shown = next, time.Now()
	return true
}

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

// reading shows the progress of reading a file, if it takes longer than longReading.
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

// observe takes the bytes that are read; size is 0 if unknown.
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
		unit, name := int64(megabyte), "MB"
		if size < 100*megabyte {
			unit, name = 1000, "kB"
		}
		if r.bar.stage == "" { // the time left is judged by the whole reading
			r.bar.enter("reading", int(size/unit)+1)
			r.bar.start = r.start
		}
		r.bar.count("reading", name, int(read/unit), int(size/unit)+1)
	case time.Since(r.shown) > sayEach:
		r.shown = time.Now()
		r.bar.note(fmt.Sprintf("reading: %d MB", read/megabyte))
	}
}
