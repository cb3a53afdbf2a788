package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
)

type trainingFlags struct {
	tableFlags tableFlags
	domain     domainFlags
	known      missingnessFlag
	transform  transformFlag
	spec       trainers.Spec
	settings   settingsFlag

	warmUp                int
	imputerOptions        string
	json, resume, verbose bool

	blas string   // the matrix library in use
	told []string // what say has said

	inPlace bool // nothing reads the table after the estimate but to describe it

	shard inference.Shard // of a network's resamples: its state is kept, too, when it is done
	from  *trainers.State // where it starts; nil: anew, or by --resume
}

func (f *trainingFlags) add(cmd *cobra.Command) {
	f.addTable(cmd)
	f.addSteps(cmd)
}

func (f *trainingFlags) addTable(cmd *cobra.Command) {
	f.tableFlags.add(cmd)
	f.domain.add(cmd)
	f.known.add(cmd)
	f.transform.add(cmd)
}

// addSteps adds the flags of commands without a table, too.
func (f *trainingFlags) addSteps(cmd *cobra.Command) {
	c, fl := &f.spec.Steps, cmd.Flags()
	fl.Uint64Var(&c.Seed, "seed", 1, "seed of the random draws")
	fl.IntVar(&c.Draws, "draws", 0, "draws per row and step (default: 10; networks with em-var: 2)")
	fl.IntVar(&c.ImputerSteps, "imputer-steps", 0, "imputer steps per parameter step (default: 10; networks: 3)")
	fl.TextVar(&c.DType, "dtype", graph.Float64, "`type` of numbers in the loss: float64, or float32 (faster)")
	fl.StringVar(&c.Imputer.Kind, "imputer", "", "`name`: linear, mixture, normal (default: normal; mixture for em-var and em-variw if not Gaussian)")
	fl.StringVar(&f.imputerOptions, "imputer-options", "", "options of the imputer as `JSON`: {\"hidden\":100}, {\"mask_input\":true}, {\"diagonal_sd\":true}")
	f.settings.add(cmd)
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.BoolVar(&f.resume, "resume", false, "continue an interrupted run with the same --out")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print the matrix library and more progress")
}

func (f *trainingFlags) parse(cmd *cobra.Command) (err error) {
	c := &f.spec.Steps
	if f.settings.says(cmd, "transform") || cmd.Flags().Changed("ordinal") {
		if f.spec.Transform, err = f.transform.parse(); err != nil {
			return err
		}
	}
	if f.settings.says(cmd, "imputer-options") {
		c.Imputer.Options = json.RawMessage(f.imputerOptions)
	}
	if c.Method != "auto" {
		if _, err := estimator.ByName(c.Method); err != nil {
			return usageError{fmt.Errorf("%s: %w, or auto", settingName(cmd, "method"), err)}
		}
	}
	return nil
}

func (f *trainingFlags) prepare(t *data.Table, file string) (*trainers.Prepared, error) {
	return f.prepareBy(t, file, func(s trainers.Spec) (*trainers.Prepared, error) { return trainers.Prepare(t, s) })
}

func (f *trainingFlags) prepareBy(t *data.Table, file string, by func(trainers.Spec) (*trainers.Prepared, error)) (*trainers.Prepared, error) {
	var err error
	s := &f.spec
	if s.Domain, err = f.domain.read(t.Names); err != nil {
		return nil, err
	}
	if s.Missingness, err = f.known.read(t, s.Domain); err != nil {
		return nil, err
	}
	p, err := by(*s)
	if err != nil {
		others := "correct the row, leave it out, or change the domain (--lower, --upper, --domain)"
		if s.Missingness != nil && t.Inside(s.Domain) == nil {
			others = "correct the row, leave it out, or change the thresholds (--missingness)"
		}
		return nil, inTable(err, file, others)
	}
	return p, nil
}

