package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
)

// tableFlags say how the table is read.
type tableFlags struct {
	columns, na []string
	sep, prices string
	hide        float64
}

func (f *tableFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "columns to use, as a,b,c (default: all)")
	cmd.Flags().StringSliceVar(&f.na, "na", data.DefaultNA, "marks of a missing cell; an empty cell always is one")
	cmd.Flags().StringVar(&f.sep, "sep", ",", `separator of the cells: one character, or "tab"`)
}

func (f *tableFlags) options() (data.ReadOptions, error) {
	sep := []rune(f.sep)
	if f.sep == "tab" || f.sep == `\t` {
		sep = []rune{'\t'}
	}
	if len(sep) != 1 {
		return data.ReadOptions{}, usageError{fmt.Errorf("--sep %q: one character is expected, or tab", f.sep)}
	}
	return data.ReadOptions{NA: f.na, Columns: f.columns, Comma: sep[0]}, nil
}

// read gives the table; seed is for --hide.
func (f *tableFlags) read(path string, seed uint64) (*data.Table, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	var t *data.Table
	if f.prices != "" {
		names := strings.Split(f.prices, ",")
		if len(names) != 3 {
			return nil, usageError{fmt.Errorf("--prices %q: three column names are expected, as date,name,price", f.prices)}
		}
		t, err = data.ReadPrices(path, data.PriceColumns{Date: names[0], Name: names[1], Price: names[2]}, o)
	} else {
		t, err = data.ReadCSV(path, o)
	}
	if err != nil || f.hide == 0 {
		return t, err
	}
	if !(f.hide > 0 && f.hide < 1) {
		return nil, usageError{fmt.Errorf("--hide %v: a share of cells from 0 to less than 1 is expected", f.hide)}
	}
	return data.HideMCAR(t, f.hide, stream.New(seed, stream.Hide))
}

// networkFlags are the network command's.
type networkFlags struct {
	table                 tableFlags
	domain                domainFlags
	out, selection, truth string
	imputerLoss           string
	gamma                 float64
	json, resume, verbose bool
	config                trainers.NetworkConfig
}

const stateFile = "state.bin"

func newNetworkCommand() *cobra.Command {
	var f networkFlags
	cmd := &cobra.Command{
		Use:   "network TABLE.csv",
		Short: "Estimate a Gaussian graphical model from a table with missing cells",
		Long: `Estimate a Gaussian graphical model (a network of partial correlations) from a
table with missing cells: an L1 path by score matching, one λ chosen from it,
then iterations at that λ until the precision stands still. Columns are
standardised over their observed cells; results are in the table's own units.

With --lower, --upper or --domain the columns are a normal distribution restricted
to that support: the objective is weighted by g, imputed cells stay inside, and
the mean is estimated along with the precision.

It writes to --out: edges.csv, precision.csv, path.csv, model.json,
network.graphml, network.dot, network.json, network.svg/png, path.svg/png, report.html.

Methods:
` + methodList(),
		Example: `  missingscore network examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --method var --out air`,
		Args:    exactArgs(1, "one table"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.table.add(cmd)
	f.domain.add(cmd)
	f.domain.addWeight(cmd)
	c := &f.config
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "network", "folder for the results")
	fl.StringVar(&c.Method, "method", "auto", "auto (exact, or full if nothing is missing) or one of the methods above")
	fl.StringVar(&f.table.prices, "prices", "", "read a long table of prices with these columns (date,name,price) and use daily log returns")
	fl.Float64Var(&f.table.hide, "hide", 0, "hide this share of the observed cells at random first (to try methods out)")
	fl.Float64Var(&c.LambdaMax, "lambda-max", 0, "largest λ of the path (default: from the data, where the network is empty)")
	fl.Float64Var(&c.LambdaMin, "lambda-min", 0, "smallest λ of the path (default: the largest over 200)")
	fl.IntVar(&c.Lambdas, "lambdas", 100, "number of λ")
	fl.StringVar(&f.selection, "select", "ebic", "how λ is chosen: ebic, cv[=FOLDS] (loss of rows held out), stars[=BETA] (stability under subsampling), density=F (share of edges) or none (the smallest)")
	fl.Float64Var(&f.gamma, "gamma", trainers.DefaultGamma, "γ of ebic, from 0 (BIC, keeps more edges) to 1")
	fl.Float64Var(&c.Threshold, "threshold", 0.002, "an edge is a standardised |P_jk| above this")
	fl.Float64Var(&c.Tolerance, "tolerance", 0.003, "converged when the standardised precision moves by less than this per 50 iterations")
	fl.StringVar(&f.truth, "truth", "", "CSV with the true precision: adds TPR, FPR and AUC")
	fl.Uint64Var(&c.Seed, "seed", 1, "seed of all random draws")
	fl.IntVar(&c.Workers, "workers", runtime.NumCPU(), "parallel parts of a step; results do not depend on it")
	fl.IntVar(&c.Draws, "draws", 10, "imputations per row and step (r)")
	fl.IntVar(&c.ImputerSteps, "imputer-steps", 10, "imputer steps per parameter step (L)")
	fl.TextVar(&c.DType, "dtype", graph.Float64, "numbers of the expression graphs: float64 or float32 (faster; parameters stay float64)")
	fl.StringVar(&f.imputerLoss, "imputer-loss", "kl", "what trains the imputer: kl or fisher")
	fl.BoolVar(&c.Imputer.MaskInput, "mask-input", false, "give the imputer the mask too")
	fl.BoolVar(&c.Imputer.DiagonalSD, "diagonal-sd", false, "one imputer deviation per column instead of one in all")
	fl.Float64Var(&c.ProposalSD, "proposal-sd", 1, "deviation of the fixed proposal, in standard deviations (the paper: 4)")
	fl.StringVar(&c.Correction, "correction", "", "averages over draws: plugin or loo (default: the method's own)")
	fl.BoolVar(&f.json, "json", false, "print one JSON object on stdout")
	fl.BoolVar(&f.resume, "resume", false, "go on where an interrupted run into the same --out was cut")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "say which matrix library is used, and more of the progress")
	return cmd
}

