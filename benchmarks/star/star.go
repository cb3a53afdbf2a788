// Package star is the paper's edge recovery on simulated networks (section "Gaussian
// Graphical Model Estimation"): stars, dense networks and several stars, the rows on
// one side of a random plane, and the AUC of the L1 path.
//
// The experiment as the paper describes it violates an assumption of its own lemma:
// where a half-space cuts missing cells their range moves with the observed ones, and
// the expected score is not the marginal score (domain.Tangent). So it is run twice: treatment "paper" has one g a row and no
// correction, "honoured" has g by coordinate and the tangential correction. A third,
// "ignored", takes the support for all of R^d.
package star

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/marginal"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/network"
	"missingscore/internal/picture"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

var (
	//go:embed star-missing.json
	starMissing []byte
	//go:embed dense-missing.json
	denseMissing []byte
	//go:embed star-centres.json
	starCentres []byte
	//go:embed star-dim.json
	starDim []byte
	//go:embed star-roc.json
	starROC []byte
)

// others are the paper's rivals of Marg-Var.
var others = []string{"iw", "em", "zeroed"}

// AUC of the L1 path, of all treatments together.
func AUC(along string) claims.Measure {
	return claims.Measure{Column: "auc", Name: "AUC", Along: along}
}

// Tested are the treatments that claims are tested with, and what each adds to a claim's
// ID and words.
var Tested = []struct{ Treatment, ID, Words string }{
	{"paper", "", ""},
	{"honoured", "-honoured", " [with the support honoured]"},
}

// twice is a claim tested with both.
func twice(id, quote, where string, m claims.Measure, test func(claims.Measure) claims.Test) (both []claims.Claim) {
	for _, t := range Tested {
		both = append(both, claims.Claim{ID: id + t.ID, Quote: quote + t.Words, Where: where, Test: test(m.With("treatment", t.Treatment))})
	}
	return both
}

func varBest(m claims.Measure) claims.Test {
	return claims.Best(m, []string{"var"}, others, false)
}

// Missing varies the missing probability on one star.
var Missing = harness.Experiment{
	Name: "star-missing", Title: "Star, truncated: missing probability",
	Source:   "section “Star Shaped Truncated Graphical Model” (figure ggm_starprec_varymiss)",
	Settings: starMissing, Grid: grid, Figures: lines,
	Claims: slices.Concat(
		twice("star-missing-var-best", "As we can see here Marg-Var performs best …", "Star Shaped Truncated Graphical Model", AUC("missing"), varBest),
		twice("star-missing-others-comparable", "… with all other approaches performing comparably.", "Star Shaped Truncated Graphical Model", AUC("missing"),
			func(m claims.Measure) claims.Test { return claims.Comparable(m, others...) }),
	),
}

// Dense varies it on networks without structure.
var Dense = harness.Experiment{
	Name: "dense-missing", Title: "Dense network, truncated: missing probability",
	Source:   "section “Unstructured Dense Graphical Model” (figure ggm_one_varymiss)",
	Settings: denseMissing, Grid: grid, Figures: lines,
	Claims: twice("dense-missing-var-best", "Again we can see that our variational approach performs best …", "Unstructured Dense Graphical Model", AUC("missing"), varBest),
}

// Centres varies the number of star centres, the expected number of edges kept.
var Centres = harness.Experiment{
	Name: "star-centres", Title: "Increasing number of stars",
	Source:   "section “Increasing Number of Stars” (figure GGM_vary_centres), appendix “Varying Number of Star Centres” (figures star_marginalisation, 5star_marginalisation)",
	Settings: starCentres, Grid: grid, Figures: centreFigures,
	Claims: append(
		twice("star-centres-lead-shrinks", "As we increase the number of star centres, Marg-Var no longer noticeably outperforms the other approaches. [tested: its lead shrinks, and at the most centres it is below the margin over one of them]", "Increasing Number of Stars", AUC("centres"),
			func(m claims.Measure) claims.Test {
				return claims.All(m, func(m claims.Measure) claims.Test {
					return claims.Trend(m, "var", others, claims.Axis{Of: func(k float64) float64 { return k }, Unit: "per centre"}, -1)
				}, func(m claims.Measure) claims.Test {
					return claims.AtLargest(m, func(m claims.Measure) claims.Test { return claims.NoLead(m, "var", others) })
				})
			}),
		claims.Claim{
			ID: "star-centres-naive", Quote: "… in the 5 centre case, the naive marginalisation picks up most of the structure as there are fewer negative terms which it ignores and also lots of additional positive terms which it does successfully pick up.", Where: "Varying Number of Star Centres",
			Test: claims.Between(
				claims.Fact{Column: "naive_misses", Where: map[string]string{"centres": "1"}}, claims.Fact{Column: "naive_misses", Where: map[string]string{"centres": "5"}},
				"share of the true marginal precision that the naive one misses, 1 centre − 5 centres"),
		}),
}

