package losses

import (
	"errors"
	"fmt"
	"slices"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/gaussian"
)

// ErrNotPositiveDefinite means that a conditional distribution does not exist.
var ErrNotPositiveDefinite = gaussian.ErrNotPositiveDefinite

// GaussianMarginal is the marginal loss (M) of a normal model in closed form, without draws
// (docs/theory/gaussian.md#eq-gaussian-marginal): with Q = Σ_ΛΛ⁻¹ = P_oo − P_om P_mm⁻¹ P_mo,
//
//	ℓ_i = −2 tr Q + ‖Q(x_Λ − μ_Λ)‖²
//
// It fails if P_mm is not positive definite.
var GaussianMarginal Loss = gaussianMarginal{}

type gaussianMarginal struct{}

func (gaussianMarginal) Name() string { return "gaussian-marginal" }
func (gaussianMarginal) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MCAR}
}

func (gaussianMarginal) Check(m model.Model, o Objective) error {
	if err := (gaussianComplete{}).Check(m, o); err != nil {
		return err
	}
	n, _ := model.AsNormal(m)
	if _, err := graph.Build(func(b *graph.Builder) { b.Output("mean", b.Scale(1, n.MeanNode(b))) }); err != nil {
		return fmt.Errorf("the closed form needs the mean: %w", err)
	}
	return nil
}

func (l gaussianMarginal) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, _ Weighting) Result {
	g, ok := model.AsNormal(m)
	if !ok {
		b.Fail(l.Check(m, o))
	}
	k := gaussian.NewMarginal(g.Dim(), algebra(b))
	loss := closedForm(b, "gaussian marginal", g.Dim(), k.ByMean, k.ByP, g.MeanNode(b), g.PrecisionNode(b), rows, func(mu, p, x, mask, weight []float64) (float64, error) {
		return k.Loss(mu, p, x, mask, weight)
	})
	return Result{Surrogate: loss, Reported: loss}
}

// GaussianComplete is the complete-data equation of a normal model in closed form, without draws
// (docs/theory/complete-data.md#eq-em-exact): with x̂_i the row completed by its conditional mean
// and C_i the conditional covariance of its missing cells, 0 elsewhere, both at the current
// parameters and held constant in the gradient,
//
//	ψ_i = −2 tr P + ‖P(x̂_i − μ)‖² + tr(P C_i P)
//
// Its root is the maximum of the observed-data likelihood: P the inverse of the mean of
// (x̂−μ)(x̂−μ)ᵀ + C, and μ the mean of x̂. It is valid under MAR. It is not the gradient of a
// function. It fails if P is not positive definite.
var GaussianComplete Loss = gaussianComplete{}

type gaussianComplete struct{}

func (gaussianComplete) Name() string { return "gaussian-complete" }
func (gaussianComplete) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MAR, Mean: true, Equation: true, Moments: true}
}

func (gaussianComplete) Check(m model.Model, o Objective) error {
	if _, ok := model.AsNormal(m); !ok {
		return errors.New("the closed form exists for normal models only")
	}
	if o != Classical {
		return errors.New("the closed form exists for the classical objective only")
	}
	return nil
}

// NewExpectation makes the E steps of GaussianComplete for d columns, without a graph.
func NewExpectation(d int) (*gaussian.Expectation, error) {
	multiply, err := graph.NewProduct()
	return gaussian.NewExpectation(d, algebraOf(multiply)), err
}

func (l gaussianComplete) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, _ Weighting) Result {
	g, ok := model.AsNormal(m)
	if !ok {
		b.Fail(l.Check(m, o))
	}
	d := g.Dim()
	k := gaussian.NewExpectation(d, algebra(b))
	byEta, byP := make([]float64, d), make([]float64, d*d)
	var of gaussian.RowPatterns
	var ofMask, ofWeight []float64
	loss := closedForm(b, "gaussian complete", d, byEta, byP, g.LinearNode(b), g.PrecisionNode(b), rows, func(eta, p, x, mask, weight []float64) (float64, error) {
		if !slices.Equal(ofWeight, weight) || !slices.Equal(ofMask, mask) {
			ofMask, ofWeight = append(ofMask[:0], mask...), append(ofWeight[:0], weight...)
			of.Find(mask, weight)
		}
		if err := k.Over(eta, p, x, mask, weight, &of, nil); err != nil {
			return 0, err
		}
		return k.Gradient(byEta, byP), nil
	})
	return Result{Surrogate: loss, Reported: loss}
}

func closedForm(b *graph.Builder, name string, d int, byLocation, byP []float64, location, p graph.Node, rows Rows, run func(location, p, x, mask, weight []float64) (float64, error)) graph.Node {
	return b.Apply(graph.Op{Name: name,
		Kernel: func(out []float64, in [][]float64) (err error) {
			out[0], err = run(in[0], in[1], in[2], in[3], in[4])
			return err
		},
		Constant: []bool{false, false, true, true, true},
		Reverse: func(out, gr graph.Node) []graph.Node {
			return []graph.Node{gradientOf(b, name+"'", 1, d, byLocation, out, gr), gradientOf(b, name+"'", d, d, byP, out, gr), nil, nil, nil}
		}}, location, p, rows.X, rows.Mask, rows.Weight)
}

func gradientOf(b *graph.Builder, name string, rows, cols int, side []float64, out, gr graph.Node) graph.Node {
	return b.Apply(graph.Op{Name: name, Rows: rows, Cols: cols,
		Kernel: func(o []float64, in [][]float64) error {
			for i, v := range side {
				o[i] = in[1][0] * v
			}
			return nil
		}}, out, gr)
}

// algebra returns the dense routines in use: OpenBLAS or gonum.
func algebra(b *graph.Builder) gaussian.Algebra {
	multiply, err := graph.NewProduct()
	if err != nil {
		b.Fail(err)
	}
	return algebraOf(multiply)
}

func algebraOf(multiply graph.Product[float64]) gaussian.Algebra {
	return gaussian.Algebra{Multiply: multiply, Factor: graph.Factor, Invert: graph.InvertFactor}
}
