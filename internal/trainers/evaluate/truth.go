// Package evaluate compares a fit with a known truth.
package evaluate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
)

// FisherDivergence is E‖s_θ(x) − s(x)‖² over a fixed sample x of the true distribution; units 1/x².
type FisherDivergence struct {
	program *graph.Program
	n       int
}

// NewFisherDivergence compares m with truth; sample (n, d) are independent draws of the truth, not
// used in the fit.
func NewFisherDivergence(m, truth model.Model, sample []float64) (*FisherDivergence, error) {
	d := m.Dim()
	n := len(sample) / d
	if truth.Dim() != d || n < 2 || n*d != len(sample) {
		return nil, fmt.Errorf("the truth has %d columns and %d numbers, which do not fit a model of %d columns", truth.Dim(), len(sample), d)
	}
	p, err := graph.Build(func(b *graph.Builder) {
		x := b.Input("x", n, d)
		gap := b.Sub(m.Evaluate(b, x).Score, truth.Evaluate(b, x).Score)
		b.Output("square", b.RowSum(b.Map(graph.Square, gap)))
	})
	if err != nil {
		return nil, err
	}
	copy(p.Input("x"), sample)
	return &FisherDivergence{p, n}, nil
}

// Value returns the divergence with its standard error.
func (f *FisherDivergence) Value() (mean, se float64, err error) {
	if err := f.program.Run(); err != nil {
		return 0, 0, err
	}
	mean, sd := stat.MeanStdDev(f.program.Output("square"), nil)
	return mean, stat.StdErr(sd, float64(f.n)), nil
}

// GaussianFisher is the divergence of two normals on R^d in closed form: tr((P−P*)Σ*(P−P*)) +
// ‖P(μ−μ*)‖², with stars for the truth. It fails if P* is not positive definite.
func GaussianFisher(m, truth model.Normal) (float64, error) {
	p, star := m.Precision(), truth.Precision()
	var gap mat.SymDense
	gap.ScaleSym(-1, star)
	gap.AddSym(&gap, p)
	var chol mat.Cholesky
	if !chol.Factorize(star) {
		return math.NaN(), fmt.Errorf("the true precision is not positive definite")
	}
	var x, prod mat.Dense
	if err := chol.SolveTo(&x, &gap); err != nil && !errors.As(err, new(mat.Condition)) {
		return math.NaN(), err
	}
	prod.Mul(&gap, &x)
	shift := floats.SubTo(make([]float64, m.Dim()), m.Mean(), truth.Mean())
	var ps mat.VecDense
	ps.MulVec(p, mat.NewVecDense(len(shift), shift))
	return mat.Trace(&prod) + mat.Dot(&ps, &ps), nil
}

// Truth is a known distribution. Either part may be nil.
type Truth struct {
	Model  model.Model // reference of Fisher divergence and errors
	Sample []float64   // (n, d): draws of Model; nil: Fisher divergence of two normals in closed form, else none

	// View and Scale convert fits of standardised columns to the truth's units. A model.Parametric
	// view copies the fit's quantities and is rescaled; any other view reads the fit's own
	// parameters.
	View  model.Model
	Scale data.Scale

	Unknown []string // unknown quantities of Model
}

type Error struct {
	Name  string
	Value float64
}

type Comparison struct {
	truth  *Truth
	fitted model.Model
	fisher *FisherDivergence
}

// Follow returns a Comparison of m.
func (t *Truth) Follow(m model.Model) (*Comparison, error) {
	c := &Comparison{truth: t, fitted: m}
	if t.Sample == nil {
		return c, nil
	}
	seen := m
	if t.View != nil {
		seen = t.View
	}
	var err error
	c.fisher, err = NewFisherDivergence(seen, t.Model, t.Sample)
	return c, err
}

// Errors returns the Fisher divergence and, for each common quantity, the Frobenius norm of its
// error.
func (c *Comparison) Errors() (out []Error, err error) {
	got, parametric := c.fitted.(model.Parametric)
	if v, ok := c.truth.View.(model.Parametric); ok && parametric {
		if err := v.SetQuantities(got.Quantities()); err != nil {
			return nil, err
		}
		if err := v.Rescale(c.truth.Scale.Mean, c.truth.Scale.Deviation); err != nil {
			return nil, err
		}
		got = v
	}
	if c.fisher != nil {
		mean, se, err := c.fisher.Value()
		if err != nil {
			return nil, err
		}
		out = append(out, Error{"fisher_divergence", mean}, Error{"fisher_divergence_se", se})
	} else if g, ok := model.AsNormal(got); ok && len(c.truth.Unknown) == 0 {
		if truth, ok := model.AsNormal(c.truth.Model); ok {
			exact, err := GaussianFisher(g, truth)
			if err != nil {
				return nil, err
			}
			out = append(out, Error{"fisher_divergence", exact}, Error{"fisher_divergence_se", 0})
		}
	}
	want, also := c.truth.Model.(model.Parametric)
	if !parametric || !also {
		return out, nil
	}
	for _, w := range want.Quantities() {
		for _, g := range got.Quantities() {
			if g.Name == w.Name && !slices.Contains(c.truth.Unknown, w.Name) {
				out = append(out, Error{g.Name + "_error", floats.Distance(g.Value, w.Value, 2)})
			}
		}
	}
	return out, nil
}
