package star

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/graphs"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
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

func (s settings) run(ctx context.Context, at setting, c engine.Config, seed uint64) ([]string, error) {
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
	diverged := false
	switch c.Method {
	case peer:
		values, err = s.likelihood(ctx, table, truth)
	case byMarginal, byPartial:
		values, err = ranked(table, truth, c.Method)
	case completeData, completeRidge:
		at.treatment.Ignore = true
		fallthrough
	default:
		values, diverged, err = s.scoreMatching(ctx, at.treatment, c, table, truth, support, seed)
	}
	if err != nil {
		return nil, err
	}
	return slices.Insert(values, 1, strconv.FormatBool(diverged), fmt.Sprintf("%.5f", missed(truth.Precision))), nil
}

// ranked is what ranking pairs by their pairwise correlations, or partial ones, recovers.
func ranked(table *data.Table, truth simulate.Gaussian, by string) (values []string, err error) {
	curve, err := pairwise(table, truth, by)
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%.6f", network.AUC(curve)), "-", "-", "0", "-"}, nil
}

// likelihood is the peer's path, on standardised columns.
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

// scoreMatching is a method's path; one that diverges before its end has no AUC.
func (s settings) scoreMatching(ctx context.Context, t treatment, c engine.Config, table *data.Table, truth simulate.Gaussian, support *domain.Domain, seed uint64) (values []string, diverged bool, err error) {
	found, err := s.path(ctx, t, c, table, support, seed)
	var fault *engine.DivergedError
	if diverged = errors.As(err, &fault); err != nil && !diverged {
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

// path is a method's.
func (s settings) path(ctx context.Context, t treatment, c engine.Config, table *data.Table, support *domain.Domain, seed uint64) (*trainers.Result, error) {
	along := s.Path
	along.Select, along.PathOnly, along.Whole = regpath.Selection{Kind: "none"}, true, true // the AUC is of the path
	c.Seed, c.FreeDraws = seed, t.FreeDraws
	if c.Method == completeRidge {
		c.Method, along.Penalty = completeData, regpath.Penalty{Kind: "ridge"}
		along.Schedule, along.InitialIter, along.IterPerLambda, along.Rate, along.Floor = "", 0, 0, 0, 0 // its own
		along.Select, along.PathOnly = regpath.Selection{}, false                                        // a ridge order is not a path of estimates
	}
	spec := trainers.Spec{Weight: t.Weight, Steps: c, Network: &along}
	if !t.Ignore {
		spec.Domain = support
	}
	return trainers.Estimate(ctx, table, spec, trainers.Run{})
}

// recovery gives the AUC of the networks along a path, and the edges of the first and the
// last.
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

// missed is the share of the true marginal precision without node 1, off the
// diagonal, that the naive one misses: Frobenius norms. It is 0 where there is nothing to miss.
func missed(precision mat.Symmetric) float64 {
	naive, marginal := graphs.WithoutFirst(precision)
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
