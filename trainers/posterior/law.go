package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmat"
	"gonum.org/v1/gonum/stat/distuv"
)

// moments are of the completed rows of one component.
type moments struct {
	rows    float64
	mean    []float64 // of the rows
	scatter []float64 // (d, d): Σ (z − z̄)(z − z̄)ᵀ + κn/(κ+n) z̄ z̄ᵀ
}

// law draws the parameters given completed rows and their components, with the rows' moments
// n_k, z̄_k and S_k (moments.scatter):
//
//	ν        given δ, the precisions integrated out:
//	         Π_k |νΔ|^(ν/2) Γ_d((ν + n_k)/2) / (Γ_d(ν/2) |S_k + νΔ|^((ν + n_k)/2)),   Δ = diag δ
//	P_k      Wishart(ν + n_k, (S_k + νΔ)⁻¹)
//	μ_k      N(n_k z̄_k/(κ + n_k), ((κ + n_k) P_k)⁻¹)
//	δ_j      Gamma(½ + Kν/2, rate ½ + ν Σ_k P_k,jj/2), above 0.001
//	w        Dirichlet(1/K + n_1, …, 1/K + n_K)
//
// It is not ok where a matrix is not positive definite in float64.
func (s *chain) law() (ok bool) {
	m := s.moments()
	if !s.drawNu(m) {
		return false
	}
	d := s.d
	own := make([]float64, d)
	for k := range s.components {
		c := &s.components[k]
		if !s.drawComponent(c, m[k]) {
			return false
		}
		for j := range d {
			own[j] += c.precision[j*d+j]
		}
	}
	for j := range d {
		s.delta[j] = s.gammaAbove(leastDelta, 0.5+float64(len(m))*s.nu/2, 0.5+s.nu*own[j]/2)
	}
	s.drawWeights(m)
	return true
}

func (s *chain) moments() []moments {
	d := s.d
	all := make([]moments, len(s.components))
	for k := range all {
		all[k].mean, all[k].scatter = make([]float64, d), make([]float64, d*d)
	}
	for i, k := range s.of {
		all[k].rows++
		floats.Add(all[k].mean, s.z[i*d:i*d+d])
	}
	for k := range all {
		floats.Scale(1/max(all[k].rows, 1), all[k].mean)
	}
	for i, k := range s.of {
		floats.SubTo(s.deviations, s.z[i*d:i*d+d], all[k].mean)
		for j, v := range s.deviations {
			floats.AddScaled(all[k].scatter[j*d+j:j*d+d], v, s.deviations[j:])
		}
	}
	for k := range all {
		a := &all[k]
		share := kappa * a.rows / (kappa + a.rows)
		for j, v := range a.mean {
			floats.AddScaled(a.scatter[j*d+j:j*d+d], share*v, a.mean[j:])
		}
	}
	return all
}

// scale is S_k + νΔ.
func (s *chain) scale(m moments, nu float64) *mat.SymDense {
	a := dense(slices.Clone(m.scatter), s.d)
	for j, v := range s.delta {
		a.SetSym(j, j, a.At(j, j)+nu*v)
	}
	return a
}

func (s *chain) drawNu(all []moments) (ok bool) {
	d := float64(s.d)
	sum := 0.0
	for _, v := range s.delta {
		sum += math.Log(v)
	}
	log := make([]float64, len(grid))
	var c mat.Cholesky
	for g := range grid {
		nu := grid[g] + d + 1
		for _, m := range all {
			if m.rows == 0 {
				continue
			}
			if !c.Factorize(s.scale(m, nu)) {
				return false
			}
			log[g] += nu/2*(sum+d*math.Log(nu)) + logGamma((nu+m.rows)/2, s.d) - logGamma(nu/2, s.d) - (nu+m.rows)/2*c.LogDet()
		}
	}
	s.nu = grid[s.pick(log)] + d + 1
	return true
}

// logGamma is the log of the multivariate gamma function Γ_d(x), up to π^(d(d−1)/4).
func logGamma(x float64, d int) (sum float64) {
	for j := range d {
		v, _ := math.Lgamma(x - float64(j)/2)
		sum += v
	}
	return sum
}

func (s *chain) drawComponent(c *component, m moments) (ok bool) {
	var scale mat.Cholesky
	if !scale.Factorize(s.scale(m, s.nu)) {
		return false
	}
	var inverse mat.SymDense
	if scale.InverseTo(&inverse) != nil {
		return false
	}
	w, ok := distmat.NewWishart(&inverse, s.nu+m.rows, s.rng.Rand)
	if !ok {
		return false
	}
	var p mat.Cholesky
	w.RandCholTo(&p)
	p.ToSym(dense(c.precision, s.d))
	if p.InverseTo(dense(c.covariance, s.d)) != nil {
		return false
	}
	mirror(c.precision, s.d)
	mirror(c.covariance, s.d)
	var f factor
	if !f.of(c.covariance, s.d, s.every) {
		return false
	}
	z := make([]float64, s.d)
	for j := range z {
		z[j] = s.rng.NormFloat64()
	}
	f.times(z)
	for j := range z {
		c.mean[j] = m.mean[j]*m.rows/(kappa+m.rows) + z[j]/math.Sqrt(kappa+m.rows)
	}
	return true
}

// mirror completes a symmetric matrix (d, d) that has its upper triangle.
func mirror(a []float64, d int) {
	for j := range d {
		for k := range j {
			a[j*d+k] = a[k*d+j]
		}
	}
}

func (s *chain) drawWeights(all []moments) {
	each := concentration / float64(len(all))
	sum := 0.0
	for k := range all {
		w := s.gamma(each+all[k].rows, 1) + math.SmallestNonzeroFloat64
		s.components[k].log = math.Log(w)
		sum += w
	}
	for k := range s.components {
		s.components[k].log -= math.Log(sum)
	}
}

func (s *chain) gamma(shape, rate float64) float64 {
	return distuv.Gamma{Alpha: shape, Beta: rate, Src: s.rng.Rand}.Rand()
}

// gammaAbove is a gamma variate given that it is above least: by rejection, by its quantile
// where that fails, and far out, where the tail is an exponential's, by that.
func (s *chain) gammaAbove(least, shape, rate float64) float64 {
	g := distuv.Gamma{Alpha: shape, Beta: rate, Src: s.rng.Rand}
	if v := g.Rand(); v > least {
		return v
	}
	if above := g.Survival(least); above > 1e-9 {
		return max(least, g.Quantile(1-above*s.rng.Float64()))
	}
	return least + s.rng.ExpFloat64()/(rate-(shape-1)/least)
}

// pick draws a place with the probabilities exp(log), up to a factor; log is overwritten.
func (s *chain) pick(log []float64) int {
	top, sum := floats.Max(log), 0.0
	for k, v := range log {
		log[k] = math.Exp(v - top)
		sum += log[k]
	}
	u := s.rng.Float64() * sum
	for k, v := range log {
		if u -= v; u < 0 {
			return k
		}
	}
	return floats.MaxIdx(log)
}