func methodList() string {
	var b strings.Builder
	for _, e := range trainers.Estimators {
		fmt.Fprintf(&b, "  %-9s %s\n", e.Name, e.Note)
	}
	return b.String()
}

func (f *networkFlags) run(cmd *cobra.Command, path string) error {
	start := time.Now()
	c := f.config
	if err := positive(cmd, "lambda-max", "lambda-min", "lambdas", "threshold", "tolerance", "workers", "draws", "imputer-steps", "proposal-sd"); err != nil {
		return err
	}
	var err error
	if c.Select, err = trainers.ParseSelection(f.selection); err != nil {
		return usageError{fmt.Errorf("--select: %w", err)}
	}
	if c.Select.Kind == "ebic" {
		if c.Select.Gamma = f.gamma; f.gamma < 0 {
			return usageError{fmt.Errorf("--gamma %v: it must not be negative", f.gamma)}
		}
	}
	if c.ImputerLoss, err = losses.ParseImputerLoss(f.imputerLoss); err != nil {
		return usageError{fmt.Errorf("--imputer-loss: %w", err)}
	}
	if c.Method != "auto" {
		if _, err := trainers.EstimatorByName(c.Method); err != nil {
			return usageError{fmt.Errorf("--method: %w", err)}
		}
	}
	table, err := f.table.read(path, c.Seed)
	if err != nil {
		return err
	}
	if table.D < 2 {
		return fmt.Errorf("%s: one column (%s) makes no network; at least two are needed", path, table.Names[0])
	}
	if c.Domain, c.Weight, err = f.domain.read(table.Names); err != nil {
		return err
	}
	if c.Domain != nil {
		if err := table.Inside(c.Domain); err != nil {
			return atLine(err, path)
		}
	}
	var truth *mat.SymDense
	if f.truth != "" {
		if truth, err = network.ReadPrecision(f.truth, table.Names); err != nil {
			return fmt.Errorf("--truth: %w", err)
		}
	}
	if err := ensureDir(f.out); err != nil {
		return err
	}
	blas, err := graph.BLAS()
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	if f.verbose {
		fmt.Fprintf(stderr, "matrix products by %s\n", blas)
	}
	fmt.Fprintf(stderr, "%s: %d rows, %d columns, %d cells missing (%.1f %%)\n", path, table.N, table.D, table.Missing(),
		100*float64(table.Missing())/float64(table.N*table.D))
	if c.Domain != nil {
		fmt.Fprintln(stderr, "the normal distribution is restricted to its support: precision and mean are those before the restriction, the objective is weighted by the distance to the boundary")
	}
	if table.Dropped > 0 {
		fmt.Fprintf(stderr, "%d rows without any value are left out\n", table.Dropped)
	}

	state, saved := &trainers.State{}, filepath.Join(f.out, stateFile)
	if f.resume {
		if state, err = resumed(saved, stderr); err != nil {
			return err
		}
	}
	bar := newProgress(stderr, f.verbose)
	c.Observe = bar.observe
	last := time.Now()
	ctx := cmd.Context()
	result, err := trainers.EstimateNetwork(ctx, table, c, state, func(s *trainers.State) error {
		if ctx.Err() == nil && time.Since(last) < time.Second {
			return nil
		}
		last = time.Now()
		return s.Save(saved)
	})
	bar.finish()
	if err != nil {
		return f.explain(err, path, saved)
	}
	var rates []network.Rate
	auc := (*float64)(nil)
	if truth != nil {
		if rates, err = result.Rates(network.Threshold(truth, 1e-12)); err != nil {
			return fmt.Errorf("--truth: %w", err)
		}
		v := network.AUC(rates)
		auc = &v
	}
	if err := writeNetwork(f.out, path, table, result, rates); err != nil {
		return err
	}
	if err := os.Remove(saved); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, w := range result.Warnings {
		fmt.Fprintf(stderr, "warning: %s\n", w)
	}
	if f.json {
		warnings := append([]string{}, result.Warnings...) // [] rather than null
		err = printJSON(cmd.OutOrStdout(), networkJSON{
			Method: result.Config.Method, Edges: len(result.Network.Edges), Lambda: result.Lambda, Converged: result.Converged,
			Verdict: result.Verdict, Loss: result.Loss, Seconds: time.Since(start).Seconds(), AUC: auc, Warnings: warnings, BLAS: blas,
		})
	} else {
		err = f.summary(cmd.OutOrStdout(), result, auc)
	}
	if err == nil && !result.Converged {
		err = unconverged{result.Verdict}
	}
	return err
}

