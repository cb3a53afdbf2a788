package star

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

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

func grid(s settings, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key:   []string{"treatment", "columns", "missing", "centres", "replicate", "method"},
		Value: []string{"auc", "diverged", "naive_misses", "first_edges", "last_edges", "projections", "effective_size"},
	}
	variants, err := harness.Variants(s.Fit, s.Methods)
	var others []string
	if s.Likelihood != nil {
		others = append(others, peer)
	}
	if s.References {
		others = append(others, references...)
	}
	for _, name := range others {
		variants = append(variants, harness.Variant{Name: name, Config: engine.Config{Method: name}})
	}
	add := func(at setting, replicate int) {
		for _, v := range variants {
			g.Add(func(ctx context.Context) ([]string, error) { return s.run(ctx, at, v.Config, uint64(replicate)) },
				at.treatment.Name, at.columns, at.missing, at.centres, replicate, v.Name)
		}
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, t := range s.Treatments {
			for _, d := range s.Columns {
				for _, k := range s.Centres {
					for _, p := range s.Missing {
						add(setting{t, d, p, k}, replicate)
					}
				}
			}
		}
	}
	return g, err
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
		var path []*mat.SymDense
		if path, err = emglasso.Precisions(ctx, table, *s.Likelihood); err == nil {
			values, err = recovery(graphs.Thresholded(path, s.Path.Threshold), truth)
		}
		values = append(values, "0", "-")
	case byMarginal, byPartial:
		var auc float64
		auc, err = pairwise(table, truth, c.Method)
		values = []string{fmt.Sprintf("%.6f", auc), "-", "-", "0", "-"}
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
	auc, _, err := graphs.Recovery(graphs.Edges(truth), found)
	return []string{fmt.Sprintf("%.6f", auc), strconv.Itoa(found[0].Count()), strconv.Itoa(found[len(found)-1].Count())}, err
}

// Reference methods ignore the support.
const (
	byMarginal    = "marginal" // ranks pairs by correlations
	byPartial     = "partial"  // ranks pairs by partial correlations
	completeData  = "em-exact"
	completeRidge = "em-exact, ridge" // ranks pairs by a ridge estimate
)

var references = []string{byMarginal, byPartial, completeData, completeRidge}

// pairwise returns the AUC of pairs ranked by |correlations| or |partial correlations|, whose matrix
// may be indefinite.
func pairwise(table *data.Table, truth simulate.Gaussian, method string) (float64, error) {
	c := correlations(table)
	if method == byPartial {
		var p mat.Dense
		if err := p.Inverse(c); err != nil {
			return 0, err
		}
		c = mat.NewSymDense(table.D, nil)
		for j := range table.D {
			for k := j + 1; k < table.D; k++ {
				c.SetSym(j, k, -p.At(j, k)/math.Sqrt(math.Abs(p.At(j, j)*p.At(k, k))))
			}
		}
	}
	var networks []network.Adjacency
	for j := range table.D {
		for k := j + 1; k < table.D; k++ {
			networks = append(networks, network.Threshold(c, math.Abs(c.At(j, k))))
		}
	}
	auc, _, err := graphs.Recovery(graphs.Edges(truth), networks)
	return auc, err
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
