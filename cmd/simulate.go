package cmd

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/mcmc"
	"missingscore/trainers/fitted"
)

type simulation struct {
	kind          string
	n, d, centres int
	missing       float64
	truncate      string
	missingBy     string
	domain        domainFlags
	seed          uint64
	out           string
}

var simulationNames = []string{"normal", "star", "dense", "stars", "quartic", "moons", "ring", "curve", "modes"}

var simulatedFiles = []string{"complete.csv", "data.csv", "truth.csv", "truth.json", "domain.json", "missingness.json"}

func newSimulateCommand() *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "simulate " + strings.Join(simulationNames, "|"),
		Short: "Draw a table from a known distribution and hide cells of it",
		Long: `Draw a table from a known distribution and hide cells completely at random.

  normal       mean 0.5, covariance with eigenvalues from 0.5 to 1.5; the last column is half
               the first plus noise
  star         P = I + wA; one centre, joined to each other column with probability 0.9
  dense        P = I + wA; each pair joined with probability 0.5
  stars        P = I + wA; --centres centres
  quartic      log q = Σ θ_ij x_i² x_j², θ = −I and about d couplings ±0.4, by HMC
  moons, ring  two half circles, a circle; mixtures of 40 normals in 2 columns
  curve        (cos θ, sin θ, cos 2θ, sin 2θ, …); a mixture of 200 normals
  modes        a mixture of --centres normals, deviation ½, means N(0, 1)

--truncate box=0.1 keeps rows whose first three columns exceed their 10 % quantiles,
halfspace=0.2 cuts off 20 % by a random plane; --lower, --upper and --domain cut further.

Files in --out: complete.csv, data.csv (cells hidden), truth.csv (precision or coefficients),
truth.json (model), domain.json and, with --missing-by, missingness.json.`,
		Example: `  missingscore simulate star --d 20 --n 1000 --missing 0.5 --out star
  missingscore network star/data.csv --truth star/truth.csv --out star/result`,
		Args:      exactArgs(1, "one of "+strings.Join(simulationNames, ", ")),
		ValidArgs: simulationNames,
		RunE:      func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	s.domain.add(cmd)
	fl := cmd.Flags()
	fl.IntVar(&s.n, "n", 1000, "rows")
	fl.IntVar(&s.d, "d", 10, "columns")
	fl.Float64Var(&s.missing, "missing", 0.5, "`probability` that a cell is hidden (completely at random)")
	fl.StringVar(&s.missingBy, "missing-by", "", "hide cells by the missingness mechanism in this JSON `file`")
	fl.IntVar(&s.centres, "centres", 5, "centres of stars and modes")
	fl.StringVar(&s.truncate, "truncate", "", "restrict the `support`: box[=SHARE], halfspace[=SHARE] or SHARE")
	fl.Uint64Var(&s.seed, "seed", 1, "seed of the random draws")
	fl.StringVar(&s.out, "out", "simulated", "`folder` for the tables")
	return cmd
}

