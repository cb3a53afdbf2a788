// Package networks compares score matching and likelihood for Gaussian networks from tables with
// missing cells. The default method rests on its tables.
package networks

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/outside"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/data/gaussian"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers"
)

//go:embed config.json
var config []byte

//go:embed cglasso.R
var script []byte

var program = outside.R("cglasso.R", script, "cglasso")

var Experiment = harness.Experiment{
	Name: "networks", Title: "Networks by each method", Source: "benchmarks/README.md",
	Settings: config, Grid: harness.Of(grid),
}

type settings struct {
	Replicates int              `json:"replicates"`
	Laws       []gaps.Law       `json:"laws"`
	Networks   []kind           `json:"networks"`
	Methods    []method         `json:"methods"`
	Path       regpath.Config   `json:"path"`       // of score matching
	Likelihood emglasso.Options `json:"likelihood"` // of the peers, columns standardised
	Ours       []string         `json:"ours"`
}

type kind struct {
	Name    string   `json:"name"`
	Graph   string   `json:"graph"` // star, or random: of random edges and signs
	Columns int      `json:"columns"`
	Rows    int      `json:"rows"`
	Below   int      `json:"below"` // so many columns are cut off below their 20 % quantiles; 0: all of R^d
	Laws    []string `json:"laws"`
	Methods []string `json:"methods"`
}

// method is an estimator; or "glasso", the EM of package emglasso, or "cglasso", R's.
type method struct {
	Name    string           `json:"name"`
	Ignore  bool             `json:"ignore"`            // the truncation
	Penalty *regpath.Penalty `json:"penalty,omitempty"` // its own; nil: that of the path
	Fit     engine.Config    `json:"fit"`
}

const (
	ownEM   = "glasso"
	cglasso = "cglasso"
)

const (
	threshold = 0.002 // the program's default, columns standardised
	cutOff    = 0.2   // share of a column below its bound
)

// grid's value columns; P̂ is the precision of the chosen network:
//
//	auc, best_f1          of the path's networks
//	f1, edges             of the chosen network
//	frobenius             ‖P̂ − P‖ / ‖P‖
//	least_frobenius       the least along the path
//	edge_bias             mean over edges of sign(ρ)(ρ̂ − ρ)
//	other_bias            mean of |ρ̂| over other pairs
//	wrong_signs           share of edges whose ρ̂ has the other sign
func grid(s settings, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key:   []string{"network", "law", "replicate", "method"},
		Value: []string{"auc", "best_f1", "f1", "edges", "frobenius", "least_frobenius", "edge_bias", "other_bias", "wrong_signs", "seconds"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, k := range s.Networks {
			for _, law := range s.Laws {
				for _, m := range s.Methods {
					if slices.Contains(k.Laws, law.Name) && slices.Contains(k.Methods, m.Name) {
						g.Add(func(ctx context.Context) ([]string, error) {
							return s.run(ctx, k, law, m, uint64(replicate))
						}, k.Name, law.Name, replicate, m.Name)
					}
				}
			}
		}
	}
	return g, nil
}

// The support is nil for R^d.
func (k kind) simulate(law gaps.Law, seed uint64) (truth simulate.Gaussian, support *domain.Domain, t *data.Table, err error) {
	rng, draw := stream.New(seed, stream.Simulate), graphs.Random
	if k.Graph == "star" {
		draw = simulate.Star
	}
	if truth, err = draw(k.Columns, rng); err != nil {
		return truth, nil, nil, err
	}
	if support, t, err = graphs.Sample(truth, k.Rows, k.Below, cutOff, rng); err != nil {
		return truth, nil, nil, err
	}
	t, err = law.Hide(t, seed)
	return truth, support, t, err
}

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
	if trainers.Diverged(err) { // a result, not a failure
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
		e.path = append(e.path, graph.Unpack(t.D, p.Packed()))
	}
	_, scale := data.Standardise(t)
	e.chosen = graphs.Chosen(r.Network)
	for j, sd := range scale.Deviation {
		for k := j; k < t.D; k++ {
			e.chosen.SetSym(j, k, e.chosen.At(j, k)*sd*scale.Deviation[k])
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
		along = append(along, simulate.Gaussian{Mean: line[:t.D], Precision: graph.Unpack(t.D, line[t.D:])})
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
	return -2*logLikelihood(t, t.AllRows(), g.Mean, g.Precision) + edges*(math.Log(pairs)+4*regpath.DefaultGamma(t.D, pairs)*math.Log(float64(t.D)))
}

// Columns standardised by scale.
func judge(truth simulate.Gaussian, scale data.Scale, e estimated) ([]string, error) {
	want, found := graphs.Edges(truth), network.Threshold(e.chosen, threshold)
	auc, best, err := graphs.Recovery(want, graphs.Thresholded(e.path, threshold))
	if err != nil {
		return nil, err
	}
	least := math.Inf(1)
	for _, p := range e.path {
		least = min(least, distance(truth.Precision, scale.Precision(p)))
	}
	p := scale.Precision(e.chosen)
	rho, estimates := network.PartialCorrelations(truth.Precision), network.PartialCorrelations(p)
	other, signs := otherBias(rho, estimates)
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', 5, 64) }
	return []string{text(auc), text(best), text(graphs.F1(want, found)), strconv.Itoa(found.Count()),
		text(distance(truth.Precision, p)), text(least), text(graphs.Bias(rho, estimates)), text(other), text(signs)}, nil
}

// distance returns ‖Q − P‖ / ‖P‖, Frobenius norms.
func distance(p, q *mat.SymDense) float64 {
	var gap mat.Dense
	gap.Sub(q, p)
	return mat.Norm(&gap, 2) / mat.Norm(p, 2)
}

// otherBias returns the mean of |ρ̂| over pairs without an edge, and the share of edges with the
// wrong sign.
func otherBias(truth, found []float64) (other, signs float64) {
	var edges, others float64
	for i, rho := range truth {
		if rho == 0 {
			others++
			other += math.Abs(found[i])
			continue
		}
		edges++
		if rho*found[i] < 0 {
			signs++
		}
	}
	return other / others, signs / edges
}

// logLikelihood returns the log density of the observed cells of rows under a normal distribution;
// −Inf if P is not positive definite.
func logLikelihood(t *data.Table, rows []int, mean []float64, p *mat.SymDense) float64 {
	d := t.D
	x, err := losses.NewExpectation(d)
	if err != nil {
		return math.Inf(-1)
	}
	eta, square := make([]float64, d), make([]float64, 0, d*d)
	for j := range d {
		for k := range d {
			square = append(square, p.At(j, k))
			eta[j] += p.At(j, k) * mean[k]
		}
	}
	b := data.NewBatch(len(rows), d)
	b.Fill(t, rows, 1)
	if err := x.Over(eta, square, b.X, b.Mask, b.Weight, gaussian.FindPatterns(b.Mask, b.Weight), nil); err != nil {
		return math.Inf(-1)
	}
	return x.LogLikelihood
}
