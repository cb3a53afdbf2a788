// Package bound sees the paper's finite-sample theorem (section "Finite Sample Bounds",
// proof in its appendix) at work. The theorem bounds the marginal truncated Fisher
// divergence J of θ_(n,r), the minimiser of Marg-IW's sample objective on n rows with
// r fixed draws for each of them, s the number of parameters and A the diameter of
// their set: for n and r large enough
//
//	P( J(θ_(n,r)) ≥ β √( s log(d n r A/δ) / min{r, n} ) ) < δ
//
// So J need not fall unless n and r grow together, and then about like 1/√n. It is an
// upper bound: J vanishes at the truth together with its slope, hence 1/n along r = n
// is what a regular parametric model should show, and 1/r² for the bias that r draws
// leave when n is large. The appendix speaks of a "log(n)/n rate" under the same
// condition, which is not what its theorem states; both are tested.
//
// Here x is normal on a box [−h, h]^d, so that the density is bounded away from 0 as the
// theorem's assumptions want, and cells are missing completely at random. The model is
// the normal with parameters (Pμ, P), P any symmetric matrix, for on a box each of them
// has a density; θ is not confined to a set of diameter A. The draws come from a normal
// restricted to the box. J is a sum by quadrature, without Monte Carlo error. The truth's
// columns depend on each other strongly and half of the cells are missing, else the
// bias of few draws would not show beside 1/n at these n.
package bound

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each n, r and replicate.
var Experiment = harness.Experiment{
	Name: "bound", Title: "The finite-sample theorem", Source: `Section "Finite Sample Bounds", theorem trunc-miss_score_finite_short`,
	Settings: config, Grid: grid, Figures: draw, Claims: statements,
}

// settings are one size of config.json.
type settings struct {
	Replicates int     `json:"replicates"`
	Seed       uint64  `json:"seed"`
	Columns    int     `json:"columns"`
	HalfWidth  float64 `json:"half_width"` // of the box; at most 1, beyond which g stops growing
	Mean       float64 `json:"mean"`       // of every column, before truncation
	Diagonal   float64 `json:"diagonal"`   // of the true precision, a chain
	Neighbour  float64 `json:"neighbour"`  // its entries beside the diagonal
	Missing    float64 `json:"missing"`
	Rows       []int   `json:"rows"`
	Draws      []int   `json:"draws"` // r = n comes to these
	ProposalSD float64 `json:"proposal_sd"`
	Gradient   float64 `json:"gradient"`   // largest entry at a minimum
	Iterations int     `json:"iterations"` // to reach it
	Nodes      int     `json:"nodes"`      // of the quadrature, in half a side of the box
	Diameter   float64 `json:"diameter"`   // A, for the theorem's rate
	Delta      float64 `json:"delta"`      // δ, likewise

	Ours []string `json:"ours"` // settings that the paper does not state: all
}

func read(raw json.RawMessage) (settings, error) {
	var s settings
	if err := harness.Decode(raw, &s); err != nil {
		return s, err
	}
	for _, v := range []struct {
		name string
		ok   bool
	}{
		{"replicates", s.Replicates > 0}, {"columns", 1 <= s.Columns && s.Columns <= 5}, {"half_width", 0 < s.HalfWidth && s.HalfWidth <= 1},
		{"missing", 0 <= s.Missing && s.Missing < 1}, {"rows", len(s.Rows) > 0 && slices.Min(s.Rows) > 1}, {"draws", len(s.Draws) > 0 && slices.Min(s.Draws) > 0},
		{"gradient", s.Gradient > 0}, {"iterations", s.Iterations > 0}, {"nodes", s.Nodes > 0}, {"diameter", s.Diameter > 0}, {"delta", 0 < s.Delta && s.Delta < 1},
	} {
		if !v.ok {
			return s, fmt.Errorf("settings: %q is missing or out of range", v.name)
		}
	}
	return s, nil
}

