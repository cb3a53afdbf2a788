package networks

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/outside"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

//go:embed cglasso.R
var script []byte

var program = outside.R("cglasso.R", script, "cglasso")

// Columns standardised.
type estimated struct {
	path   []*mat.SymDense
	chosen *mat.SymDense
}

func (s settings) run(ctx context.Context, k kind, law gaps.Law, m method, seed uint64) ([]string, error) {
	truth, support, t, err := k.simulate(law, seed)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	var e estimated
	switch m.Fit.Method {
	case ownEM, cglasso:
		e, err = s.likelihood(ctx, m, t)
	default:
		e, err = s.scoreMatching(ctx, m, t, support, seed)
	}
	seconds := fmt.Sprintf("%.2f", time.Since(start).Seconds())
	var fault *engine.DivergedError
	if errors.As(err, &fault) { // a result, not a failure
		return append(slices.Repeat([]string{"-"}, 9), seconds), nil
	}
	if err != nil {
		return nil, err
	}
	_, scale := data.Standardise(t)
	values, err := judge(truth, scale, e)
	return append(values, seconds), err
}

func (s settings) scoreMatching(ctx context.Context, m method, t *data.Table, support *domain.Domain, seed uint64) (e estimated, err error) {
	along := s.Path
	along.Whole = true // the AUC is of a whole path
	if m.Penalty != nil {
		along.Penalty = *m.Penalty
	}
	spec := trainers.Spec{Steps: m.Fit, Network: &along}
	spec.Steps.Seed = seed
	if !m.Ignore {
		spec.Domain = support
	}
	r, err := harness.Estimate(ctx, t, spec, trainers.Run{})
	if err != nil {
		return e, err
	}
	for _, p := range r.Network.Points {
		e.path = append(e.path, graph.Unpack(t.D, p.Packed))
	}
	_, scale := data.Standardise(t)
	e.chosen = mat.NewSymDense(t.D, nil)
	for j := range t.D {
		for k := j; k < t.D; k++ {
			if j == k || r.Network.Adjacency.Has(j, k) {
				e.chosen.SetSym(j, k, r.Network.Precision.At(j, k)*scale.Deviation[j]*scale.Deviation[k])
			}
		}
	}
	return e, nil
}

// likelihood chooses the least EBIC by the likelihood of each network's refit, which is then the
// estimate.
func (s settings) likelihood(ctx context.Context, m method, t *data.Table) (e estimated, err error) {
	standard, _ := data.Standardise(t)
	var along []simulate.Gaussian
	if m.Fit.Method == ownEM {
		along, err = emglasso.Path(ctx, standard, s.Likelihood)
	} else {
		along, err = s.byR(ctx, standard)
	}
	if err != nil {
		return e, err
	}
	least := math.Inf(1)
	var before network.Adjacency
	for _, g := range along {
		e.path = append(e.path, g.Precision)
		edges := network.Threshold(g.Precision, threshold)
		if slices.Equal(edges.Edge, before.Edge) {
			continue // the refit is the same
		}
		before = edges
		refit, ok, err := emglasso.Refit(ctx, standard, g, threshold, s.Likelihood)
		if err != nil {
			return e, err
		}
		if !ok {
			continue
		}
		if score := ebic(standard, refit); score < least {
			least, e.chosen = score, refit.Precision
		}
	}
	if e.chosen == nil {
		return e, fmt.Errorf("method %s: no network of its path has a likelihood with a maximum", m.Name)
	}
	return e, nil
}

// byR runs R's cglasso: a line per λ, the mean and the upper triangle of the precision by rows.
func (s settings) byR(ctx context.Context, t *data.Table) (along []simulate.Gaussian, err error) {
	o := s.Likelihood
	lines, _, err := program.Run(ctx, t, strconv.Itoa(o.Lambdas), strconv.FormatFloat(1/o.Ratio, 'g', -1, 64))
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		if len(line) != t.D+t.D*(t.D+1)/2 {
			return nil, fmt.Errorf("cglasso.R wrote %d numbers a line, not %d", len(line), t.D+t.D*(t.D+1)/2)
		}
		p := mat.NewSymDense(t.D, nil)
		at := t.D
		for j := range t.D {
			for k := j; k < t.D; k++ {
				p.SetSym(j, k, line[at])
				at++
			}
		}
		along = append(along, simulate.Gaussian{Mean: line[:t.D], Precision: p})
	}
	return along, nil
}

// ebic returns −2 log L + |E| (log n + 4 γ log d), n the mean number of rows that show a pair.
func ebic(t *data.Table, g simulate.Gaussian) float64 {
	n := 0
	for i := range t.N {
		seen := 0
		for j := range t.D {
			if t.Observed[i*t.D+j] {
				seen++
			}
		}
		n += seen * (seen - 1)
	}
	pairs := float64(n) / float64(t.D*(t.D-1))
	edges := float64(network.Threshold(g.Precision, threshold).Count())
	return -2*regpath.LogLikelihood(t, t.AllRows(), g.Mean, g.Precision) + edges*(math.Log(pairs)+4*regpath.DefaultGamma(t.D, pairs)*math.Log(float64(t.D)))
}
