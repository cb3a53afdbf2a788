package cmd

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"missingscore/trainers/fitted"
	"missingscore/trainers/inference"
)

// addInference adds the flags of how uncertain parameters are.
func (f *fitCommand) addInference(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.inference, "inference", inference.None, "how far each parameter may be from the truth: none, robust (standard errors by the rows, the sandwich, with draws held fixed; of gaussian, quartic, mixture)")
	fl.Float64Var(&f.spec.Inference.Level, "level", inference.DefaultLevel, "level of the intervals of --inference")
}

// parseInference reads --inference.
func (f *fitCommand) parseInference(cmd *cobra.Command) (err error) {
	level := f.spec.Inference.Level
	if f.spec.Inference, err = inference.Parse(f.inference); err != nil {
		return err
	}
	switch {
	case f.spec.Inference.Asked():
		f.spec.Inference.Level = level
		return nil
	case cmd.Flags().Changed("level"):
		return usageError{errors.New("--level is of the intervals of --inference robust: add that, or leave --level out")}
	}
	f.spec.Inference = inference.Config{} // a fit that nobody asks more of
	return nil
}

const shownParameters = 60 // with standard errors on the screen

// writeUncertainty shows parameters with standard errors and intervals, and counts the others.
func writeUncertainty(w io.Writer, u *fitted.Uncertainty) {
	if u == nil {
		return
	}
	fmt.Fprintf(w, "estimates with standard errors and %g %% intervals; %s:\n", 100*u.Level, u.Rests)
	wide := 0
	shown := u.Parameters[:min(len(u.Parameters), shownParameters)]
	for _, p := range shown {
		wide = max(wide, len([]rune(p.Name)))
	}
	for _, p := range shown {
		fmt.Fprintf(w, "  %-*s %10.4g  %9.3g", wide, p.Name, p.Estimate, p.SE)
		if !math.IsNaN(p.Low) && !math.IsNaN(p.High) {
			fmt.Fprintf(w, "  [%.4g, %.4g]", p.Low, p.High)
		}
		fmt.Fprintln(w)
	}
	if more := len(u.Parameters) - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %d more, in the file\n", more)
	}
}