// Dim varies the number of columns of a star.
var Dim = harness.Experiment{
	Name: "star-dim", Title: "Star, truncated: number of columns",
	Source:   "appendix “Varying Number of Dimensions” (figure GGM_vary_dim)",
	Settings: starDim, Grid: grid, Figures: lines,
	Claims: slices.Concat(
		twice("star-dim-high", "As we can see, for higher dimensions the variational approach clearly performs best …", "Varying Number of Dimensions", AUC("columns"),
			func(m claims.Measure) claims.Test { return claims.AtLargest(m, varBest) }),
		twice("star-dim-low", "… however at lower dimensions the other approach catch up and even overtake it. [tested: its lead grows with the columns, and at the fewest each of the others is ahead]", "Varying Number of Dimensions", AUC("columns"),
			func(m claims.Measure) claims.Test {
				return claims.All(m, func(m claims.Measure) claims.Test {
					return claims.Trend(m, "var", others, claims.Axis{Of: math.Log2, Unit: "per doubling of the columns"}, 1)
				}, func(m claims.Measure) claims.Test {
					return claims.AtSmallest(m, func(m claims.Measure) claims.Test {
						return claims.Best(m, others, []string{"var"}, false)
					})
				})
			}),
	),
}

// ROC draws the curves of the first runs.
var ROC = harness.Experiment{
	Name: "star-roc", Title: "Star, truncated: individual ROC curves",
	Source:   "appendix “Individual ROC Curves” (figure GGM_starprec_ROC)",
	Settings: starROC, Grid: grid, Figures: panels,
	Claims: twice("star-roc-var-best", "We observe that Marg-Var has consistently the best ROC curves of any of the methods.", "Individual ROC Curves", AUC(""), varBest),
}

// settings of an experiment; see the JSON files. The one list of several is what varies.
type settings struct {
	Replicates int                 `json:"replicates"`
	Graph      string              `json:"graph"` // star or dense
	Columns    []int               `json:"columns"`
	Rows       int                 `json:"rows"`
	Missing    []float64           `json:"missing"`
	Centres    []int               `json:"centres"` // of a star
	Outside    float64             `json:"outside"` // share of the distribution beyond the plane
	Treatments []treatment         `json:"treatments"`
	Rates      bool                `json:"rates"` // keep the ROC curves
	Fit        trainers.PathConfig `json:"fit"`   // what the methods have in common
	Methods    []json.RawMessage   `json:"methods"`
	Likelihood *emglasso.Options   `json:"likelihood"` // of the peer "glasso", which ignores the truncation; null: without it
	Ours       []string            `json:"ours"`
	variants   []harness.Variant
}

// treatment of the support.
type treatment struct {
	Name   string        `json:"name"`
	Ignore bool          `json:"ignore"`
	Weight domain.Weight `json:"weight"`
}

// along is the key column that varies.
func (s settings) along() string {
	switch {
	case len(s.Columns) > 1:
		return "columns"
	case len(s.Centres) > 1:
		return "centres"
	}
	return "missing"
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	if s.Graph != "star" && s.Graph != "dense" {
		return s, fmt.Errorf("settings: graph %q: it is star or dense", s.Graph)
	}
	if s.variants, err = harness.Variants(s.Fit.Config, s.Methods); err == nil {
		err = cmp.Or(harness.AtLeast(3, "columns", s.Columns...), harness.AtLeast(2, "rows", s.Rows), harness.AtLeast(1, "centres", s.Centres...),
			harness.Shares("missing", s.Missing...), harness.Shares("outside", s.Outside))
	}
	if err == nil && s.Likelihood != nil {
		if err = s.Likelihood.Check(); err != nil {
			err = fmt.Errorf("settings: %w", err)
		}
	}
	return s, err
}

// peer is penalised likelihood, beside the methods of score matching.
const peer = "glasso"

// names are those of all methods.
func (s settings) names() []string {
	names := harness.Names(s.variants)
	if s.Likelihood != nil {
		names = append(names, peer)
	}
	return names
}

// config is a method's; the peer has none.
func (s settings) config(name string) trainers.Config {
	for _, v := range s.variants {
		if v.Name == name {
			return v.Config
		}
	}
	return trainers.Config{Method: name}
}