func (s *simulation) run(cmd *cobra.Command, kind string) error {
	s.kind = kind
	if s.missingBy != "" && !cmd.Flags().Changed("missing") {
		s.missing = 0
	}
	if err := distinctFiles(cmd, inFolder(s.out, simulatedFiles...)...); err != nil {
		return err
	}
	if err := obey(
		rule{s.n < 2, fmt.Sprintf("--n %d: at least two rows are needed", s.n)},
		rule{s.d < 2, fmt.Sprintf("--d %d: at least two columns are needed", s.d)},
		rule{s.centres < 1, fmt.Sprintf("--centres %d: at least one is needed", s.centres)},
		notShare(s.missing),
	); err != nil {
		return err
	}
	if err := checkSize("%d rows (--n) × %d columns (--d)", s.n, s.d); err != nil {
		return err
	}
	var truth *fitted.Saved
	var matrix *mat.SymDense // nil where the truth has none
	var complete, hidden *data.Table
	var chains *mcmc.Result   // nil where rows are drawn directly
	var by *missingness.Model // nil for cells hidden completely at random
	if err := abandonable(cmd.Context(), func() (err error) {
		rng := stream.New(s.seed, stream.Simulate)
		if truth, matrix, err = s.trueModel(rng); err != nil {
			return err
		}
		if complete, chains, err = truth.Sample(cmd.Context(), s.n, rng); err != nil {
			return err
		}
		hidden, by, err = s.hide(complete)
		return err
	}); err != nil {
		return err
	}
	if err := ensureDir(s.out); err != nil {
		return err
	}
	text, err := truth.Encode(nil)
	if err != nil {
		return err
	}
	names := complete.Names
	files := map[string]func(io.Writer) error{
		"complete.csv": func(w io.Writer) error { return data.EncodeCSV(w, complete) },
		"data.csv":     func(w io.Writer) error { return data.EncodeCSV(w, hidden) },
		"truth.json":   func(w io.Writer) error { _, err := w.Write(text); return err },
		"domain.json":  func(w io.Writer) error { return truth.Domain.Write(w, names) },
	}
	if matrix != nil {
		files["truth.csv"] = func(w io.Writer) error { return network.WritePrecision(w, names, matrix) }
	}
	if by != nil {
		files["missingness.json"] = func(w io.Writer) error { return by.Write(w, names) }
	}
	written := slices.Sorted(maps.Keys(files))
	write := func(set *atomicfile.Set) error {
		for _, name := range written {
			if err := set.Write(filepath.Join(s.out, name), files[name]); err != nil {
				return err
			}
		}
		set.Clear(s.out, simulatedFiles)
		return nil
	}
	if err := locked(func() error { return commit(write) }, s.out); err != nil {
		return err
	}
	others := slices.DeleteFunc(written, func(name string) bool { return name == "complete.csv" || name == "data.csv" })
	fmt.Fprintf(cmd.OutOrStdout(), "%d rows, %d columns, %d cells hidden (%.1f %%): complete.csv, data.csv, %s in %s\n",
		s.n, s.d, hidden.Missing(), 100*float64(hidden.Missing())/float64(s.n*s.d), strings.Join(others, ", "), s.out)
	return s.advise(cmd.OutOrStdout(), truth, chains)
}

// by is the mechanism, nil for MCAR.
func (s *simulation) hide(complete *data.Table) (hidden *data.Table, by *missingness.Model, err error) {
	rng := stream.New(s.seed, stream.Hide)
	if s.missingBy == "" {
		hidden, err = data.HideMCAR(complete, s.missing, rng)
		return hidden, nil, err
	}
	if by, err = missingness.Read(s.missingBy, complete.Names); err != nil {
		return nil, nil, fmt.Errorf("--missing-by: %w", err)
	}
	by = by.Elsewhere(len(complete.Names), s.missing)
	hidden, err = missingness.Hide(complete, by, rng)
	return hidden, by, err
}

func (s *simulation) advise(w io.Writer, truth *fitted.Saved, chains *mcmc.Result) error {
	if chains != nil {
		fmt.Fprintf(w, "Hamiltonian Monte Carlo: %.0f %% accepted, R-hat at most %.3f, effective sample size of the chains at least %.0f\n",
			100*chains.Accept, chains.WorstRHat(), chains.LeastSize())
		if chains.WorstRHat() > 1.1 {
			return unconverged{"NOT converged: R-hat of the Markov chains exceeds 1.1; the table is written"}
		}
	}
	at := func(name string) string { return filepath.Join(s.out, name) }
	support := ""
	if truth.Domain != nil {
		support = " --domain " + at("domain.json")
	}
	if s.missingBy != "" {
		support += " --missingness " + at("missingness.json")
	}
	next := fmt.Sprintf("network %s%s --truth %s --out %s", at("data.csv"), support, at("truth.csv"), at("result"))
	switch truth.Kind {
	case "mixture":
		next = fmt.Sprintf("fit %s --model energy --truth %s --out %s", at("data.csv"), at("truth.json"), at("model.json"))
	case "quartic":
		next = fmt.Sprintf("fit %s --model quartic%s --truth %s --out %s", at("data.csv"), support, at("truth.json"), at("model.json"))
	}
	fmt.Fprintf(w, "next: missingscore %s\n", next)
	return nil
}

