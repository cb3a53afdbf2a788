// Package mar measures the bias of each method on normal tables whose cells are missing at random
// (MAR).
package mar

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

//go:embed config.json
var config []byte

var Experiment = harness.Experiment{
	Name: "mar", Title: "Cells missing at random", Source: "benchmarks/README.md",
	Settings: config, Grid: harness.Of(grid),
}

type settings struct {
	Replicates int      `json:"replicates"`
	Rows       int      `json:"rows"`
	Designs    []string `json:"designs"`
	Methods    []method `json:"methods"`
	Ours       []string `json:"ours"`
}

// method is an unpenalised fit or a network by the default criterion; Fit.Method may be peer.
type method struct {
	Name    string        `json:"name"`
	Network bool          `json:"network"`
	Fit     engine.Config `json:"fit"`
}

// peer is maximum likelihood by EM.
const peer = "likelihood"

const falseEdge = 0.1

// partial_correlation_error is the root mean square of ρ̂ − ρ over pairs, mean_error of the means
// in true standard deviations.
func grid(s settings, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key:   []string{"design", "replicate", "method"},
		Value: []string{"missing", "partial_correlation_error", "edge_bias", "mean_error", "sign_errors", "false_edges", "seconds"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, name := range s.Designs {
			for _, m := range s.Methods {
				g.Add(func(ctx context.Context) ([]string, error) {
					return s.run(ctx, designs[name], m, uint64(replicate))
				}, name, replicate, m.Name)
			}
		}
	}
	return g, nil
}

func (s settings) run(ctx context.Context, c design, m method, seed uint64) ([]string, error) {
	t, err := c.table(s.Rows, seed)
	if err != nil {
		return nil, err
	}
	missing := strconv.FormatFloat(float64(t.Missing())/float64(t.N*t.D), 'f', 4, 64)
	start := time.Now()
	mean, precision, err := m.estimate(ctx, t, seed)
	seconds := fmt.Sprintf("%.2f", time.Since(start).Seconds())
	if trainers.Diverged(err) {
		return []string{missing, "-", "-", "-", "-", "-", seconds}, nil
	}
	if err != nil {
		return nil, err
	}
	var sigma mat.Dense
	if err := sigma.Inverse(c.precision); err != nil {
		return nil, err
	}
	for j := range mean {
		mean[j] /= math.Sqrt(sigma.At(j, j))
	}
	truth, found := network.PartialCorrelations(c.precision), network.PartialCorrelations(precision)
	signs, alarms := mistakes(truth, found)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	rms := func(x, y []float64) string { return number(floats.Distance(x, y, 2) / math.Sqrt(float64(len(x)))) }
	return []string{missing, rms(found, truth), number(graphs.Bias(truth, found)), rms(mean, make([]float64, len(mean))),
		strconv.Itoa(signs), strconv.Itoa(alarms), seconds}, nil
}

// mistakes counts edges with the wrong sign, and pairs without an edge beyond ±falseEdge.
func mistakes(truth, found []float64) (signs, alarms int) {
	for i, rho := range truth {
		switch {
		case rho*found[i] < 0:
			signs++
		case rho == 0 && math.Abs(found[i]) > falseEdge:
			alarms++
		}
	}
	return signs, alarms
}

const (
	emIterations = 5000
	emTolerance  = 1e-7
)

func (m method) estimate(ctx context.Context, t *data.Table, seed uint64) (mean []float64, precision *mat.SymDense, err error) {
	if m.Fit.Method == peer {
		var g simulate.Gaussian
		g, err = emglasso.Saturated(ctx, t, emIterations, emTolerance)
		return g.Mean, g.Precision, err
	}
	spec := trainers.Spec{Steps: m.Fit}
	spec.Steps.Seed = seed
	if m.Network {
		spec.Network = &regpath.Config{Penalty: regpath.Penalty{Kind: "l1"}}
	}
	r, err := harness.Estimate(ctx, t, spec, trainers.Run{})
	if err != nil {
		return nil, nil, err
	}
	if m.Network {
		return r.Network.Mean, graphs.Chosen(r.Network), nil
	}
	normal, ok := model.AsNormal(r.Model.InUnits())
	if !ok {
		return nil, nil, fmt.Errorf("method %s gave no normal distribution", m.Name)
	}
	return normal.Mean(), normal.Precision(), nil
}

