// Package mar measures the bias of each method on normal tables whose cells are missing at random (MAR).
package mar

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

//go:embed config.json
var config []byte

var Experiment = harness.Experiment{
	Name: "mar", Title: "Cells missing at random", Source: "benchmarks/README.md",
	Settings: config, Grid: grid,
}

// settings of one size in config.json.
type settings struct {
	Replicates int      `json:"replicates"`
	Rows       int      `json:"rows"`
	Designs    []string `json:"designs"`
	Methods    []method `json:"methods"`
	Ours       []string `json:"ours"`
}

// method is an unpenalised fit or a network by the default criterion. Fit.Method may be peer.
type method struct {
	Name    string        `json:"name"`
	Network bool          `json:"network"`
	Fit     engine.Config `json:"fit"`
}

// peer is maximum likelihood by EM, without a penalty.
const peer = "likelihood"

const falseEdge = 0.1

// grid's value columns: partial_correlation_error is the root mean square of ρ̂ − ρ over pairs,
// mean_error of the means in true standard deviations; see bias and mistakes for the others.
func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	var s settings
	if err := harness.Decode(text, &s); err != nil {
		return cells.Grid{}, err
	}
	for _, name := range s.Designs {
		if _, ok := designs[name]; !ok {
			return cells.Grid{}, fmt.Errorf("settings: there is no design %q", name)
		}
	}
	g := cells.Grid{
		Key:   []string{"design", "replicate", "method"},
		Value: []string{"missing", "partial_correlation_error", "edge_bias", "mean_error", "sign_errors", "false_edges", "seconds"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, name := range s.Designs {
			for _, m := range s.Methods {
				g.Cells = append(g.Cells, cells.Cell{
					Key: []string{name, strconv.Itoa(replicate), m.Name},
					Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, designs[name], m, uint64(replicate)) },
				})
			}
		}
	}
	return g, nil
}

// run computes one cell.
func (s settings) run(ctx context.Context, c design, m method, seed uint64) ([]string, error) {
	t, err := c.table(s.Rows, seed)
	if err != nil {
		return nil, err
	}
	missing := strconv.FormatFloat(float64(t.Missing())/float64(t.N*t.D), 'f', 4, 64)
	start := time.Now()
	mean, precision, err := m.estimate(ctx, t, seed)
	seconds := fmt.Sprintf("%.2f", time.Since(start).Seconds())
	var fault *engine.DivergedError
	if errors.As(err, &fault) {
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
	return []string{missing, number(rootMeanSquare(found, truth)), number(bias(found, truth)), number(rootMeanSquare(mean, make([]float64, len(mean)))),
		strconv.Itoa(signs), strconv.Itoa(alarms), seconds}, nil
}

// mistakes counts edges with the wrong sign, and pairs without an edge whose estimate is beyond ±falseEdge.
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

func rootMeanSquare(found, truth []float64) float64 {
	return floats.Distance(found, truth, 2) / math.Sqrt(float64(len(truth)))
}

// bias returns the mean over edges of sign(ρ)(ρ̂ − ρ).
func bias(found, truth []float64) float64 {
	sum, edges := 0.0, 0.0
	for i, rho := range truth {
		if rho != 0 {
			sum += math.Copysign(1, rho) * (found[i] - rho)
			edges++
		}
	}
	return sum / edges
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
	r, err := trainers.Estimate(ctx, t, spec, trainers.Run{})
	if err != nil {
		return nil, nil, err
	}
	if m.Network {
		return r.Network.Mean, withoutEdges(r.Network), nil
	}
	normal, ok := model.AsNormal(r.Model.InUnits())
	if !ok {
		return nil, nil, fmt.Errorf("method %s gave no normal distribution", m.Name)
	}
	return normal.Mean(), normal.Precision(), nil
}

// withoutEdges returns the precision of a network with 0 for pairs without an edge.
func withoutEdges(r *trainers.NetworkResult) *mat.SymDense {
	d := len(r.Names)
	p := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			if j == k || r.Adjacency.Has(j, k) {
				p.SetSym(j, k, r.Precision.At(j, k))
			}
		}
	}
	return p
}