// networkJSON is what --json prints.
type networkJSON struct {
	Method    string   `json:"method"`
	Edges     int      `json:"edges"`
	Lambda    float64  `json:"lambda"`
	Converged bool     `json:"converged"`
	Verdict   string   `json:"verdict"`
	Loss      float64  `json:"loss"`
	Seconds   float64  `json:"seconds"`
	AUC       *float64 `json:"auc,omitempty"`
	Warnings  []string `json:"warnings"`
	BLAS      string   `json:"blas"`
}

// explain says what to do after a run that gave no result.
func (f *networkFlags) explain(err error, path, saved string) error {
	var diverged *trainers.DivergedError
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("the state is saved in %s; go on with the same command and --resume (%w)", saved, context.Canceled)
	case errors.As(err, &diverged):
		return fmt.Errorf("%s: %w; no result is written. Try another --method, a larger --lambda-min, or look for outliers in the table", path, err)
	case errors.Is(err, trainers.ErrOtherRun):
		return usageError{fmt.Errorf("--resume: %s: %w", saved, err)}
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (f *networkFlags) summary(w io.Writer, r *trainers.NetworkResult, auc *float64) error {
	pairs := len(r.Names) * (len(r.Names) - 1) / 2
	fmt.Fprintf(w, "%s: %d of %d edges at λ = %.4g\n%s\n", r.Estimator.Title, len(r.Network.Edges), pairs, r.Lambda, r.Verdict)
	if auc != nil {
		fmt.Fprintf(w, "AUC over the path: %.4f\n", *auc)
	}
	const shown = 10
	for i, edge := range r.Network.Edges {
		if i == shown {
			fmt.Fprintf(w, "  … and %d more\n", len(r.Network.Edges)-shown)
			break
		}
		fmt.Fprintf(w, "  %s — %s  partial correlation %+.3f\n", edge.From, edge.To, edge.PartialCorrelation)
	}
	_, err := fmt.Fprintf(w, "results in %s; open %s\n", f.out, filepath.Join(f.out, "report.html"))
	return err
}

func number(x float64) string {
	if x != x {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
