package star

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/source"
)

//go:embed ranking.json
var ranking []byte

// Ranking compares ways to rank pairs on the tables of Dense, by their AUC:
//
//   - without a path or a penalty, by the correlations of the pairwise-complete correlation
//     matrix ("marginal"), and by its partial correlations ("partial");
//   - by each method's path, as the paper does: a pair ranks by the λ at which its edge
//     enters;
//   - by the sizes of the partial correlations at the method's last λ;
//   - by the path of complete rows, each drawn ten times given its observed cells by the
//     method's network at the last λ.
var Ranking = harness.Experiment{
	Name: "ranking", Title: "Ways to rank edges", Source: "benchmarks/README.md",
	Settings: ranking, Grid: rankingGrid, Tables: rankingTables,
	Claims: []claims.Claim{{
		ID: "ranking-sizes", Quote: "Ours: on a dense network the sizes of the partial correlations rank pairs better than the path. [tested: Marg-Exact, all missing probabilities together]", Where: "benchmarks/README.md",
		Test: claims.Between(claims.Fact{Column: sizesColumn, Where: map[string]string{"method": "exact"}}, claims.Fact{Column: pathColumn, Where: map[string]string{"method": "exact"}},
			"AUC of Marg-Exact, by sizes − by path"),
	}},
}

// Columns of its results.
const (
	pathColumn    = "auc_path"
	sizesColumn   = "auc_sizes"
	imputedColumn = "auc_imputed"
)

// Methods that need no path, the one that has the complete table, and, beside the peer, what
// the default is where there is no support.
const (
	byMarginal    = "marginal"
	byPartial     = "partial"
	full          = "full"
	completeData  = "em-exact"
	completeRidge = "em-exact, ridge" // with pairs in the order of the sizes in its ridge pilot
)

// references are what the methods of the paper are compared with. They take the support for all
// of R^d, so they are the same in every treatment of it.
var references = []string{byMarginal, byPartial, completeData, completeRidge}

func rankingGrid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	if !slices.Contains(s.names(), full) {
		return cells.Grid{}, fmt.Errorf("settings: methods: %q is needed for the paths of imputed rows", full)
	}
	g := cells.Grid{Key: []string{"treatment", "missing", "replicate", "method"}, Value: []string{pathColumn, sizesColumn, imputedColumn}}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, t := range s.Treatments {
			for _, p := range s.Missing {
				at := setting{treatment: t, columns: s.Columns[0], missing: p, centres: s.Centres[0]}
				for _, method := range s.ranked() {
					g.Cells = append(g.Cells, cells.Cell{
						Key: []string{t.Name, strconv.FormatFloat(p, 'g', -1, 64), strconv.Itoa(replicate), method},
						Run: func(ctx context.Context) ([]string, error) { return s.rank(ctx, at, method, uint64(replicate)) },
					})
				}
			}
		}
	}
	return g, nil
}

// ranked are all that rank.
func (s settings) ranked() []string { return append([]string{byMarginal, byPartial}, s.names()...) }

// rank is one cell of Ranking.
func (s settings) rank(ctx context.Context, at setting, method string, seed uint64) ([]string, error) {
	truth, support, complete, err := s.simulate(at, seed)
	if err != nil {
		return nil, err
	}
	table := complete
	if method != full {
		if table, err = hide(complete, at, seed); err != nil {
			return nil, err
		}
	}
	path, sizes, imputed := math.NaN(), 0.0, math.NaN()
	if method == byMarginal || method == byPartial {
		var curve []network.Rate
		if curve, err = pairwise(table, truth, method); err == nil {
			sizes = network.AUC(curve)
		}
	} else {
		path, sizes, imputed, err = s.rankings(ctx, at, method, table, truth, support, seed)
	}
	if err != nil {
		return nil, err
	}
	var values []string
	for _, auc := range []float64{path, sizes, imputed} {
		text := "-"
		if !math.IsNaN(auc) {
			text = fmt.Sprintf("%.6f", auc)
		}
		values = append(values, text)
	}
	return values, nil
}

// pairwise is the ROC curve of the correlations or partial correlations of each two columns.
func pairwise(table *data.Table, truth simulate.Gaussian, method string) ([]network.Rate, error) {
	c := correlations(table)
	if method == byMarginal {
		return ratesBy(c, truth)
	}
	var p mat.Dense
	if err := p.Inverse(c); err != nil {
		return nil, err
	}
	return ratesBy(partialCorrelations(mat.NewSymDense(table.D, p.RawMatrix().Data)), truth)
}

