package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/cmd/words"
	"missingscore/data"
	"missingscore/data/diagnose"
	"missingscore/graph"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
)

// trainingFlags are those of every command that trains: the table with its support and
// what is known of its gaps, the estimator, and a run that can be cut and resumed.
type trainingFlags struct {
	tableFlags tableFlags
	domain     domainFlags
	known      missingnessFlag
	transform  transformFlag
	spec       trainers.Spec
	settings   settingsFlag

	warmUp                int
	imputerLoss           string
	imputerOptions        string
	normal                nets.NormalOptions // in place of --imputer-options
	json, resume, verbose bool

	blas string   // the matrix library in use
	told []string // warnings that were given before the fit
	how  string   // lines on the method that were given before a fit

	inPlace bool // nothing reads the table after the estimate but to describe it

	shard inference.Shard // of a network's resamples: its state is kept, too, when it is done
	from  *trainers.State // where it starts; nil: anew, or by --resume
}

func (f *trainingFlags) add(cmd *cobra.Command) {
	f.addTable(cmd)
	cmd.Flags().Float64Var(&f.tableFlags.hide, "hide", 0, "hide this share of the observed cells at random first (to try methods out)")
	f.addSteps(cmd)
	f.addRun(cmd)
}

func (f *trainingFlags) addTable(cmd *cobra.Command) {
	f.tableFlags.add(cmd)
	f.domain.add(cmd)
	f.domain.addWeight(cmd, &f.spec.Weight)
	f.known.add(cmd)
	f.transform.add(cmd)
}

func (f *trainingFlags) addSteps(cmd *cobra.Command) {
	c, fl := &f.spec.Steps, cmd.Flags()
	fl.Uint64Var(&c.Seed, "seed", 1, "seed of all random draws")
	fl.IntVar(&c.Draws, "draws", 10, "imputations per row and step (r)")
	fl.IntVar(&c.ImputerSteps, "imputer-steps", 10, "imputer steps per parameter step (L)")
	fl.TextVar(&c.DType, "dtype", graph.Float64, "numbers of the expression graphs: float64 or float32 (faster; the model's parameters stay float64, the imputer's do not)")
	fl.StringVar(&f.imputerLoss, "imputer-loss", "kl", "what trains the imputer: kl or fisher")
	fl.StringVar(&c.Imputer.Kind, "imputer", "", strings.Join(slices.Sorted(maps.Keys(nets.Imputers)), ", ")+": what is trained to fill gaps; normal is the paper's network, mixture several normals a row, linear the conditionals of one normal distribution and a correction, flow any shape (default: mixture for em-variw and em-var of a model that is not normal, without bounds; else normal)")
	fl.StringVar(&f.imputerOptions, "imputer-options", "", "options of the imputer as JSON, as '{\"hidden\":100}'")
	fl.BoolVar(&f.normal.MaskInput, "mask-input", false, "give the normal imputer the mask too")
	fl.BoolVar(&f.normal.DiagonalSD, "diagonal-sd", false, "one deviation of the normal imputer per column instead of one in all")
	fl.Float64Var(&c.ProposalSD, "proposal-sd", 1, "deviation of the fixed proposal, in standard deviations (the paper: 4)")
	fl.StringVar(&c.Weighting, "weighting", "", "averages over draws: uniform or leave-one-out (default: the method's own)")
}

// addRun adds the flags of a run that says how far it is, and can be cut and resumed.
func (f *trainingFlags) addRun(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.settings.add(cmd)
	fl.BoolVar(&f.json, "json", false, "print one JSON object on stdout")
	fl.BoolVar(&f.resume, "resume", false, "go on where an interrupted run into the same --out was cut")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "say which matrix library is used, and more of the progress")
}

func (f *trainingFlags) parse(cmd *cobra.Command) (err error) {
	c := &f.spec.Steps
	if f.settings.says(cmd, "imputer-loss") {
		if c.ImputerLoss, err = losses.ParseImputerLoss(f.imputerLoss); err != nil {
			return usageError{fmt.Errorf("--imputer-loss: %w", err)}
		}
	}
	if f.settings.says(cmd, "transform") || cmd.Flags().Changed("ordinal") {
		if f.spec.Transform, err = f.transform.parse(); err != nil {
			return err
		}
	}
	if f.settings.says(cmd, "imputer-options") {
		c.Imputer.Options = json.RawMessage(f.imputerOptions)
	}
	if f.normal != (nets.NormalOptions{}) {
		setting.Default(&c.Imputer.Kind, "normal")
		if c.Imputer.Kind != "normal" || f.imputerOptions != "" {
			return usageError{errors.New("--mask-input, --diagonal-sd: these are of --imputer normal without --imputer-options; leave them out, or write them there")}
		}
		if c.Imputer.Options, err = json.Marshal(f.normal); err != nil {
			return err
		}
	}
	if c.Method != "auto" {
		if _, err := estimator.ByName(c.Method); err != nil {
			return usageError{fmt.Errorf("%s: %w, or auto", settingName(cmd, "method"), err)}
		}
	}
	return nil
}

