package cmd

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/data/network"
	"missingscore/data/noise"
	"missingscore/graph/model"
	"missingscore/internal/atomicfile"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
)

// fitFlags are the fit command's.
type fitFlags struct {
	trainingFlags
	model, objective               string
	modelOptions, objectiveOptions string
	out, history, truth            string
	keepUnits                      bool
	config                         trainers.FitConfig
}

func newFitCommand() *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:   "fit TABLE.csv",
		Short: "Estimate a model's parameters from a table with missing cells",
		Long: `Estimate the parameters of a model from a table with missing cells by score
matching, with Adam on mini-batches (the paper's parameter estimation).

  gaussian  mean and precision P = LLᵀ; columns are standardised meanwhile
  quartic   log q = Σ θ_ij x_i² x_j², kept integrable by −θ = LLᵀ; columns are scaled
            but not shifted meanwhile. It overfits: with 1000 rows 5 to 15 passes are best,
            the fewer the more columns (--epochs)
  mixture   normals with diagonal covariances; --model-options '{"components":10}'
  energy    a neural network, log q = f(x) − ½ Σ κ_j (x_j − c_j)²; columns are standardised;
            --model-options '{"hidden":[64,64],"activation":"softplus"}' (or silu, the
            default for denoising, tanh)
  score-network  MissDiff's network: a score without a density, for zeroed and full

Objectives (--objective, --objective-options):

  auto       classical, or truncated where a support is given
  sliced     on random directions: '{"directions":"rademacher","number":1,"variance_reduced":false}'
             (or normal, basis); fast for networks with many columns
  denoising  on rows with noise added: '{"noise":{"kind":"exploding","least":0.01,"most":10,
             "levels":0},"weight":"variance"}' (or preserving; fixed with one level), lengths in
             standard deviations. Networks learn all levels (levels 0) or a ladder of them,
             for "missingscore sample"; other models one level, fixed, and are then models
             of the rows with that noise

With --lower, --upper or --domain the model is restricted to that support: the
objective is weighted by g, and imputed cells stay inside. With --missingness the
chance that a cell is missing may depend on the row, itself included, or cells beyond
a threshold are missing; what is in the file must be known. It writes the model, in
the table's units, and history.csv beside it: a line for each pass over the table.

Methods:
` + methodList(),
		Example: `  missingscore simulate normal --d 5 --n 500 --missing 0.2 --truncate box --out trunc
  missingscore fit trunc/data.csv --model gaussian --method exact --domain trunc/domain.json --truth trunc/truth.json --out trunc/model.json`,
		Args: exactArgs(1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	c := &f.config
	f.trainingFlags.add(cmd, &c.Config)
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "gaussian", strings.Join(slices.Sorted(maps.Keys(model.Models)), ", "))
	fl.StringVar(&f.modelOptions, "model-options", "", "options of the model as JSON, see above")
	fl.StringVar(&c.Method, "method", "auto", "auto (gaussian: exact; gaussian-natural: exact-mc; score-network: zeroed; others: iw; with logistic --missingness: variw; full if nothing is missing) or one of the methods above")
	fl.StringVar(&f.objective, "objective", "auto", "auto or "+strings.Join(slices.Sorted(maps.Keys(losses.Objectives)), ", "))
	fl.StringVar(&f.objectiveOptions, "objective-options", "", "options of the objective as JSON, see above")
	fl.StringVar(&f.out, "out", "model.json", "file for the model, or a folder for model.json")
	fl.StringVar(&f.history, "history", "", "file for the history (default: history.csv beside the model)")
	fl.StringVar(&f.truth, "truth", "", "true model as JSON (adds Fisher divergence and errors to the history) or precision as CSV (adds its error)")
	fl.BoolVar(&f.keepUnits, "keep-units", false, "do not standardise the columns meanwhile")
	fl.IntVar(&c.Epochs, "epochs", 0, "passes over the table (default: 200; quartic: 25, or what makes 250 steps; networks: what makes 2500 steps, at most 300; 200 for denoising)")
	fl.Float64Var(&c.Rate, "rate", 0, "Adam's rate for the model (default: 0.01; networks: 0.003)")
	fl.IntVar(&c.Batch, "batch", 100, "rows in a batch")
	fl.IntVar(&c.WarmUp, "warm-up", 500, "imputer steps before the first parameter step")
	fl.Float64Var(&c.ImputerRate, "imputer-rate", 0, "Adam's rate for the imputer (default: 0.001; quartic: 0.003)")
	return cmd
}

