package cmd

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/graph/model"
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
	f.addFormat(cmd)
}

// addFormat is add for commands whose model says which columns they use.
func (f *tableFlags) addFormat(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.na, "na", data.DefaultNA, "marks of a missing cell; an empty cell always is one")
	cmd.Flags().StringVar(&f.sep, "sep", ",", `separator of the cells: one character, or "tab"`)
}

func (f *tableFlags) options() (data.ReadOptions, error) {
	if f.columns != nil && len(f.columns) == 0 {
		return data.ReadOptions{}, usageError{fmt.Errorf("--columns is empty: names as a,b,c are expected")}
	}
	sep := []rune(f.sep)
	if f.sep == "tab" || f.sep == `\t` {
		sep = []rune{'\t'}
	}
	if len(sep) != 1 || strings.ContainsRune("\"\r\n\uFFFD", sep[0]) {
		return data.ReadOptions{}, usageError{fmt.Errorf("--sep %q: one character is expected, not a quote or line end, or tab", f.sep)}
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
	trainingFlags
	out, selection, truth string
	gamma                 float64
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
the mean is estimated along with the precision; so it is with --missingness, which
says what is known of cells missing not at random.

It writes to --out: edges.csv, precision.csv, path.csv, model.json,
network.graphml, network.dot, network.json, network.svg/png, path.svg/png, report.html.

Methods:
` + methodList(),
		Example: `  missingscore network examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --method var --out air`,
		Args:    exactArgs(1, "one table"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	c := &f.config
	f.trainingFlags.add(cmd, &c.Config)
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "network", "folder for the results")
	fl.StringVar(&c.Method, "method", "auto", "auto (exact; with logistic --missingness variw; full if nothing is missing) or one of the methods above")
	fl.StringVar(&f.table.prices, "prices", "", "read a long table of prices with these columns (date,name,price) and use daily log returns")
	fl.Float64Var(&c.LambdaMax, "lambda-max", 0, "largest λ of the path (default: from the data, where the network is empty)")
	fl.Float64Var(&c.LambdaMin, "lambda-min", 0, "smallest λ of the path (default: the largest over 200)")
	fl.IntVar(&c.Lambdas, "lambdas", 100, "number of λ")
	fl.StringVar(&f.selection, "select", "ebic", "how λ is chosen: ebic, cv[=FOLDS] (loss of rows held out), stars[=BETA] (stability under subsampling), density=F (share of edges) or none (the smallest)")
	fl.Float64Var(&f.gamma, "gamma", trainers.DefaultGamma, "γ of ebic, from 0 (BIC, keeps more edges) to 1")
	fl.Float64Var(&c.Threshold, "threshold", 0.002, "an edge is a standardised |P_jk| above this")
	fl.Float64Var(&c.Tolerance, "tolerance", 0.003, "converged when the standardised precision moves by less than this per 50 iterations")
	fl.StringVar(&f.truth, "truth", "", "CSV with the true precision: adds TPR, FPR and AUC")
	fl.IntVar(&c.Workers, "workers", runtime.NumCPU(), "parallel parts of a step; results do not depend on it")
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
	} else if cmd.Flags().Changed("gamma") {
		return usageError{fmt.Errorf("--gamma is of --select ebic, and λ is chosen by %s; leave one of them out", c.Select.Kind)}
	}
	if err := f.parse(&c.Config); err != nil {
		return err
	}
	if err := apart(cmd, inFolder(f.out, append(networkFiles, stateFile)...)...); err != nil {
		return err
	}
	table, err := f.table.read(path, c.Seed)
	if err != nil {
		return err
	}
	if table.D < 2 {
		return fmt.Errorf("%s: one column (%s) makes no network; at least two are needed", path, table.Names[0])
	}
	if err := fits(size{table.N, "rows"}, size{table.D, "columns"}, size{c.Draws, "draws (--draws)"}); err != nil {
		return err
	}
	if err := fits(size{c.Lambdas, "λ (--lambdas)"}, size{table.D, "columns"}, size{table.D, "columns"}); err != nil {
		return err
	}
	if c.Domain, c.Weight, err = f.domain.around(table, path); err != nil {
		return err
	}
	known, cut, err := f.known.read(table, c.Domain, path)
	if err != nil {
		return err
	}
	if c.Known = known; c.Method == "auto" {
		c.Method = trainers.AutoMethod(table, known)
	}
	e, err := trainers.EstimatorFor(c.Method, losses.ObjectiveFor(cut, c.Weight))
	if err != nil {
		return err
	}
	if err := unused(cmd, f.config.Method, e, model.NewGaussian(table.D, model.FreeSymmetric), cut); err != nil {
		return err
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
	stderr := cmd.ErrOrStderr()
	blas, err := f.announce(stderr, path, table)
	if err != nil {
		return err
	}
	if c.Domain != nil {
		fmt.Fprintln(stderr, "the normal distribution is restricted to its support: precision and mean are those before the restriction, the objective is weighted by the distance to the boundary")
	}
	if table.Dropped > 0 {
		fmt.Fprintf(stderr, "%d rows without any value are left out\n", table.Dropped)
	}

	saved := filepath.Join(f.out, stateFile)
	state, err := f.state(saved, stderr)
	if err != nil {
		return err
	}
	bar := newProgress(stderr, f.verbose)
	c.Observe = bar.observe
	result, err := trainers.EstimateNetwork(cmd.Context(), table, c, state, checkpoint(cmd.Context(), saved))
	bar.finish()
	if err != nil {
		return explain(err, path, saved, "no result is written. Try another --method, a larger --lambda-min, or look for outliers in the table")
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
	if err := finish(saved, result.Warnings, stderr); err != nil {
		return err
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
