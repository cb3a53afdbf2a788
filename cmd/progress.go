package cmd

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"golang.org/x/term"

	"missingscore/internal/trainers/engine"
)

// progress shows one changing line on a terminal, else a line every 10 seconds; --verbose adds a
// line for each hundredth of a stage.
type progress struct {
	w         io.Writer
	live      bool // on a terminal
	verbose   bool
	stage     string
	hundredth int
	start     time.Time // of the stage
	shown     time.Time // the last line, or the beginning
	before    int       // units of the stage that were done at its start
	last      int       // units done at the last report
}

func newProgress(w io.Writer, verbose bool) *progress {
	p := &progress{w: w, verbose: verbose, shown: time.Now()}
	if s, ok := w.(*screen); ok {
		if f, ok := s.w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
			p.w, p.live = f, true // past the screen, which lets no control characters through
		}
	}
	return p
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
	p.report(stage, s.Iteration, s.Total, fmt.Sprintf("%s %d of %d, %s", s.Unit, s.Iteration, s.Total, standing(s)))
}

func (p *progress) count(stage, units string, done, total int) {
	if done < p.last { // the same stage again
		p.finish()
	}
	p.report(stage, done, total, fmt.Sprintf("%d of %d %s", done, total, units))
}

func (p *progress) report(stage string, done, total int, what string) {
	if stage != p.stage {
		p.finish()
		p.stage, p.before, p.start = stage, done, time.Now()
	}
	p.last = done
	next := done * 100 / total
	each := sayEach
	if p.live {
		each = liveEach
	}
	if time.Since(p.shown) >= each || p.verbose && next > p.hundredth {
		p.hundredth, p.shown = next, time.Now()
		before, after := "", "\n"
		if p.live && !p.verbose {
			before, after = clearLine, ""
		}
		fmt.Fprintf(p.w, "%s%s: %s, %s%s", before, stage, what, p.left(done, total), after)
	}
}

func (p *progress) left(done, total int) string {
	if done <= p.before {
		return "time left unknown"
	}
	left := time.Since(p.start) / time.Duration(done-p.before) * time.Duration(total-done)
	return fmt.Sprintf("about %v left", left.Round(time.Second))
}

// Tests shorten sayEach, the time between lines; liveEach is the time between changes of a line.
var sayEach, liveEach = 10 * time.Second, time.Second / 5

const clearLine = "\r\x1b[K"

func (p *progress) finish() {
	if p.live && p.stage != "" && !p.verbose {
		fmt.Fprint(p.w, clearLine)
	}
	p.stage, p.hundredth, p.last = "", 0, 0
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

// size is 0 if unknown.
func newReading(w io.Writer) func(read, size int64) {
	bar := newProgress(w, false)
	return func(read, size int64) {
		if read < size {
			bar.count("reading", "kB", int(read/1000), int(size/1000)+1)
		} else {
			bar.finish()
		}
	}
}