type design struct {
	precision *mat.SymDense
	// hide sets seen to false and reads only cells that stay observed.
	hide func(row []float64, seen []bool, rng *rand.Rand)
}

var designs = map[string]design{
	// x → y → z of variance 1; y is hidden if x is below its mean.
	"hidden where low": {chain(0.8, 0.5), func(row []float64, seen []bool, _ *rand.Rand) { seen[1] = row[0] >= 0 }},
	// A ring of five; a logistic regression on column 1 hides columns 3 to 5.
	"logistic": {ring(5, 0.4), func(row []float64, seen []bool, rng *rand.Rand) {
		for j := 2; j < 5; j++ {
			seen[j] = !happens(-0.3+2*row[0], rng)
		}
	}},
	// Edges 1–3, 2–3, 3–4; logistic regressions on columns 1 and 2 hide columns 3 and 4.
	"two predictors": {tree(), func(row []float64, seen []bool, rng *rand.Rand) {
		seen[2] = !happens(-0.5+1.5*row[0]+1.5*row[1], rng)
		seen[3] = !happens(-0.5+1.5*row[0]-1.5*row[1], rng)
	}},
	// Five waves of a first-order process; a high value makes dropout at the next wave more likely.
	"dropout": {chain(0.7, 0.7, 0.7, 0.7), func(row []float64, seen []bool, rng *rand.Rand) {
		for j := 1; j < len(row); j++ {
			seen[j] = seen[j-1] && !happens(-1.5+2*row[j-1], rng)
		}
	}},
	// A chain of six; column 1 hides columns 2 and 3, column 4 hides columns 5 and 6.
	"chain": {chain(0.7, -0.6, 0.7, 0.6, -0.7), func(row []float64, seen []bool, rng *rand.Rand) {
		for _, j := range []int{1, 2} {
			seen[j] = !happens(3*row[0], rng)
		}
		for _, j := range []int{4, 5} {
			seen[j] = !happens(-3*row[3], rng)
		}
	}},
}

// happens is true with probability σ(η).
func happens(eta float64, rng *rand.Rand) bool { return rng.Float64() < 1/(1+math.Exp(-eta)) }

// chain returns the precision of x_{j+1} = ρ_j x_j + √(1 − ρ_j²) ε, with variances 1.
func chain(correlations ...float64) *mat.SymDense {
	d := len(correlations) + 1
	p := mat.NewSymDense(d, nil)
	p.SetSym(0, 0, 1)
	for j, rho := range correlations {
		u := mat.NewVecDense(d, nil)
		u.SetVec(j, -rho)
		u.SetVec(j+1, 1)
		p.SymRankOne(p, 1/(1-rho*rho), u)
	}
	return p
}

// ring returns partial correlations −weight.
func ring(d int, weight float64) *mat.SymDense {
	p := mat.NewSymDense(d, nil)
	for j := range d {
		p.SetSym(j, j, 1)
		p.SetSym(j, (j+1)%d, weight)
	}
	return p
}

func tree() *mat.SymDense {
	return mat.NewSymDense(4, []float64{
		1, 0, 0.4, 0,
		0, 1, -0.4, 0,
		0.4, -0.4, 1, 0.5,
		0, 0, 0.5, 1,
	})
}

func (c design) table(n int, seed uint64) (*data.Table, error) {
	d := c.precision.SymmetricDim()
	t, err := simulate.Gaussian{Mean: make([]float64, d), Precision: c.precision}.Sample(n, stream.New(seed, stream.Simulate))
	if err != nil {
		return nil, err
	}
	rng := stream.New(seed, stream.Hide)
	values, observed := slices.Clone(t.Values), slices.Repeat([]bool{true}, n*d)
	for i := 0; i < n*d; i += d {
		c.hide(t.Values[i:i+d], observed[i:i+d], rng)
		for j := range d {
			if !observed[i+j] {
				values[i+j] = 0
			}
		}
	}
	return data.NewTable(t.Names, values, observed)
}