// prepare reads the support and what is known of missing cells, and prepares the
// estimate. It refuses flags that mean nothing for it.
func (f *trainingFlags) prepare(cmd *cobra.Command, t *data.Table, file string) (*trainers.Prepared, error) {
	return f.prepareBy(cmd, t, file, func(s trainers.Spec) (*trainers.Prepared, error) { return trainers.Prepare(t, s) })
}

// prepareBy is prepare by a function, for a table or its columns alone.
func (f *trainingFlags) prepareBy(cmd *cobra.Command, t *data.Table, file string, by func(trainers.Spec) (*trainers.Prepared, error)) (*trainers.Prepared, error) {
	var err error
	s := &f.spec
	if s.Domain, err = f.domain.read(t.Names); err != nil {
		return nil, err
	}
	if s.Missingness, err = f.known.read(t, s.Domain); err != nil {
		return nil, err
	}
	asked := s.Steps.Method
	p, err := by(*s)
	if err != nil {
		others := "correct the row, leave it out, or change the domain (--lower, --upper, --domain)"
		if s.Missingness != nil && t.Inside(s.Domain) == nil {
			others = "correct the row, leave it out, or change the thresholds (--missingness)"
		}
		return nil, inTable(err, file, rowAdvice(err, others))
	}
	return p, checkMethodFlags(cmd, asked, p)
}

// inTable puts the table's file to an error of preparing an estimate, but to a setting's.
func inTable(err error, file, advice string) error {
	var wrong *trainers.SettingError
	var row *data.RowError
	if errors.As(err, &wrong) || errors.As(err, &row) {
		return atLine(err, file, advice)
	}
	return fmt.Errorf("%s: %w", file, err)
}

// announce says what is about to be trained on, and by which matrix library.
func (f *trainingFlags) announce(w io.Writer, file string, t *data.Table) (err error) {
	if f.blas, err = graph.BLAS(); err != nil {
		return err
	}
	if f.verbose {
		fmt.Fprintf(w, "matrix products by %s\n", f.blas)
	}
	_, err = fmt.Fprintf(w, "%s: %d rows, %d columns, %s missing (%.1f %%)\n", file, t.RowCount(), t.D, counted(t.Missing(), "cell"),
		100*float64(t.Missing())/float64(t.RowCount()*t.D))
	if err == nil && t.Dropped > 0 {
		_, err = fmt.Fprintf(w, "left out: rows without any value (%d)\n", t.Dropped)
	}
	return err
}

// fit makes the estimate with progress on stderr; saved is where its state goes, and
// advice is for a fit that diverges.
func (f *trainingFlags) fit(cmd *cobra.Command, p *trainers.Prepared, file, saved, advice string) (*trainers.Result, error) {
	state, err := f.state(saved, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	f.known.announce(cmd.ErrOrStderr(), p)
	how := ""
	if levels := p.LevelsText(); levels != "" && p.Estimator.NeedsOrdinal() {
		how = fmt.Sprintf("method em-latent: %s\n", levels)
	}
	if a := p.Assumption(); a != losses.NoGaps {
		how += fmt.Sprintf("method %s assumes cells %v\n", p.Estimator.Name, a)
	}
	if how != f.how { // the second group of a comparison has the first one's
		f.how = how
		fmt.Fprint(cmd.ErrOrStderr(), how)
	}
	found, err := p.Findings()
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(d diagnose.Finding) bool { return slices.Contains(f.told, d.Message) })
	writeFindings(cmd.ErrOrStderr(), found)
	for _, d := range found {
		f.told = append(f.told, d.Message)
	}
	bar := newProgress(cmd.ErrOrStderr(), f.verbose)
	p.Spec.Steps.Observe = bar.observe
	run := trainers.Run{State: state, Shard: f.shard, InPlace: f.inPlace}
	if saved != "" {
		pace := newSavePace()
		run.Save = func(s *trainers.State) error {
			return pace.save(cmd.Context(), func() error { return s.Save(saved) })
		}
	}
	r, err := p.Estimate(cmd.Context(), run)
	bar.finish()
	if err == nil && f.shard.N > 0 {
		err = state.Save(saved)
	}
	if err != nil {
		return nil, explain(err, file, saved, advice)
	}
	return r, nil
}