// setting is one of the grid.
type setting struct {
	treatment treatment
	columns   int
	missing   float64
	centres   int
}

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{"treatment", "columns", "missing", "centres", "replicate", "method"},
		Value: []string{"auc", "diverged", "naive_misses", "first_edges", "last_edges", "lifts", "effective_size"},
	}
	if s.Rates {
		g.Value = append(g.Value, "rates")
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, t := range s.Treatments {
			for _, d := range s.Columns {
				for _, k := range s.Centres {
					for _, p := range s.Missing {
						at := setting{t, d, p, k}
						for _, name := range s.names() {
							g.Cells = append(g.Cells, cells.Cell{
								Key: []string{t.Name, strconv.Itoa(d), strconv.FormatFloat(p, 'g', -1, 64), strconv.Itoa(k), strconv.Itoa(replicate), name},
								Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, at, s.config(name), uint64(replicate)) },
							})
						}
					}
				}
			}
		}
	}
	return g, nil
}

// truth is the network of d nodes.
func (s settings) truth(d, centres int, rng *rand.Rand) (data.Gaussian, error) {
	if s.Graph == "dense" {
		return data.SimulateDense(d, rng)
	}
	return data.SimulateStars(d, centres, rng)
}

// simulate makes a replicate's network, the side of a plane that its rows lie on, and
// the complete rows.
func (s settings) simulate(at setting, seed uint64) (truth data.Gaussian, support *domain.Domain, table *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	if truth, err = s.truth(at.columns, at.centres, rng); err != nil {
		return truth, nil, nil, err
	}
	if support, err = truth.TruncateAcross(s.Outside, stream.New(seed, stream.Simulate, 1)); err != nil {
		return truth, nil, nil, err
	}
	table, err = truth.SampleInside(support, s.Rows, rng)
	return truth, support, table, err
}

// hide hides the cells of a replicate.
func hide(table *data.Table, at setting, seed uint64) (*data.Table, error) {
	return data.HideMCAR(table, at.missing, stream.New(seed, stream.Hide))
}

func (s settings) run(ctx context.Context, at setting, c trainers.Config, seed uint64) ([]string, error) {
	truth, support, table, err := s.simulate(at, seed)
	if err != nil {
		return nil, err
	}
	if c.Method != "full" {
		if table, err = hide(table, at, seed); err != nil {
			return nil, err
		}
	}
	var values []string
	var rates string
	diverged := false
	if c.Method == peer {
		values, rates, err = s.likelihood(ctx, table, truth)
	} else {
		values, rates, diverged, err = s.scoreMatching(ctx, at.treatment, c, table, truth, support, seed)
	}
	if err != nil {
		return nil, err
	}
	values = slices.Insert(values, 1, strconv.FormatBool(diverged), fmt.Sprintf("%.5f", missed(truth.Precision)))
	if s.Rates {
		values = append(values, rates)
	}
	return values, nil
}

// likelihood is the peer's path, on standardised columns.
func (s settings) likelihood(ctx context.Context, table *data.Table, truth data.Gaussian) ([]string, string, error) {
	standard, _ := data.Standardise(table)
	path, err := emglasso.Path(ctx, standard, *s.Likelihood)
	if err != nil {
		return nil, "", err
	}
	var found []network.Adjacency
	for _, g := range path {
		found = append(found, network.Threshold(g.Precision, s.Fit.Threshold))
	}
	values, rates, err := recovery(found, truth)
	return append(values, "0", "-"), rates, err
}

// scoreMatching is a method's path; one that runs away before its end has no AUC.
func (s settings) scoreMatching(ctx context.Context, t treatment, c trainers.Config, table *data.Table, truth data.Gaussian, support *domain.Domain, seed uint64) (values []string, rates string, diverged bool, err error) {
	path, err := s.path(ctx, t, c, table, support, seed)
	var ranAway *trainers.DivergedError
	if diverged = errors.As(err, &ranAway); err != nil && !diverged {
		return nil, "", false, err
	}
	if diverged || len(path.Points) < path.Config.Lambdas {
		return []string{"-", "-", "-", "-", "-"}, "-", diverged, nil
	}
	lifts := 0
	for _, p := range path.Points {
		lifts += p.Lifts
	}
	values, rates, err = recovery(path.Adjacencies(), truth)
	return append(values, strconv.Itoa(lifts), fmt.Sprintf("%.2f", path.Points[len(path.Points)/2].EffectiveSize)), rates, diverged, err
}

// path is a method's.
func (s settings) path(ctx context.Context, t treatment, c trainers.Config, table *data.Table, support *domain.Domain, seed uint64) (*trainers.NetworkResult, error) {
	config := trainers.NetworkConfig{
		PathConfig: s.Fit, Select: trainers.Selection{Kind: "none"}, PathOnly: true, // the AUC is of the path
	}
	config.Config, config.Seed, config.Weight = c, seed, t.Weight
	if !t.Ignore {
		config.Domain = support
	}
	return trainers.EstimateNetwork(ctx, table, config, &trainers.State{}, nil)
}