// Columns of the results.
const (
	rowsColumn       = "rows"
	drawsColumn      = "draws"
	replicateColumn  = "replicate"
	divergenceColumn = "divergence"
	rateColumn       = "theorem" // the theorem's rate without β
)

// grid crosses n with r, and with r = n. Replicates of 0 are the settings' own.
func grid(raw json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := read(raw)
	if err != nil {
		return cells.Grid{}, err
	}
	if replicates == 0 {
		replicates = s.Replicates
	}
	truth, err := s.truth()
	if err != nil {
		return cells.Grid{}, err
	}
	measure := newDivergence(natural(truth), s.box(), s.Missing, s.Nodes)
	g := cells.Grid{Key: []string{rowsColumn, drawsColumn, replicateColumn, "method"}, Value: []string{divergenceColumn, rateColumn}}
	for _, n := range s.Rows {
		draws := append(slices.Clone(s.Draws), n)
		slices.Sort(draws)
		for _, r := range slices.Compact(draws) {
			for replicate := 1; replicate <= replicates; replicate++ {
				g.Cells = append(g.Cells, cells.Cell{
					Key: []string{strconv.Itoa(n), strconv.Itoa(r), strconv.Itoa(replicate), "iw"},
					Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, truth, measure, n, r, replicate) },
				})
			}
		}
	}
	return g, nil
}

// run is one cell. Replicates of one n have the same table at each r; tables of
// different n are independent.
func (s settings) run(ctx context.Context, truth simulate.Gaussian, measure *divergence, n, r, replicate int) ([]string, error) {
	at := []uint64{uint64(n), uint64(replicate)}
	table, err := truth.SampleInside(s.box(), n, stream.New(s.Seed, append(at, stream.Simulate)...))
	if err != nil {
		return nil, err
	}
	if table, err = data.HideMCAR(table, s.Missing, stream.New(s.Seed, append(at, stream.Hide)...)); err != nil {
		return nil, err
	}
	m := model.NewGaussian(s.Columns, model.Natural)
	draws := stream.New(s.Seed, append(at, stream.Impute, uint64(r))...).Uint64()
	if err := s.minimise(ctx, table, m, r, draws); err != nil {
		return nil, err
	}
	// Four digits: the minimum is no more exact.
	return []string{fmt.Sprintf("%.4g", measure.of(m)), fmt.Sprintf("%.6g", s.rate(n, r))}, nil
}

// rate is the theorem's √(s log(d n r A/δ)/min{r, n}).
func (s settings) rate(n, r int) float64 {
	d := float64(s.Columns)
	parameters := d + d*(d+1)/2
	return math.Sqrt(parameters * math.Log(d*float64(n)*float64(r)*s.Diameter/s.Delta) / float64(min(n, r)))
}

// truth is a normal whose precision is a chain.
func (s settings) truth() (simulate.Gaussian, error) {
	p := mat.NewSymDense(s.Columns, nil)
	for j := range s.Columns {
		p.SetSym(j, j, s.Diagonal)
		if j > 0 {
			p.SetSym(j-1, j, s.Neighbour)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(p) {
		return simulate.Gaussian{}, fmt.Errorf("settings: a chain with diagonal %g and neighbours %g is not positive definite", s.Diagonal, s.Neighbour)
	}
	return simulate.Gaussian{Mean: slices.Repeat([]float64{s.Mean}, s.Columns), Precision: p}, nil
}

func (s settings) box() *domain.Domain {
	return &domain.Domain{Lower: slices.Repeat([]float64{-s.HalfWidth}, s.Columns), Upper: slices.Repeat([]float64{s.HalfWidth}, s.Columns)}
}

// natural is a model at the truth.
func natural(g simulate.Gaussian) *model.Gaussian {
	m := model.NewGaussian(len(g.Mean), model.Natural)
	m.SetPrecision(g.Precision) // its size is right
	m.SetMean(g.Mean)
	return m
}