// state is where the run starts.
func (f *trainingFlags) state(saved string, stderr io.Writer) (*trainers.State, error) {
	if f.from != nil {
		return f.from, nil
	}
	if !f.resume {
		return &trainers.State{}, nil
	}
	state, err := trainers.LoadState(saved)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(stderr, "nothing to resume in %s: starting anew\n", filepath.Dir(saved))
		return &trainers.State{}, nil
	}
	return state, err
}

// explain says what to do after a run that gave no result; advice is for one that
// diverged.
func explain(err error, file, saved, advice string) error {
	var wrong *trainers.SettingError
	switch {
	case errors.As(err, &wrong):
		return err
	case errors.Is(err, context.Canceled) && saved == "":
		return refused(err, file)
	case errors.Is(err, context.Canceled) && !exists(saved):
		return interrupted("it was cut before there was anything to save, and nothing is written")
	case errors.Is(err, context.Canceled):
		return interrupted(fmt.Sprintf("the state is saved in %s; go on with the same command and --resume", saved))
	case errors.Is(err, losses.ErrNotPositiveDefinite):
		return fmt.Errorf("%s: the fit diverged: %w; %s", file, losses.ErrNotPositiveDefinite, advice)
	case errors.Is(err, trainers.ErrUnits):
		return fmt.Errorf("%s: %w; no model is written", file, err)
	case trainers.Diverged(err):
		return fmt.Errorf("%s: %w; %s", file, err, advice)
	case errors.Is(err, regpath.ErrLambdas):
		return usageError{fmt.Errorf("--lambda-max, --lambda-min: %w", err)}
	case errors.Is(err, trainers.ErrOtherRun):
		return usageError{fmt.Errorf("--resume: %s: %w", saved, err)}
	}
	return fmt.Errorf("%s: %w", file, err)
}

// warn gives the warnings that were not given before.
func (f *trainingFlags) warn(warnings []string, stderr io.Writer) {
	for _, w := range warnings {
		if slices.Contains(f.told, w) {
			continue
		}
		f.told = append(f.told, w)
		if !strings.HasPrefix(w, "WARNING: ") {
			w = "warning: " + w
		}
		fmt.Fprintln(stderr, w)
	}
}

// needs say what an estimator must do for a flag to mean anything.
var needs = []struct {
	lacks string
	met   func(estimator.Estimator) bool
	flags []string
}{
	{"makes no draws", func(e estimator.Estimator) bool { return e.Draws() }, []string{"draws"}},
	{"has no fixed proposal", func(e estimator.Estimator) bool { return e.Proposes() }, []string{"proposal-sd"}},
	{"trains no imputer", func(e estimator.Estimator) bool { return e.Trains() },
		[]string{"imputer-steps", "imputer-rate", "imputer-loss", "imputer", "imputer-options", "mask-input", "diagonal-sd", "warm-up"}},
	{"has one kind of averages only", func(e estimator.Estimator) bool { return e.Correctable() }, []string{"weighting"}},
}

// checkMethodFlags refuses flags that the estimator in use, or a support without boundary or
// half-space, makes meaningless: who sets one expects a difference. asked is --method.
func checkMethodFlags(cmd *cobra.Command, asked string, p *trainers.Prepared) error {
	e, s := p.Estimator, p.Support
	name := "method " + e.Name
	if asked != e.Name {
		name += fmt.Sprintf(", which %s means here,", asked)
	}
	for _, need := range needs {
		if need.met(e) {
			continue
		}
		for _, flag := range need.flags {
			if !cmd.Flags().Changed(flag) {
				continue
			}
			advice := "leave it out"
			if others := capable(p, need.met); others != nil {
				advice += ", or choose another --method: " + strings.Join(others, ", ")
			}
			return usageError{fmt.Errorf("--%s: %s %s; %s", flag, name, need.lacks, advice)}
		}
	}
	for _, flag := range []string{"g-per-row", "g-cap"} {
		if s == nil && cmd.Flags().Changed(flag) {
			return usageError{fmt.Errorf("--%s is about a support, and there is none; leave it out, or say where the rows can lie (--lower, --upper, --domain)", flag)}
		}
	}
	if (s == nil || len(s.Half) == 0) && cmd.Flags().Changed("no-tangent") {
		return usageError{fmt.Errorf("--no-tangent is about a half-space, and there is none; leave it out, or give one by --domain")}
	}
	return nil
}

