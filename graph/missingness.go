package graph

import (
	"errors"
	"slices"
)

// Missingness is a known model of what is missing: φ_Λ(x), the probability that of a
// row x exactly the cells Λ are observed (paper, appendix "Missing not at Random
// Data"). Factors that do not depend on x do not count, nor does φ depend on θ. Its
// exported fields tell one from another when a run is resumed, so encoding/json must
// be able to write them.
type Missingness interface {
	// Terms adds log φ_Λ and its x-derivatives at the rows of x (n, d), Λ given by
	// mask (n, d), 1 = observed.
	Terms(b *Builder, x, mask Node) Terms
}

// Joint is the density q_θ(x) φ_Λ(x) of a row and its pattern. Its score is s_θ + ∇log φ_Λ
// and its diagonal D_θ + ∂²_jj log φ_Λ, in weights, objectives and imputers alike. Rows
// with nothing observed say nothing about θ; rows with nothing missing do, for φ_Λ
// weighs them too. Terms without Given fail: leaving φ out in silence would be the very
// bias it is there against.
type Joint struct {
	Model
	Missingness Missingness
}

// Given implements Patterned.
func (j *Joint) Given(mask Node) Model { return given{j, mask} }

// Terms implements Model: it fails.
func (j *Joint) Terms(b *Builder, _ Node) Terms {
	b.Fail(errors.New("a model with missingness needs to know which cells were observed (graph.Patterned): use its Given, or the model without missingness"))
	return Terms{}
}

// given is a Joint of rows with known masks.
type given struct {
	*Joint
	mask Node
}

// Terms implements Model.
func (g given) Terms(b *Builder, x Node) Terms {
	m := g.Model
	if p, ok := m.(Patterned); ok {
		m = p.Given(g.mask)
	}
	q, phi := m.Terms(b, x), g.Missingness.Terms(b, x, g.mask)
	t := Terms{Score: b.Add(q.Score, phi.Score)}
	if q.LogDensity != nil {
		t.LogDensity = b.Add(q.LogDensity, phi.LogDensity)
	}
	if q.Diagonal != nil {
		t.Diagonal = b.Add(q.Diagonal, phi.Diagonal)
	}
	if q.HessianProduct != nil {
		t.HessianProduct = func(v Node) Node { return b.Add(q.HessianProduct(v), phi.HessianProduct(v)) }
	}
	return t
}

// Observing is a patterned model at rows of fixed masks (n, d), one after the other and
// again from the first: for checks of its terms.
func Observing(m Patterned, mask []float64) Model { return observing{m, mask} }

type observing struct {
	Patterned
	mask []float64
}

// Terms implements Model.
func (o observing) Terms(b *Builder, x Node) Terms {
	n, d := shape(x)
	mask := NewParam("mask", n, d)
	mask.Fixed = true
	copy(mask.Value, slices.Repeat(o.mask, n*d/len(o.mask)+1))
	return o.Given(b.Param(mask)).Terms(b, x)
}