// rankings are the AUCs of a method's path, of the sizes at its end, and of the path of
// rows that it imputed; the complete table has nothing to impute.
func (s settings) rankings(ctx context.Context, at setting, method string, table *data.Table, truth simulate.Gaussian, support *domain.Domain, seed uint64) (path, sizes, imputed float64, err error) {
	found, err := s.path(ctx, at.treatment, s.config(method), table, support, seed)
	if err != nil {
		return 0, 0, 0, err
	}
	if path, err = entered(found, truth); err != nil {
		return 0, 0, 0, err
	}
	if sizes, err = rankedBy(partialCorrelations(found.Network.Precision), truth); err != nil || method == full {
		return path, sizes, math.NaN(), err
	}
	drawn, err := impute(table, found, seed)
	if err != nil {
		return 0, 0, 0, err
	}
	if found, err = s.path(ctx, at.treatment, s.config(full), drawn, support, seed); err != nil {
		return 0, 0, 0, err
	}
	imputed, err = entered(found, truth)
	return path, sizes, imputed, err
}

// entered is the AUC of a path.
func entered(path *trainers.Result, truth simulate.Gaussian) (float64, error) {
	rates, err := path.Network.Rates(network.Threshold(truth.Precision, 1e-12))
	return network.AUC(rates), err
}

// impute gives ten draws of each row given its observed cells, by the chosen network.
func impute(t *data.Table, path *trainers.Result, seed uint64) (*data.Table, error) {
	const draws = 10
	precision := mat.NewSymDense(t.D, nil)
	precision.CopySym(path.Network.Precision)
	c := source.Conditional{Mean: path.Network.Mean, Precision: precision, Domain: path.Spec.Domain}
	rng := new(stream.Stream).At(seed, stream.Impute)
	b := data.NewBatch(1, t.D)
	out := &data.Table{Names: t.Names, N: draws * t.N, D: t.D}
	for i := range t.N {
		b.Fill(t, []int{i}, 1)
		if err := c.Condition(b.Mask); err != nil {
			return nil, err
		}
		row := slices.Clone(b.X)
		c.Given(row)
		for range draws {
			if _, err := c.Draw(row, rng); err != nil {
				return nil, err
			}
			out.Values = append(out.Values, row...)
		}
	}
	out.Observed = slices.Repeat([]bool{true}, len(out.Values))
	return out, nil
}

// correlations are those of each two columns over the rows that have both.
func correlations(t *data.Table) *mat.SymDense {
	c := mat.NewSymDense(t.D, nil)
	for j := range t.D {
		for k := j; k < t.D; k++ {
			var x, y []float64
			for i := 0; i < len(t.Values); i += t.D {
				if t.Observed[i+j] && t.Observed[i+k] {
					x, y = append(x, t.Values[i+j]), append(y, t.Values[i+k])
				}
			}
			c.SetSym(j, k, stat.Correlation(x, y, nil))
		}
	}
	return c
}

// partialCorrelations are −P_jk/√|P_jj P_kk| of a precision matrix, which the inverse of
// pairwise correlations may leave indefinite.
func partialCorrelations(p mat.Symmetric) *mat.SymDense {
	d := p.SymmetricDim()
	out := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			out.SetSym(j, k, -p.At(j, k)/math.Sqrt(math.Abs(p.At(j, j)*p.At(k, k))))
		}
	}
	return out
}

// rankedBy is the AUC of the pairs in the order of their absolute values.
func rankedBy(m *mat.SymDense, truth simulate.Gaussian) (float64, error) {
	rates, err := ratesBy(m, truth)
	return network.AUC(rates), err
}

// ratesBy is the ROC curve of the pairs in the order of their absolute values.
func ratesBy(m *mat.SymDense, truth simulate.Gaussian) ([]network.Rate, error) {
	d := m.SymmetricDim()
	edges := network.Threshold(truth.Precision, 1e-12)
	var rates []network.Rate
	for j := range d {
		for k := j + 1; k < d; k++ {
			rate, err := network.Compare(edges, network.Threshold(m, math.Abs(m.At(j, k))))
			if err != nil {
				return nil, err
			}
			rates = append(rates, rate)
		}
	}
	slices.SortFunc(rates, func(a, b network.Rate) int { return cmp.Or(cmp.Compare(a.FPR, b.FPR), cmp.Compare(a.TPR, b.TPR)) })
	return rates, nil
}
