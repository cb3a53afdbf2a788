package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"missingscore/trainers"
)

// progress shows how far a fit is: a bar on a terminal, a line for each tenth
// of a stage elsewhere.
type progress struct {
	w       io.Writer
	bar     *progressbar.ProgressBar
	live    bool
	verbose bool
	stage   string
	tenth   int
}

func newProgress(w io.Writer, verbose bool) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, live: ok && term.IsTerminal(int(f.Fd())), verbose: verbose}
}

func (p *progress) observe(s trainers.Progress) {
	if s.Stage != p.stage {
		p.finish()
		p.stage, p.tenth = s.Stage, 0
		if p.live {
			p.bar = progressbar.NewOptions(s.Total, progressbar.OptionSetWriter(p.w), progressbar.OptionShowCount(),
				progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100e6))
		}
	}
	if p.live {
		p.bar.Describe(s.Stage + "  " + standing(s))
		_ = p.bar.Set(s.Iteration) // a bar that cannot be drawn is no reason to stop a fit
		return
	}
	parts := 10
	if p.verbose {
		parts = 100
	}
	if tenth := s.Iteration * parts / s.Total; tenth > p.tenth {
		p.tenth = tenth
		fmt.Fprintf(p.w, "%s: %s %d of %d, %s\n", s.Stage, s.Unit, s.Iteration, s.Total, standing(s))
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// standing is where a fit is.
func standing(s trainers.Progress) string {
	if math.IsNaN(s.Loss) {
		return "paths on parts of the rows"
	}
	if s.Lambda == 0 { // not along a path
		return fmt.Sprintf("loss %.5f", s.Loss)
	}
	return fmt.Sprintf("λ %.4g, %d edges, loss %.5f", s.Lambda, s.Edges, s.Loss)
}
