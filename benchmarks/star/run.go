package star

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{"treatment", "columns", "missing", "centres", "replicate", "method"},
		Value: []string{"auc", "diverged", "naive_misses", "first_edges", "last_edges", "projections", "effective_size"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, t := range s.Treatments {
			for _, d := range s.Columns {
				for _, k := range s.Centres {
					for _, p := range s.Missing {
						at := setting{t, d, p, k}
						for _, v := range s.variants {
							g.Cells = append(g.Cells, cells.Cell{
								Key: []string{t.Name, strconv.Itoa(d), strconv.FormatFloat(p, 'g', -1, 64), strconv.Itoa(k), strconv.Itoa(replicate), v.Name},
								Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, at, v.Config, uint64(replicate)) },
							})
						}
					}
				}
			}
		}
	}
	return g, nil
}

func (s settings) run(ctx context.Context, at setting, c engine.Config, seed uint64) ([]string, error) {
	truth, support, table, err := s.simulate(at, seed)
	if err != nil {
		return nil, err
	}
	if c.Method != "full" {
		if table, err = data.HideMCAR(table, at.missing, stream.New(seed, stream.Hide)); err != nil {
			return nil, err
		}
	}
	var values []string
	diverged := false
	switch c.Method {
	case peer:
		values, err = s.likelihood(ctx, table, truth)
	case byMarginal, byPartial:
		var curve []network.Rate
		curve, err = pairwise(table, truth, c.Method)
		values = []string{fmt.Sprintf("%.6f", network.AUC(curve)), "-", "-", "0", "-"}
	case completeData, completeRidge:
		at.treatment.Ignore = true
		fallthrough
	default:
		values, diverged, err = s.scoreMatching(ctx, at.treatment, c, table, truth, support, seed)
	}
	if err != nil {
		return nil, err
	}
	naive, marginal := graphs.WithoutFirst(truth.Precision)
	missed := graphs.Missed(naive, marginal, 0, naive.SymmetricDim())
	return slices.Insert(values, 1, strconv.FormatBool(diverged), fmt.Sprintf("%.5f", missed)), nil
}

// likelihood runs the peer on standardised columns.
func (s settings) likelihood(ctx context.Context, table *data.Table, truth simulate.Gaussian) ([]string, error) {
	standard, _ := data.Standardise(table)
	path, err := emglasso.Path(ctx, standard, *s.Likelihood)
	if err != nil {
		return nil, err
	}
	var found []network.Adjacency
	for _, g := range path {
		found = append(found, network.Threshold(g.Precision, s.Path.Threshold))
	}
	values, err := recovery(found, truth)
	return append(values, "0", "-"), err
}

// A path that diverges has no AUC.
func (s settings) scoreMatching(ctx context.Context, t treatment, c engine.Config, table *data.Table, truth simulate.Gaussian, support *domain.Domain, seed uint64) (values []string, diverged bool, err error) {
	found, err := s.path(ctx, t, c, table, support, seed)
	if diverged = trainers.Diverged(err); err != nil && !diverged {
		return nil, false, err
	}
	if diverged || len(found.Network.Points) < found.Spec.Network.Lambdas {
		return []string{"-", "-", "-", "-", "-"}, diverged, nil
	}
	points, projections := found.Network.Points, 0
	for _, p := range points {
		projections += p.Projections
	}
	values, err = recovery(found.Network.Adjacencies(), truth)
	return append(values, strconv.Itoa(projections), fmt.Sprintf("%.2f", points[len(points)/2].EffectiveSize)), diverged, err
}

func (s settings) path(ctx context.Context, t treatment, c engine.Config, table *data.Table, support *domain.Domain, seed uint64) (*trainers.Result, error) {
	along := s.Path
	along.Select, along.PathOnly, along.Whole = regpath.Selection{Kind: "none"}, true, true
	c.Seed, c.FreeDraws = seed, t.FreeDraws
	if c.Method == completeRidge {
		c.Method, along.Penalty = completeData, regpath.Penalty{Kind: "ridge"}
		along.Schedule, along.InitialIter, along.IterPerLambda, along.Rate, along.Floor = "", 0, 0, 0, 0
		along.Select, along.PathOnly = regpath.Selection{}, false // the ridge order is not a path
	}
	spec := trainers.Spec{Weight: t.Weight, Steps: c, Network: &along}
	if !t.Ignore {
		spec.Domain = support
	}
	return harness.Estimate(ctx, table, spec, trainers.Run{})
}

// recovery returns AUC, and edges of the first and last network.
func recovery(found []network.Adjacency, truth simulate.Gaussian) ([]string, error) {
	want := network.Threshold(truth.Precision, 1e-12)
	var curve []network.Rate
	for _, a := range found {
		r, err := network.Compare(want, a)
		if err != nil {
			return nil, err
		}
		curve = append(curve, r)
	}
	return []string{
		fmt.Sprintf("%.6f", network.AUC(curve)), strconv.Itoa(found[0].Count()), strconv.Itoa(found[len(found)-1].Count()),
	}, nil
}

// Reference methods ignore the support.
const (
	byMarginal    = "marginal" // ranks pairs by correlations
	byPartial     = "partial"  // ranks pairs by partial correlations
	completeData  = "em-exact"
	completeRidge = "em-exact, ridge" // ranks pairs by a ridge estimate
)

var references = []string{byMarginal, byPartial, completeData, completeRidge}

// pairwise returns the ROC curve of pairs ranked by correlations or partial correlations.
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

// correlations are over common rows.
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

// partialCorrelations returns −P_jk/√|P_jj P_kk|; P may be indefinite.
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

// ratesBy returns the ROC curve of pairs ranked by |m_jk|.
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