func (s *simulation) trueModel(rng *rand.Rand) (*fitted.Saved, *mat.SymDense, error) {
	switch s.kind {
	case "moons":
		return s.mixture(simulate.Moons())
	case "ring":
		return s.mixture(simulate.Ring())
	case "curve":
		return s.mixture(simulate.Curve(s.d))
	case "modes":
		return s.mixture(simulate.Modes(s.d, s.centres, rng))
	}
	names := columnNames(s.d)
	cut, err := s.domain.read(names)
	if err != nil {
		return nil, nil, err
	}
	var g simulate.Gaussian
	switch s.kind {
	case "normal":
		g, err = simulate.Normal(s.d, rng)
	case "star":
		g, err = simulate.Star(s.d, rng)
	case "dense":
		g, err = simulate.Dense(s.d, rng)
	case "stars":
		g, err = simulate.Stars(s.d, s.centres, rng)
	case "quartic":
		if s.truncate != "" {
			return nil, nil, usageError{fmt.Errorf("--truncate %s: not for the quartic model; use --lower, --upper or --domain", s.truncate)}
		}
		theta, err := simulate.Quartic(s.d, rng)
		if err != nil {
			return nil, nil, err
		}
		q := model.NewQuartic(s.d)
		return &fitted.Saved{Kind: "quartic", Model: q, Names: names, Domain: cut}, theta, q.SetTheta(theta)
	default:
		err = usageError{fmt.Errorf("there is no simulation %q; they are %s", s.kind, strings.Join(simulationNames, ", "))}
	}
	if err != nil {
		return nil, nil, err
	}
	support, err := s.truncated(g)
	if err != nil {
		return nil, nil, err
	}
	m := model.NewGaussian(s.d, model.CholeskyFactor)
	if err := m.SetPrecision(g.Precision); err != nil {
		return nil, nil, err
	}
	m.SetMean(g.Mean)
	support = support.Intersect(cut)
	return &fitted.Saved{Kind: "gaussian", Model: m, Names: names, Domain: support}, g.Precision, support.Check(names)
}

func columnNames(d int) []string {
	names := make([]string, d)
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j+1)
	}
	return names
}

func (s *simulation) mixture(truth simulate.Mixture) (*fitted.Saved, *mat.SymDense, error) {
	if s.truncate != "" || s.domain.lower != nil || s.domain.upper != nil || s.domain.file != "" {
		return nil, nil, usageError{fmt.Errorf("%s has no support: leave --truncate, --lower, --upper and --domain out", s.kind)}
	}
	s.d = len(truth.Means[0])
	return &fitted.Saved{Kind: "mixture", Model: model.NewMixture(truth), Names: columnNames(s.d)}, nil, nil
}

// truncated is nil without --truncate.
func (s *simulation) truncated(g simulate.Gaussian) (*domain.Domain, error) {
	if s.truncate == "" {
		return nil, nil
	}
	kind, text, given := strings.Cut(s.truncate, "=")
	share, err := map[string]float64{"box": 0.1, "halfspace": 0.2}[kind], error(nil)
	if bare, wrong := strconv.ParseFloat(kind, 64); wrong == nil && !given {
		kind, share = "halfspace", bare
		if s.kind == "normal" {
			kind = "box"
		}
	} else if given {
		share, err = strconv.ParseFloat(text, 64)
	}
	if err != nil || kind != "box" && kind != "halfspace" || !(share > 0 && share < 1) {
		return nil, usageError{fmt.Errorf("--truncate %s: box, box=SHARE, halfspace, halfspace=SHARE or a SHARE between 0 and 1 is expected", s.truncate)}
	}
	if kind == "box" {
		return g.TruncateBelow(3, share)
	}
	return g.TruncateAcross(share, stream.New(s.seed, stream.Simulate, 1))
}
