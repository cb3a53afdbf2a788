package cmd

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
)

// networkFlags are those of every command that estimates networks: how a path goes, what is
// chosen of it, and how uncertain that is.
type networkFlags struct {
	trainingFlags
	selection, penalty string
	gamma              float64
	refit              bool
	inference          string
	config             regpath.Config
}

// addPath adds the flags of the method and its path; penalty says in words what --penalty is
// by default.
func (f *networkFlags) addPath(cmd *cobra.Command, penalty string) {
	c, steps := &f.config, &f.spec.Steps
	fl := cmd.Flags()
	fl.StringVar(&steps.Method, "method", "auto", "auto (em-exact; with logistic --missingness variw, with thresholds exact; full if nothing is missing) or one of the methods above")
	fl.StringVar(&f.penalty, "penalty", "", "by what pairs come into the network: "+regpath.PenaltyForms()+"; by default "+penalty)
	fl.Float64Var(&c.LambdaMax, "lambda-max", 0, "largest λ of the path (default: from the data, where the network is empty)")
	fl.Float64Var(&c.LambdaMin, "lambda-min", 0, "smallest λ of the path (default: the largest over 200; --penalty adaptive 1000, ridge 100)")
	fl.IntVar(&c.Lambdas, "lambdas", 100, "number of λ")
	fl.StringVar(&f.selection, "select", "ebic", "how λ is chosen: "+regpath.SelectionForms())
	fl.Float64Var(&f.gamma, "gamma", regpath.DefaultGamma, "γ of "+strings.Join(regpath.GammaSelections(), " and ")+", from 0 (BIC, keeps more edges) to 1")
	fl.Float64Var(&c.Threshold, "threshold", 0.002, "an edge is a standardised |P_jk| above this")
	fl.Float64Var(&c.Tolerance, "tolerance", 0.003, "converged when the standardised precision moves by less than this per 50 iterations")
	fl.IntVar(&c.Iterations, "iterations", 0, "iterations at each λ: at most so many where the method's gradient has no noise (default 300; em-exact 20), else just so many (default 10)")
	fl.BoolVar(&f.refit, "refit", false, "report sizes without the penalty's shrinkage: the edges of the chosen λ fitted again without it (default: with --select ebic, unless a logistic law of missing cells is given; with --select stability and --penalty ridge there are no others)")
	fl.IntVar(&steps.Workers, "workers", runtime.NumCPU(), "parallel parts of a step; results do not depend on it")
}

// addInference adds the flags of how uncertain a network is; does is what comes of it, of
// whose intervals the level is.
func (f *networkFlags) addInference(cmd *cobra.Command, does, of string) {
	fl := cmd.Flags()
	fl.StringVar(&f.inference, "inference", inference.None, "how far each partial correlation may be from the truth: none, "+inference.Listed()+"; "+does)
	fl.Float64Var(&f.spec.Inference.Level, "level", inference.DefaultLevel, "level of the confidence intervals "+of)
}

// parseNetwork turns the flags into a Spec.
func (f *networkFlags) parseNetwork(cmd *cobra.Command) (err error) {
	if err := nonZero(cmd, "g-cap", "lambda-max", "lambda-min", "lambdas", "threshold", "tolerance", "level", "stability", "iterations", "workers", "draws", "imputer-steps", "proposal-sd"); err != nil {
		return err
	}
	c := &f.config
	if cmd.Flags().Changed("penalty") {
		if c.Penalty, err = regpath.ParsePenalty(f.penalty); err != nil {
			return asUsage(cmd, err)
		}
	}
	if c.Select, err = regpath.ParseSelection(f.selection); err != nil {
		return asUsage(cmd, err)
	}
	if c.Select.UsesGamma() {
		c.Select.Gamma = &f.gamma
	} else if cmd.Flags().Changed("gamma") {
		return usageError{fmt.Errorf("--gamma is of --select %s, and λ is chosen by %s; leave one of them out", strings.Join(regpath.GammaSelections(), " and "), c.Select.Kind)}
	}
	if cmd.Flags().Changed("refit") {
		c.Refit = &f.refit
	}
	if err := f.parse(); err != nil {
		return asUsage(cmd, err)
	}
	f.spec.Network = c
	if cmd.Flags().Lookup("inference") == nil {
		return nil
	}
	given := f.spec.Inference
	if f.spec.Inference, err = inference.Parse(f.inference); err != nil {
		return asUsage(cmd, err)
	}
	f.spec.Inference.Level, f.spec.Inference.Stability = given.Level, given.Stability
	return nil
}