func (f *trainingFlags) announce(w io.Writer, file string, t *data.Table) (err error) {
	if f.blas, err = graph.BLAS(); err != nil {
		return err
	}
	if f.verbose {
		fmt.Fprintf(w, "matrix products by %s\n", f.blas)
	}
	fmt.Fprintf(w, "%s: %d rows, %s, %s missing (%.1f %%)\n", file, t.RowCount(), counted(t.D, "column"), counted(t.Missing(), "cell"),
		100*float64(t.Missing())/float64(t.RowCount()*t.D))
	if t.Dropped > 0 {
		fmt.Fprintf(w, "left out: rows without any value (%d)\n", t.Dropped)
	}
	return nil
}

// saved is the path of the state, advice is for a divergent fit.
func (f *trainingFlags) fit(cmd *cobra.Command, p *trainers.Prepared, file, saved, advice string) (*trainers.Result, error) {
	state, save, err := resumable(cmd, f.resume && f.from == nil && saved != "", saved, cmp.Or(f.from, &trainers.State{}), trainers.LoadState)
	if err != nil {
		return nil, err
	}
	stderr := cmd.ErrOrStderr()
	f.known.announce(stderr, p)
	if levels := p.LevelsText(); levels != "" && p.Estimator.NeedsOrdinal() {
		f.say(stderr, "", "method em-latent: "+levels)
	}
	if a := p.Assumption(); a != losses.NoGaps {
		f.say(stderr, "", fmt.Sprintf("method %s assumes cells %v", p.Estimator.Name, a))
	}
	found, err := p.Findings()
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		f.say(stderr, fmt.Sprintf("%s: ", d.Severity), d.Message)
	}
	bar := newProgress(stderr, f.verbose)
	p.Spec.Steps.Observe = bar.observe
	run := trainers.Run{State: state, Shard: f.shard, InPlace: f.inPlace}
	if saved != "" {
		run.Save = save
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

func explain(err error, file, saved, advice string) error {
	var wrong *trainers.SettingError
	var disk *fs.PathError
	switch {
	case errors.As(err, &wrong):
		return err
	case errors.Is(err, context.Canceled) && saved == "":
		return refused(err, file)
	case errors.Is(err, context.Canceled) && !exists(saved):
		return interrupted("nothing is saved and nothing is written")
	case errors.Is(err, context.Canceled):
		return interrupted(fmt.Sprintf("the state is saved in %s; repeat the command with --resume", saved))
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
	case errors.As(err, &disk): // names its own file
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// verdict is one sentence; if the fit has not converged, the last line on the screen says why.
func verdict(r *trainers.Result) string {
	if r.Converged {
		return "Converged."
	}
	short, _, _ := strings.Cut(r.Verdict, ":")
	return short + "."
}

// open is the verdict of a fit that has not converged, "" of others.
func open(r *trainers.Result) string {
	if r.Converged {
		return ""
	}
	return r.Verdict
}

// open says why the fit has not converged, "" if it has.
func (f *trainingFlags) end(cmd *cobra.Command, result any, summary func(io.Writer), warnings []string, last, open string) (err error) {
	out := cmd.OutOrStdout()
	if f.json {
		err = printJSON(out, result)
	} else {
		summary(out)
	}
	for _, w := range warnings {
		prefix := "warning: "
		if strings.HasPrefix(w, "WARNING: ") {
			prefix = ""
		}
		f.say(cmd.ErrOrStderr(), prefix, w)
	}
	if !f.json {
		fmt.Fprintln(out, last)
	}
	if err == nil && open != "" {
		err = unconverged{open}
	}
	return err
}

// say says each text once, though two groups are fitted and warnings repeat findings.
func (f *trainingFlags) say(stderr io.Writer, prefix, text string) {
	if !slices.Contains(f.told, text) {
		f.told = append(f.told, text)
		fmt.Fprintln(stderr, prefix+text)
	}
}

type networkFlags struct {
	trainingFlags
	selection, penalty string
	gamma              float64
	refit              bool
	inference          string
	config             regpath.Config

	pictures pictureFlags // of networks of a table
	leftOut  []string     // why columns are
}

// network fits a network of a table.
func (f *networkFlags) network(cmd *cobra.Command, p *trainers.Prepared, file, saved string) (*trainers.Result, error) {
	r, err := f.fit(cmd, p, file, saved, "no result is written. Try another --method, a larger --lambda-min, or look for outliers in the table")
	if err != nil {
		return nil, err
	}
	r.Network.Network.Labels = f.pictures.labels
	if f.leftOut != nil {
		r.Warnings, r.Model.Outcome.LeftOut = append(slices.Clone(f.leftOut), r.Warnings...), f.leftOut
	}
	return r, nil
}

// penalty is the default of --penalty in words.
func (f *networkFlags) addPath(cmd *cobra.Command, penalty string) {
	c, steps := &f.config, &f.spec.Steps
	fl := cmd.Flags()
	fl.StringVar(&steps.Method, "method", "auto", "`name` of the method; --help-all lists them")
	fl.StringVar(&f.penalty, "penalty", "", "`kind`: l1, adaptive, ridge, auto (default: "+penalty+")")
	fl.Float64Var(&c.LambdaMax, "lambda-max", 0, "largest λ of the path (default: the smallest λ without edges)")
	fl.Float64Var(&c.LambdaMin, "lambda-min", 0, "smallest λ of the path (default: --lambda-max / 200; adaptive 1000, ridge 100)")
	fl.IntVar(&c.Lambdas, "lambdas", 100, "number of λ on the path")
	fl.StringVar(&f.selection, "select", "ebic", "`rule` for λ: ebic, cv, stars, stability, fdr, density, none")
	fl.Float64Var(&f.gamma, "gamma", 0, "γ of ebic and fdr: 0 for more edges, 1 for fewer (default: automatic)")
	fl.Float64Var(&c.Tolerance, "tolerance", 0.003, "converged if the standardised precision moves less than this in 50 iterations")
	fl.IntVar(&c.Iterations, "iterations", 0, "iterations at each λ: at most 300 without noise (em-exact 20), exactly 10 with noise")
	fl.BoolVar(&f.refit, "refit", false, "report partial correlations without shrinkage (default: with --select ebic)")
	fl.IntVar(&steps.Workers, "workers", runtime.NumCPU(), "`threads`; results do not depend on them")
}

// takesLevels reports whether networks may have categories: method auto or em-latent, without support and
// missingness mechanism.
func (f *networkFlags) takesLevels(cmd *cobra.Command) bool {
	method := f.spec.Steps.Method
	return (method == "auto" || method == "em-latent") &&
		!slices.ContainsFunc([]string{"lower", "upper", "domain", "missingness"}, cmd.Flags().Changed)
}

// kind is the default of --inference.
func (f *networkFlags) addInference(cmd *cobra.Command, kind string) {
	fl := cmd.Flags()
	fl.StringVar(&f.inference, "inference", kind, "`kind` of intervals: auto, none, model, robust, bootstrap=N")
	fl.Float64Var(&f.spec.Inference.Level, "level", inference.DefaultLevel, "level of confidence intervals")
}

func (f *networkFlags) parseNetwork(cmd *cobra.Command) (err error) {
	c := &f.config
	f.spec.Network = c
	if err := cmp.Or(nonZero(cmd, "lambda-max", "lambda-min", "lambdas", "tolerance", "level", "stability", "iterations", "workers", "draws", "imputer-steps"),
		f.settings.read(cmd, &f.spec)); err != nil {
		return err
	}
	changed := cmd.Flags().Changed
	if changed("penalty") {
		c.Penalty, err = regpath.ParsePenalty(f.penalty)
	}
	if err == nil && (f.settings.says(cmd, "select") || c.Select.Kind == "") {
		c.Select, err = regpath.ParseSelection(f.selection)
	}
	if changed("gamma") {
		c.Select.Gamma = &f.gamma
	}
	if changed("refit") {
		c.Refit = &f.refit
	}
	if err == nil {
		err = f.parse(cmd)
	}
	given := f.spec.Inference
	if err == nil && cmd.Flags().Lookup("inference") != nil && (changed("inference") || given.Kind == "") {
		f.spec.Inference, err = inference.Parse(f.inference)
		f.spec.Inference.Level, f.spec.Inference.Stability = given.Level, given.Stability
	}
	return asUsage(cmd, err)
}