// recovery tells the AUC of the networks along a path, the edges of the first and the
// last, and the ROC curve.
func recovery(found []network.Adjacency, truth data.Gaussian) (values []string, rates string, err error) {
	want := network.Threshold(truth.Precision, 1e-12)
	var curve []network.Rate
	var pairs []string
	for _, a := range found {
		r, err := network.Compare(want, a)
		if err != nil {
			return nil, "", err
		}
		curve = append(curve, r)
		pairs = append(pairs, fmt.Sprintf("%.4f:%.4f", r.FPR, r.TPR))
	}
	return []string{
		fmt.Sprintf("%.6f", network.AUC(curve)), strconv.Itoa(found[0].Count()), strconv.Itoa(found[len(found)-1].Count()),
	}, strings.Join(slices.Compact(pairs), " "), nil
}

// missed is the share of the true marginal precision without node 1, off the
// diagonal, that the naive one misses: Frobenius norms. It is 0 where there is nothing to miss.
func missed(precision mat.Symmetric) float64 {
	naive, marginal := marginal.WithoutFirst(precision)
	var gap, all float64
	for k := range naive.SymmetricDim() {
		for j := range k {
			gap += math.Pow(naive.At(j, k)-marginal.At(j, k), 2)
			all += math.Pow(marginal.At(j, k), 2)
		}
	}
	if all == 0 {
		return 0
	}
	return math.Sqrt(gap / all)
}

var treatmentTitle = map[string]string{"paper": "as the paper", "honoured": "support honoured", "ignored": "truncation ignored"}

// lines are the AUC against what varies, for each treatment.
func lines(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	word := map[string]string{"columns": "columns", "centres": "star centres", "missing": "missing probability"}[s.along()]
	var out []figures.Figure
	for _, t := range s.Treatments {
		at, series, err := figures.Along(r, AUC(s.along()).With("treatment", t.Name), s.names())
		if err != nil {
			return nil, err
		}
		p, err := figures.Bands("Edge recovery, "+treatmentTitle[t.Name], word, "AUC", at, series)
		if err != nil {
			return nil, err
		}
		out = append(out, figures.Figure{Name: "auc-" + t.Name, Plot: p, Width: 16, Height: 11,
			Caption: fmt.Sprintf("AUC of the L1 path against the %s, %s: mean and 95 %% interval of the replicates, %d rows, %g of the distribution beyond the plane.",
				word, treatmentTitle[t.Name], s.Rows, s.Outside)})
	}
	return out, nil
}

// centreFigures adds the heat maps of one star and of five.
func centreFigures(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	out, err := lines(text, r)
	if err != nil {
		return nil, err
	}
	for _, k := range []int{1, 5} {
		truth, err := s.truth(s.Columns[0], k, stream.New(1, stream.Simulate))
		if err != nil {
			return nil, err
		}
		of := "a star with 1 centre"
		if k > 1 {
			of = fmt.Sprintf("a star graph with %d centres", k)
		}
		maps, err := marginal.Figures(fmt.Sprintf("%d-centres-", k), of, truth.Precision)
		if err != nil {
			return nil, err
		}
		out = append(out, maps...)
	}
	return out, nil
}

// panels are the ROC curves of the first four replicates, as far as there are any.
func panels(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	var out []figures.Figure
	for _, t := range s.Treatments {
		for run := 1; run <= 4; run++ {
			chosen, err := r.Only(map[string]string{"treatment": t.Name, "replicate": strconv.Itoa(run)})
			if err != nil {
				return nil, err
			}
			var curves []picture.NamedRates
			for _, line := range chosen.Lines {
				curve, err := rates(line[len(line)-1])
				if err != nil {
					return nil, err
				}
				if curve != nil {
					curves = append(curves, picture.NamedRates{Name: line[slices.Index(r.Columns, "method")], Rates: curve})
				}
			}
			if curves == nil {
				continue
			}
			p, err := picture.ROCs(fmt.Sprintf("Run %d, %s", run, treatmentTitle[t.Name]), curves)
			if err != nil {
				return nil, err
			}
			out = append(out, figures.Figure{Name: fmt.Sprintf("roc-%s-%d", t.Name, run), Plot: p, Width: 11, Height: 10,
				Caption: fmt.Sprintf("ROC curves of run %d, %s; in brackets the AUC.", run, treatmentTitle[t.Name])})
		}
	}
	return out, nil
}

// rates reads FPR:TPR pairs; "-" is none.
func rates(text string) ([]network.Rate, error) {
	if text == "-" {
		return nil, nil
	}
	var out []network.Rate
	for _, pair := range strings.Fields(text) {
		var r network.Rate
		if _, err := fmt.Sscanf(pair, "%g:%g", &r.FPR, &r.TPR); err != nil {
			return nil, fmt.Errorf("rates %q: %w", pair, err)
		}
		out = append(out, r)
	}
	return out, nil
}