// paths fills in where model, history and state go; beside a device or a pipe goes nothing.
func (f *fitFlags) paths(cmd *cobra.Command) (state string, err error) {
	info, statErr := os.Stat(f.out)
	if strings.HasSuffix(f.out, "/") || statErr == nil && info.IsDir() {
		f.out = filepath.Join(f.out, "model.json")
	}
	if f.history == "" {
		f.history = beside(f.out, "history.csv")
	}
	state = beside(f.out, filepath.Base(f.out)+".state")
	if f.resume && state == "" {
		return "", usageError{fmt.Errorf("--resume: no state is kept beside %s: leave it out, or choose a file as --out", f.out)}
	}
	return state, apart(cmd, output{"out", f.out}, output{"history", f.history}, output{"out", state})
}

func (f *fitFlags) run(cmd *cobra.Command, path string) error {
	start := time.Now()
	c := f.config
	if err := positive(cmd, "epochs", "rate", "batch", "draws", "imputer-steps", "imputer-rate", "proposal-sd"); err != nil {
		return err
	}
	if c.WarmUp < 0 {
		return usageError{fmt.Errorf("--warm-up %d: it must not be negative", c.WarmUp)}
	}
	if err := f.parse(&c.Config); err != nil {
		return err
	}
	saved, err := f.paths(cmd)
	if err != nil {
		return err
	}
	table, err := f.table.read(path, c.Seed)
	if err != nil {
		return err
	}
	if err := fits(size{min(c.Batch, table.N), "rows in a batch"}, size{table.D, "columns"}, size{c.Draws, "draws (--draws)"}); err != nil {
		return err
	}
	support, weight, err := f.domain.around(table, path)
	if err != nil {
		return err
	}
	known, cut, err := f.known.read(table, support, path)
	if err != nil {
		return err
	}
	objective, err := f.makeObjective(cut, weight)
	if err != nil {
		return err
	}
	fitted, err := f.makeModel(table.D, objective)
	if err != nil {
		return err
	}
	if c.Method == "auto" {
		if c.Method, err = autoMethod(table, known, fitted); err != nil {
			return err
		}
	}
	if _, classical := objective.(losses.Classical); classical && c.Method == "exact" && natural(fitted) {
		return usageError{fmt.Errorf("--method exact: its closed form needs the mean μ among the parameters, and %s has η = Pμ; take --method exact-mc", f.model)}
	}
	e, err := trainers.EstimatorFor(c.Method, objective)
	if err != nil {
		return err
	}
	if err := unused(cmd, f.config.Method, e, fitted, cut); err != nil {
		return err
	}
	f.defaults(objective, (table.N+c.Batch-1)/c.Batch, &c)
	truth, err := readTruth(cmd.Context(), f.truth, table.Names)
	if err != nil {
		return err
	}
	for _, out := range []string{f.out, f.history} {
		if err := ensureDirOf(out); err != nil {
			return err
		}
	}
	stderr := cmd.ErrOrStderr()
	blas, err := f.announce(stderr, path, table)
	if err != nil {
		return err
	}

	work, scale := table, unitScale(table.D)
	if !f.keepUnits {
		if m, about := fitted.(model.FixedOrigin); about {
			work, scale = data.ScaleAboutZero(table, m.InitialRMS())
		} else {
			work, scale = data.Standardise(table)
		}
	}
	c.Domain, c.Weight = cut.Standardised(scale.Mean, scale.Deviation), weight
	if objective, err = f.makeObjective(c.Domain, weight); err != nil {
		return err
	}
	c.Missingness = model.MissingnessOf(known.Standardised(scale.Mean, scale.Deviation))
	described, isDescribed := fitted.(model.Parametric)
	if truth != nil {
		truth.Scale, truth.View = scale, model.Rescaled{Model: fitted, Mean: scale.Mean, Deviation: scale.Deviation}
		if isDescribed {
			if truth.View, err = f.makeModel(table.D, objective); err != nil {
				return err
			}
		}
		c.Truth = truth
	}
	state, err := f.state(saved, stderr)
	if err != nil {
		return err
	}
	bar := newProgress(stderr, f.verbose)
	c.Observe = bar.observe
	const advice = "no model is written. Try a smaller --rate, another --method, or look for outliers in the table"
	result, err := trainers.Fit(cmd.Context(), work, fitted, objective, c, state, checkpoint(cmd.Context(), saved))
	bar.finish()
	if err != nil {
		return explain(err, path, saved, advice)
	}
	if isDescribed {
		if err := described.Rescale(scale.Mean, scale.Deviation); err != nil {
			return fmt.Errorf("%s: the fitted parameters cannot be given in the table's units: %w; %s", path, err, advice)
		}
	}
	final := result.History[len(result.History)-1]
	model := trainers.SavedModel{Kind: f.model, Model: fitted, Names: table.Names, Domain: support, Scale: scale, Imputer: result.Imputer, Missingness: known}
	noising, noisy := objective.(losses.Noising)
	if noisy {
		schedule := noising.Schedule()
		model.Noise = &schedule
	}
	settings := result.Config
	text, err := model.Encode(map[string]any{
		"method": settings.Method, "objective": f.objective, "objective_options": objective, "loss": final.Loss,
		"converged": result.Converged, "verdict": result.Verdict, "blas": blas, "settings": settings,
	})
	if err != nil {
		return err
	}
	if f.history != "" {
		if err := atomicfile.Write(f.history, func(w io.Writer) error { return writeHistory(w, result.History) }); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(f.out, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	if err := finish(saved, result.Warnings, stderr); err != nil {
		return err
	}
	if f.json {
		out := map[string]any{"model": f.model, "method": settings.Method, "converged": result.Converged, "verdict": result.Verdict, "loss": final.Loss,
			"seconds": time.Since(start).Seconds(), "blas": blas, "out": f.out, "history": f.history, "warnings": append([]string{}, result.Warnings...)}
		for _, e := range final.Errors {
			out[e.Name] = e.Value
		}
		err = printJSON(cmd.OutOrStdout(), out)
	} else {
		err = f.summary(cmd.OutOrStdout(), fitted, table.Names, model.Noise, result, final)
	}
	if err == nil && !result.Converged {
		err = unconverged{result.Verdict}
	}
	return err
}

func (f *fitFlags) makeObjective(s *domain.Domain, w domain.Weight) (losses.Objective, error) {
	o, err := losses.NewObjective(f.objective, []byte(f.objectiveOptions), s, w)
	if err != nil {
		return nil, usageError{fmt.Errorf("--objective: %w", err)}
	}
	return o, nil
}

// defaults are those that a model's benchmarks speak for: benchmarks/README.md,
// benchmarks/neural, benchmarks/denoising. A pass has so many batches.
func (f *fitFlags) defaults(o losses.Objective, batches int, c *trainers.FitConfig) {
	passes, rate, imputerRate := 200, 0.01, 1e-3
	steps := func(n int) int { return (n + batches - 1) / batches }
	switch f.model {
	case "quartic": // slower, Marg-Var runs away in 20 columns
		passes, imputerRate = max(25, steps(250)), 3e-3
	case "energy", "score-network":
		rate = 3e-3
		if _, noising := o.(losses.Noising); !noising {
			passes = min(300, steps(2500))
		}
	}
	if c.Epochs == 0 {
		c.Epochs = passes
	}
	if c.Rate == 0 {
		c.Rate = rate
	}
	if c.ImputerRate == 0 {
		c.ImputerRate = imputerRate
	}
}

// makeModel starts a model; networks are told if the objective has many levels of noise.
func (f *fitFlags) makeModel(d int, o losses.Objective) (model.Model, error) {
	options := []byte(f.modelOptions)
	if n, ok := o.(losses.Noising); ok && !n.Schedule().Single() {
		var err error
		if options, err = nets.AtLevels(f.model, options, n.Schedule()); err != nil {
			return nil, usageError{fmt.Errorf("--model-options: %w", err)}
		}
	}
	m, err := model.New(f.model, d, options, stream.New(f.config.Seed, stream.Initial, 1))
	if err != nil {
		return nil, usageError{fmt.Errorf("--model: %w", err)}
	}
	return m, nil
}

// autoMethod is the default for a model.
func autoMethod(t *data.Table, known *missingness.Model, m model.Model) (string, error) {
	if density, err := model.HasDensity(m); !density && t.Missing() > 0 {
		return "zeroed", err
	}
	method := trainers.AutoMethod(t, known)
	_, gaussian := m.(*model.Gaussian)
	switch {
	case method != "exact":
		return method, nil
	case natural(m):
		return "exact-mc", nil
	case gaussian:
		return method, nil
	}
	return "iw", nil
}

// natural tells whether a model is normal by η = Pμ, which method exact's closed form is not for.
func natural(m model.Model) bool {
	g, gaussian := m.(*model.Gaussian)
	return gaussian && g.Parameterisation() == model.Natural
}

func unitScale(d int) data.Scale {
	s := data.Scale{Mean: make([]float64, d), Deviation: make([]float64, d)}
	for j := range s.Deviation {
		s.Deviation[j] = 1
	}
	return s
}

// readTruth reads a model, or a precision, of which only the error is measured.
func readTruth(ctx context.Context, path string, names []string) (*trainers.Truth, error) {
	if path == "" {
		return nil, nil
	}
	if !strings.HasSuffix(path, ".json") {
		p, err := network.ReadPrecision(path, names)
		if err != nil {
			return nil, fmt.Errorf("--truth: %w", err)
		}
		m := model.NewGaussian(len(names), model.FreeSymmetric)
		return &trainers.Truth{Model: m, Unknown: []string{"mean"}}, m.SetPrecision(p)
	}
	m, err := trainers.LoadModel(path)
	if err != nil {
		return nil, fmt.Errorf("--truth: %w", err)
	}
	if strings.Join(m.Names, ",") != strings.Join(names, ",") {
		return nil, fmt.Errorf("--truth: %s has the columns %s, the table %s", path, strings.Join(m.Names, ", "), strings.Join(names, ", "))
	}
	if _, ok := m.Model.(*model.Gaussian); ok && m.Domain == nil {
		return &trainers.Truth{Model: m.Model}, nil // the divergence is known exactly
	}
	sample, chains, err := m.Sample(ctx, 10000, stream.New(1, stream.Simulate, 1))
	if err != nil {
		return nil, fmt.Errorf("--truth: %s: %w", path, err)
	}
	if chains != nil && !(chains.WorstRHat() <= trainers.Unmixed) {
		return nil, fmt.Errorf("--truth: %s: its Markov chains do not meet (R-hat %.3f), so the Fisher divergence over draws of it would be wrong; compare with a precision as CSV, or leave --truth out", path, chains.WorstRHat())
	}
	return &trainers.Truth{Model: m.InUnits(), Sample: sample.Values}, nil
}

func writeHistory(w io.Writer, history []trainers.Record) error {
	c := csv.NewWriter(w)
	header := []string{"iteration", "epoch", "loss", "effective_sample_size"}
	for _, e := range history[0].Errors {
		header = append(header, e.Name)
	}
	if err := c.Write(header); err != nil {
		return err
	}
	for _, r := range history {
		record := []string{strconv.Itoa(r.Iteration), strconv.Itoa(r.Epoch), number(r.Loss), number(r.EffectiveSize)}
		for _, e := range r.Errors {
			record = append(record, number(e.Value))
		}
		if err := c.Write(record); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func (f *fitFlags) summary(w io.Writer, m model.Model, names []string, noise *noise.Schedule, r *trainers.FitResult, final trainers.Record) error {
	e := r.Estimator
	fmt.Fprintf(w, "%s model by %s, %d passes\n%s\n", f.model, e.Title, final.Epoch, r.Verdict)
	if noise != nil && noise.Single() {
		fmt.Fprintf(w, "the model is that of rows with noise of %g standard deviations added, not of the table's\n", noise.Least)
	}
	fmt.Fprintf(w, "loss %.5g", final.Loss)
	if !math.IsNaN(final.EffectiveSize) && e.Draws {
		fmt.Fprintf(w, ", effective sample size %.1f of %d draws", final.EffectiveSize, r.Config.Draws)
	}
	fmt.Fprintln(w)
	for _, v := range final.Errors {
		fmt.Fprintf(w, "  %s %.4g\n", strings.ReplaceAll(v.Name, "_", " "), v.Value)
	}
	const shown = 6
	var quantities []model.Quantity
	if described, ok := m.(model.Parametric); ok {
		quantities = described.Quantities()
	} else {
		numbers := 0
		for _, p := range m.Params() {
			numbers += len(p.Value)
		}
		fmt.Fprintf(w, "%d parameters, in the file\n", numbers)
	}
	for _, q := range quantities {
		if q.Rows > 1 && q.Rows > shown || q.Cols > 2*shown {
			fmt.Fprintf(w, "%s: %d × %d numbers, in the file\n", q.Name, q.Rows, q.Cols)
			continue
		}
		fmt.Fprintf(w, "%s:\n", q.Name)
		for i := range q.Rows {
			label := ""
			if q.Rows == len(names) {
				label = names[i]
			}
			fmt.Fprintf(w, "  %-12s", label)
			for _, v := range q.Value[i*q.Cols : (i+1)*q.Cols] {
				fmt.Fprintf(w, " %9.4g", v)
			}
			fmt.Fprintln(w)
		}
	}
	places := "model in " + f.out
	if f.history != "" {
		places += ", history in " + f.history
	}
	_, err := fmt.Fprintln(w, places)
	return err
}