// capable are the estimators that meet a need and can estimate what p is to.
func capable(p *trainers.Prepared, met func(estimator.Estimator) bool) (names []string) {
	for _, e := range estimator.All {
		if met(e) && p.Allows(e) {
			names = append(names, e.Name)
		}
	}
	return names
}

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
	fl.StringVar(&steps.Method, "method", "auto", "auto (em-exact; em-latent if a column is binary, ordered or nominal; with logistic --missingness variw, with thresholds exact; full if nothing is missing) or one of the methods above")
	fl.StringVar(&f.penalty, "penalty", "", "by what pairs come into the network: "+regpath.PenaltyForms()+"; by default "+penalty)
	fl.Float64Var(&c.LambdaMax, "lambda-max", 0, "largest λ of the path (default: from the data, where the network is empty)")
	fl.Float64Var(&c.LambdaMin, "lambda-min", 0, "smallest λ of the path (default: the largest over 200; --penalty adaptive 1000, ridge 100)")
	fl.IntVar(&c.Lambdas, "lambdas", 100, "number of λ")
	fl.StringVar(&f.selection, "select", "ebic", "how λ is chosen: "+words.Text(regpath.SelectionForms()))
	fl.Float64Var(&f.gamma, "gamma", 0, "γ of "+strings.Join(regpath.GammaSelections(), " and ")+", from 0 (BIC, keeps more edges) to 1 (default: from 0 with many rows for few columns to 0.25; with levels, bounds or a law of missing cells 0.25)")
	fl.Float64Var(&c.Threshold, "threshold", 0.002, "an edge is a standardised |P_jk| above this")
	fl.Float64Var(&c.Tolerance, "tolerance", 0.003, "converged when the standardised precision moves by less than this per 50 iterations")
	fl.IntVar(&c.Iterations, "iterations", 0, "iterations at each λ: at most so many where the method's gradient has no noise (default 300; em-exact 20), else just so many (default 10)")
	fl.BoolVar(&f.refit, "refit", false, "report sizes without the penalty's shrinkage: the edges of the chosen λ fitted again without it (default: with --select ebic, unless a logistic law of missing cells is given; with --select stability and --penalty ridge there are no others)")
	fl.IntVar(&steps.Workers, "workers", runtime.NumCPU(), "parallel parts of a step; results do not depend on it")
}

// takesLevels reports whether networks are of the columns' levels if there are some: the method is auto
// or em-latent, and neither bounds nor a law of missing cells are given.
func (f *networkFlags) takesLevels(cmd *cobra.Command) bool {
	for _, flag := range []string{"lower", "upper", "domain", "missingness"} {
		if cmd.Flags().Changed(flag) {
			return false
		}
	}
	return f.spec.Steps.Method == "auto" || f.spec.Steps.Method == "em-latent"
}

// addInference adds the flags of how uncertain a network is: kind is the default, does is what comes
// of it, of is whose intervals the level is.
func (f *networkFlags) addInference(cmd *cobra.Command, kind, does, of string) {
	fl := cmd.Flags()
	fl.StringVar(&f.inference, "inference", kind, "how far each partial correlation may be from the truth: auto (robust up to 100 columns, if there are rows enough), none, "+inference.Listed()+"; "+does)
	fl.Float64Var(&f.spec.Inference.Level, "level", inference.DefaultLevel, "level of the confidence intervals "+of)
}

// parseNetwork turns the flags into a Spec.
func (f *networkFlags) parseNetwork(cmd *cobra.Command) (err error) {
	if err := nonZero(cmd, "g-cap", "lambda-max", "lambda-min", "lambdas", "threshold", "tolerance", "level", "stability", "iterations", "workers", "draws", "imputer-steps", "proposal-sd"); err != nil {
		return err
	}
	c := &f.config
	f.spec.Network = c
	if err := f.settings.read(cmd, &f.spec); err != nil {
		return err
	}
	if cmd.Flags().Changed("penalty") {
		if c.Penalty, err = regpath.ParsePenalty(f.penalty); err != nil {
			return asUsage(cmd, err)
		}
	}
	if f.settings.says(cmd, "select") || c.Select.Kind == "" {
		if c.Select, err = regpath.ParseSelection(f.selection); err != nil {
			return asUsage(cmd, err)
		}
	}
	if c.Select.UsesGamma() {
		if cmd.Flags().Changed("gamma") {
			c.Select.Gamma = &f.gamma
		}
	} else if cmd.Flags().Changed("gamma") {
		return usageError{fmt.Errorf("--gamma is of --select %s, and λ is chosen by %s; leave one of them out", strings.Join(regpath.GammaSelections(), " and "), c.Select.Kind)}
	}
	if cmd.Flags().Changed("refit") {
		c.Refit = &f.refit
	}
	if err := f.parse(cmd); err != nil {
		return asUsage(cmd, err)
	}
	if cmd.Flags().Lookup("inference") == nil || !f.settings.says(cmd, "inference") {
		return nil
	}
	given := f.spec.Inference
	if f.spec.Inference, err = inference.Parse(f.inference); err != nil {
		return asUsage(cmd, err)
	}
	f.spec.Inference.Level, f.spec.Inference.Stability = given.Level, given.Stability
	return nil
}
