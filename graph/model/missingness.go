package model

import (
	"errors"
	"slices"

	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph"
)

// Missingness is a given mechanism φ_Λ(x): the probability that exactly the cells Λ of a row x are
// observed, up to factors that do not depend on x (paper, appendix "Missing not at Random Data").
// Exported fields must be JSON-encodable: they identify the mechanism when a run is resumed.
type Missingness interface {
	// Evaluate adds log φ_Λ and its x-derivatives at rows x (n, d) with mask Λ (n, d).
	Evaluate(b *graph.Builder, x, mask graph.Node) Evaluation
}

// Joint is the density q_θ(x) φ_Λ(x) of a row and its pattern, with score s_θ + ∇log φ_Λ and
// diagonal D_θ + ∂²_jj log φ_Λ, as far as both factors have them.
type Joint struct {
	Model
	Missingness Missingness
}

func (j *Joint) WithMask(mask graph.Node) Model { return given{j, mask} }

// Omitting φ would bias the fit.
func (j *Joint) Evaluate(b *graph.Builder, _ graph.Node) Evaluation {
	b.Fail(errors.New("a model with missingness needs the mask of observed cells: use its WithMask, or the model without missingness"))
	return Evaluation{}
}

type given struct {
	*Joint
	mask graph.Node
}

func (j *Joint) Support() *domain.Domain { return SupportOf(j.Model) }

func (g given) Evaluate(b *graph.Builder, x graph.Node) Evaluation {
	m := g.Model
	if p, ok := m.(MaskConditional); ok {
		m = p.WithMask(g.mask)
	}
	q, phi := m.Evaluate(b, x), g.Missingness.Evaluate(b, x, g.mask)
	sum := func(x, y graph.Node) graph.Node {
		if x == nil || y == nil {
			return nil
		}
		return b.Add(x, y)
	}
	t := Evaluation{LogDensity: sum(q.LogDensity, phi.LogDensity), Score: sum(q.Score, phi.Score), Diagonal: sum(q.Diagonal, phi.Diagonal)}
	if q.HessianProduct != nil && phi.HessianProduct != nil {
		t.HessianProduct = func(v graph.Node) graph.Node { return b.Add(q.HessianProduct(v), phi.HessianProduct(v)) }
	}
	return t
}

// Observing returns a MaskConditional model with fixed masks (n, d), reused cyclically: for checks.
func Observing(m MaskConditional, mask []float64) Model { return observing{m, mask} }

type observing struct {
	MaskConditional
	mask []float64
}

func (o observing) Evaluate(b *graph.Builder, x graph.Node) Evaluation {
	n, d := graph.Shape(x)
	mask := graph.NewParam("mask", n, d)
	mask.Fixed = true
	copy(mask.Value, slices.Repeat(o.mask, n*d/len(o.mask)+1))
	return o.WithMask(b.Param(mask)).Evaluate(b, x)
}

// LogisticMissingness is log φ_Λ = Σ_j log σ(t_j) of missingness.Logistic: η = a + Bx, t_j = η_j
// for j ∈ Λ and −η_j otherwise. Columns without a regression have a constant factor ½.
type LogisticMissingness struct {
	Intercept *graph.Param // a (1, d)
	Slope     *graph.Param // B (d, d)
}

// NewLogisticMissingness copies l, in the units of the model's rows.
func NewLogisticMissingness(l *missingness.Logistic) *LogisticMissingness {
	d := len(l.Intercept)
	m := &LogisticMissingness{graph.NewParam("intercept of missingness", 1, d), graph.NewParam("slope of missingness", d, d)}
	for j, a := range l.Intercept {
		if l.Concerns(j) {
			m.Intercept.Value[j] = a
			copy(m.Slope.Value[j*d:], l.Slope.RawRowView(j))
		}
	}
	return m
}

// MissingnessOf returns φ of a mechanism; nil without regressions: thresholds act through the support.
func MissingnessOf(m *missingness.Model) Missingness {
	if m == nil || m.Logistic == nil {
		return nil
	}
	return NewLogisticMissingness(m.Logistic)
}

func (l *LogisticMissingness) Evaluate(b *graph.Builder, x, mask graph.Node) Evaluation {
	sign := b.Sub(mask, b.Map(graph.Complement, mask))
	eta := b.AddRow(b.MatMul(false, true, x, b.Param(l.Slope)), b.Param(l.Intercept))
	return Derive(b, x, b.RowSum(b.Map(graph.LogLogistic, b.Prod(sign, eta))))
}
