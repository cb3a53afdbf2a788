package bound

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"missingscore/data/domain"
	"missingscore/graph/model"
)

// divergence is the marginal truncated Fisher divergence of normal models to a normal
// truth, both model.Natural and on a box, where each cell is missing with probability p:
//
//	J(θ) = Σ_Λ P(Λ) E Σ_{j∈Λ} g_Λj(x_Λ) (s_Λ(x_Λ)_j − s_Λ;θ(x_Λ)_j)²
//
// (paper, "Truncated Score Matching" of section "Marginal Score Matching"), with the
// marginal score s_Λ(x_Λ)_j = ∫q(x)s(x)_j dx_−Λ / ∫q(x) dx_−Λ. All integrals are Gauss-
// Legendre sums over one grid of the box, on either side of its middle, where
// g = min(1, distance to the bounds) has its kink.
type divergence struct {
	support  *domain.Domain
	missing  float64
	d, side  int
	at       []float64 // (side^d, d)
	patterns []pattern
}

// pattern is what a set of observed columns has of its own.
type pattern struct {
	mask   []float64
	share  float64   // P(Λ)
	place  []int     // (side^d): of a node's x_Λ among all
	mass   []float64 // by place: density of x_Λ times weight
	scores []float64 // (places, d): of the truth
	g      []float64 // (places, d)
	unseen []float64 // (side^d): weight of a node's x_−Λ
}

// newDivergence has 2·nodes nodes along each coordinate. The support must be a box not
// wider than 2, or g would have further kinks.
func newDivergence(truth *model.Gaussian, support *domain.Domain, missing float64, nodes int) *divergence {
	d := truth.Dim()
	v := &divergence{support: support, missing: missing, d: d, side: 2 * nodes}
	x, w := make([]float64, v.side*d), make([]float64, v.side*d)
	for j := range d {
		low, high := support.Lower[j], support.Upper[j]
		middle := (low + high) / 2
		own := j * v.side
		quad.Legendre{}.FixedLocations(x[own:own+nodes], w[own:own+nodes], low, middle)
		quad.Legendre{}.FixedLocations(x[own+nodes:own+v.side], w[own+nodes:own+v.side], middle, high)
	}
	total := int(math.Pow(float64(v.side), float64(d)))
	v.at = make([]float64, total*d)
	for i := range total {
		for j, rest := 0, i; j < d; j, rest = j+1, rest/v.side {
			v.at[i*d+j] = x[j*v.side+rest%v.side]
		}
	}
	for set := 1; set < 1<<d; set++ {
		v.patterns = append(v.patterns, v.newPattern(set, w, total))
	}
	for k := range v.patterns {
		p := &v.patterns[k]
		mass, scores := v.marginal(truth, p)
		floats.Mul(p.mass, mass)
		floats.Scale(1/floats.Sum(p.mass), p.mass)
		p.scores = scores
	}
	return v
}

// newPattern observes column j where bit j of set is 1; its masses are weights only.
func (v *divergence) newPattern(set int, w []float64, total int) pattern {
	p := pattern{mask: make([]float64, v.d), share: 1, place: make([]int, total), unseen: make([]float64, total)}
	places := 1
	for j := range v.d {
		if set>>j&1 == 1 {
			p.mask[j], p.share, places = 1, p.share*(1-v.missing), places*v.side
		} else {
			p.share *= v.missing
		}
	}
	p.mass, p.g = make([]float64, places), make([]float64, places*v.d)
	slope := make([]float64, v.d)
	var tangent domain.Tangent
	for i := range total {
		seen, unseen := 1.0, 1.0
		stride := 1
		for j, rest := 0, i; j < v.d; j, rest = j+1, rest/v.side {
			own := w[j*v.side+rest%v.side]
			if p.mask[j] == 0 {
				unseen *= own
				continue
			}
			seen *= own
			p.place[i] += rest % v.side * stride
			stride *= v.side
		}
		p.mass[p.place[i]], p.unseen[i] = seen, unseen
		k := p.place[i] * v.d
		domain.Weight{}.At(v.support, v.at[i*v.d:(i+1)*v.d], p.mask, p.g[k:k+v.d], slope, &tangent)
	}
	return p
}

// marginal is ∫q dx_−Λ at each place and the marginal score there.
func (v *divergence) marginal(m *model.Gaussian, p *pattern) (mass, scores []float64) {
	precision, linear := m.Precision(), m.Location.Value
	mass, scores = make([]float64, len(p.mass)), make([]float64, len(p.g))
	s := make([]float64, v.d)
	for i, k := range p.place {
		x := v.at[i*v.d : (i+1)*v.d]
		exponent := 0.0
		for j := range s {
			s[j] = linear[j]
			for l := range x {
				s[j] -= precision.At(j, l) * x[l]
			}
			exponent += 0.5 * x[j] * (s[j] + linear[j])
		}
		q := p.unseen[i] * math.Exp(exponent)
		mass[k] += q
		floats.AddScaled(scores[k*v.d:(k+1)*v.d], q, s)
	}
	for k, q := range mass {
		floats.Scale(1/q, scores[k*v.d:(k+1)*v.d])
	}
	return mass, scores
}

// of is J at the model's present parameters.
func (v *divergence) of(m *model.Gaussian) (sum float64) {
	for k := range v.patterns {
		p := &v.patterns[k]
		_, scores := v.marginal(m, p)
		for place, mass := range p.mass {
			for j := place * v.d; j < (place+1)*v.d; j++ {
				gap := p.scores[j] - scores[j]
				sum += p.share * mass * p.g[j] * gap * gap
			}
		}
	}
	return sum
}
