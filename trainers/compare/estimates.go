package compare

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data/network"
	"missingscore/trainers"
	"missingscore/trainers/inference"
)

// Estimates compares the estimates of a pair that were made for inference, by their own
// uncertainty and without permutations: it holds where groups differ in their gaps.
type Estimates struct {
	Estimate  [2]float64
	Value     float64 // their difference
	Low, High float64
	P, Q      float64 // NaN without standard errors
}

// estimates fills in what the uncertainties of the two networks tell.
func (r *Result) estimates(networks [2]*trainers.Result) {
	a, b := networks[0].Network.Network.Pairs, networks[1].Network.Network.Pairs
	if a == nil || b == nil {
		return
	}
	p := make([]float64, len(r.Pairs))
	for i := range r.Pairs {
		e := between(*a[i].Uncertainty, *b[i].Uncertainty)
		r.Pairs[i].Estimates, p[i] = &e, e.P
	}
	for i, q := range inference.BenjaminiHochberg(p) {
		r.Pairs[i].Estimates.Q = q
	}
}

// between compares two independent estimates r₁, r₂ of partial correlations. Where both have
// standard errors, on Fisher's scale
//
//	z = (atanh r₁ − atanh r₂) / √(se₁²/(1 − r₁²)² + se₂²/(1 − r₂²)²),   p = 2 Φ(−|z|)
//
// and the interval of the difference is made of those of the two, (l₁, u₁) and (l₂, u₂),
// which need not be symmetric (Zou 2007, Psychological Methods 12):
//
//	r₁ − r₂ − √((r₁ − l₁)² + (u₂ − r₂)²)  to  r₁ − r₂ + √((u₁ − r₁)² + (r₂ − l₂)²)
func between(a, b network.Uncertainty) Estimates {
	nan := math.NaN()
	e := Estimates{Estimate: [2]float64{a.Estimate, b.Estimate}, Value: a.Estimate - b.Estimate, Low: nan, High: nan, P: nan, Q: nan}
	e.Low = e.Value - math.Hypot(a.Estimate-a.Low, b.High-b.Estimate)
	e.High = e.Value + math.Hypot(a.High-a.Estimate, b.Estimate-b.Low)
	if !(math.Abs(a.Estimate) < 1) || !(math.Abs(b.Estimate) < 1) || !(a.SE > 0) || !(b.SE > 0) || math.IsInf(a.SE+b.SE, 1) {
		return e
	}
	spread := math.Hypot(a.SE/(1-a.Estimate*a.Estimate), b.SE/(1-b.Estimate*b.Estimate))
	e.P = 2 * distuv.UnitNormal.CDF(-math.Abs(math.Atanh(a.Estimate)-math.Atanh(b.Estimate))/spread)
	return e
}
