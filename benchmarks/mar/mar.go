// Package mar shows what cells missing at random do to each method: normal distributions
// whose cells are hidden where other, observed cells say so, fitted with and without a
// penalty, against their truth.
package mar

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

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
	"missingscore/trainers/path"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each design, replicate and method.
var Experiment = harness.Experiment{
	Name: "mar", Title: "Cells missing at random", Source: "benchmarks/mar/README.md",
	Settings: config, Grid: grid, Tables: tables, Claims: statements,
}

// settings are one size of config.json.
type settings struct {
	Replicates int      `json:"replicates"`
	Rows       int      `json:"rows"`
	Designs    []string `json:"designs"`
	Methods    []method `json:"methods"`
	Ours       []string `json:"ours"`
}

// method is a fit without a penalty, or a network with the λ of the program's criterion;
// "likelihood" is EM, without a penalty.
type method struct {
	Name    string        `json:"name"`
	Network bool          `json:"network"`
	Fit     engine.Config `json:"fit"`
}

// peer is the method of EM, which is not this program's.
const peer = "likelihood"

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, name := range s.Designs {
		if _, ok := designs[name]; !ok {
			return s, fmt.Errorf("settings: there is no design %q", name)
		}
	}
	return s, cmp.Or(harness.CheckAtLeast(2, "rows", s.Rows), harness.CheckAtLeast(1, "methods", len(s.Methods)))
}

// Columns of the results. Those of several numbers have one for each pair or column.
const (
	designColumn  = "design"
	missingColumn = "missing"
	partialColumn = "partial_correlations" // estimates, of pairs j < k by rows
	meansColumn   = "means"                // estimates, in true standard deviations
	signColumn    = "sign_errors"          // true edges whose estimate has the other sign
	falseColumn   = "false_edges"          // pairs without an edge whose estimate is beyond ±0.1
	secondsColumn = "seconds"
)

const falseEdge = 0.1

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{designColumn, "replicate", "method"},
		Value: []string{missingColumn, partialColumn, meansColumn, signColumn, falseColumn, secondsColumn},
		Clock: []string{secondsColumn},
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

// run is one cell.
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
	if errors.As(err, &fault) { // a result, not a failure
		return []string{missing, "-", "-", "-", "-", seconds}, nil
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
	found := network.PartialCorrelations(precision)
	signs, alarms := mistakes(network.PartialCorrelations(c.precision), found)
	return []string{missing, list(found), list(mean), strconv.Itoa(signs), strconv.Itoa(alarms), seconds}, nil
}

// mistakes counts the edges with the wrong sign, and the pairs without an edge whose
// estimate is not small.
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

// list writes numbers with spaces between them.
func list(x []float64) string {
	text := make([]string, len(x))
	for i, v := range x {
		text[i] = strconv.FormatFloat(v, 'f', 5, 64)
	}
	return strings.Join(text, " ")
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
		spec.Network = &path.Config{Penalty: path.Penalty{Kind: "l1"}}
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

// withoutEdges is a network's precision, 0 where it has no edge.
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
