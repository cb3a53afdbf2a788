package posterior

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/stream"
)

type moments struct {
	rows    float64
	scatter []float64 // (d, d): S = Σ (z − μ)(z − μ)ᵀ about the component's current mean
}

// law draws the parameters given completed rows and their components, with n_k rows of scatter S_k
// about the mean; drawMeans draws the means of components with rows:
//
//	ν        given μ, Ψ, the precisions integrated out:
//	         Π_k |νΨ|^(ν/2) Γ_d((ν + n_k)/2) / (Γ_d(ν/2) |S_k + νΨ|^((ν + n_k)/2))
//	P_k      Wishart(ν + n_k, (S_k + νΨ)⁻¹)
//	Ψ        Wishart(λ + Kν, (λΣ̂⁻¹/δ + ν Σ_k P_k)⁻¹), restricted to its domain
//	1/δ      Gamma(½ + λd/2, rate ½ + λ tr(Σ̂⁻¹Ψ)/2)
//	1/τ      Gamma(1 + Kd/2, rate 1 + Σ_k (μ_k − μ̂)ᵀΣ̂⁻¹(μ_k − μ̂)/2)
//	w        Dirichlet(1/K + n_1, …, 1/K + n_K)
//
// One normal has no anchor, and Ψ is diagonal,
//
//	Ψ_jj     Gamma(½ + bν/2, rate ½ + ν Σ P_jj/2), above 0.001, equal and summed over a column's b numbers
//
// Components without rows are integrated out before the weights and then drawn from the prior.
func (s *chain) law() {
	all := momentsOf(s.z, s.of, s.components)
	var occupied, empty []int
	for k, m := range all {
		if m.rows > 0 {
			occupied = append(occupied, k)
		} else {
			empty = append(empty, k)
		}
	}
	s.drawNu(all)
	s.drawPrecisions(all, occupied)
	s.drawPsi(occupied)
	s.drawPrecisions(all, empty)
	for _, k := range empty {
		s.drawMean(&s.components[k], make([]float64, s.d*s.d), make([]float64, s.d))
	}
	log, sum := s.mixture.LogWeights, 0.0
	for k, m := range all {
		w := gamma(s.rng.Rand, concentration/float64(len(all))+m.rows, 1) + math.SmallestNonzeroFloat64
		log[k] = math.Log(w)
		sum += w
	}
	floats.AddConst(-math.Log(sum), log)
}

func momentsOf(z []float64, of []int, components []component) []moments {
	d := len(components[0].mean)
	all := make([]moments, len(components))
	for k := range all {
		all[k].scatter = make([]float64, d*d)
	}
	deviations := make([]float64, d)
	for i, k := range of {
		m, row := &all[k], z[i*d:i*d+d]
		m.rows++
		floats.SubTo(deviations, row, components[k].mean)
		for j, v := range deviations {
			floats.AddScaled(m.scatter[j*d+j:j*d+d], v, deviations[j:])
		}
	}
	return all
}

func scale(m moments, psi []float64, nu float64) []float64 {
	return floats.AddScaledTo(make([]float64, len(psi)), m.scatter, nu, psi)
}

func (s *chain) drawNu(all []moments) {
	d := float64(s.d)
	var f factor
	f.must(s.psi, s.d, s.every)
	own := 2 * f.logDet
	log := make([]float64, len(grid))
	for g := range grid {
		nu := grid[g] + d + 1
		none := mathext.MvLgamma(nu/2, s.d)
		for _, m := range all {
			if m.rows == 0 {
				continue
			}
			f.must(scale(m, s.psi, nu), s.d, s.every)
			log[g] += nu/2*(own+d*math.Log(nu)) + mathext.MvLgamma((nu+m.rows)/2, s.d) - none - (nu+m.rows)*f.logDet
		}
	}
	s.nu = grid[pick(s.rng.Rand, log)] + d + 1
}

func (s *chain) drawPrecisions(all []moments, some []int) {
	for _, k := range some {
		s.wishart(scale(all[k], s.psi, s.nu), s.nu+all[k].rows, s.components[k].precision)
	}
}

// drawMean draws from the prior times exp(−½μᵀAμ + bᵀμ), A = inverse and b = weighted, which it
// overwrites.
func (s *chain) drawMean(c *component, inverse, weighted []float64) {
	if s.anchor != nil {
		floats.AddScaled(inverse, 1/s.tau, s.anchor.precision)
		for j := range weighted {
			weighted[j] += floats.Dot(s.anchor.precision[j*s.d:j*s.d+s.d], s.anchor.mean) / s.tau
		}
	}
	var f factor
	f.must(inverse, s.d, s.every)
	f.forward(weighted)
	for j := range weighted {
		weighted[j] += s.rng.NormFloat64()
	}
	f.backward(weighted)
	copy(c.mean, weighted)
}

// drawPsi draws Ψ, with an anchor also δ and τ.
func (s *chain) drawPsi(occupied []int) {
	d, k := s.d, float64(len(occupied))
	scale := make([]float64, d*d)
	for _, k := range occupied {
		floats.AddScaled(scale, s.nu, s.components[k].precision)
	}
	if s.anchor == nil {
		for _, c := range s.columns {
			sum := 0.0
			for _, j := range s.every[c.first : c.first+c.width] {
				sum += scale[j*d+j]
			}
			psi := gammaAbove(s.rng.Rand, leastPsi, 0.5+float64(c.width)*k*s.nu/2, 0.5+sum/2)
			for _, j := range s.every[c.first : c.first+c.width] {
				s.psi[j*d+j] = psi
			}
		}
		return
	}
	lambda := float64(d + anchorRows)
	floats.AddScaled(scale, lambda/s.delta, s.anchor.precision)
	psi, inverse := make([]float64, d*d), mat.NewSymDense(d, nil)
	var c mat.Cholesky
	s.wishart(scale, lambda+k*s.nu, psi)
	if !c.Factorize(dense(psi, d)) || c.InverseTo(inverse) != nil {
		panic(errDependent)
	}
	inside := true
	for j := range d {
		inside = inside && inverse.At(j, j)*leastShare < s.anchor.precision[j*d+j]
	}
	if inside { // else Ψ stays: a Metropolis step with the unrestricted conditional as proposal
		s.psi = psi
	}
	s.delta = 1 / gamma(s.rng.Rand, 0.5+lambda*float64(d)/2, 0.5+lambda*floats.Dot(s.anchor.precision, s.psi)/2)
	far, square := make([]float64, d), 0.0
	for _, k := range occupied {
		floats.SubTo(far, s.components[k].mean, s.anchor.mean)
		for j, v := range far {
			square += v * floats.Dot(s.anchor.precision[j*d:j*d+d], far)
		}
	}
	s.tau = 1 / gamma(s.rng.Rand, 1+float64(len(occupied)*d)/2, 1+square/2)
}

// wishart draws W ~ Wishart(freedom, B⁻¹), by B = LLᵀ and Bartlett's decomposition:
//
//	W = MMᵀ, M = L⁻ᵀU, U_ij ~ N(0, 1) for i < j, U_jj² ~ χ² with freedom − d + 1 + j degrees of freedom, j from 0
func (s *chain) wishart(b []float64, freedom float64, w []float64) {
	var f factor
	d := s.d
	f.must(b, d, s.every)
	clear(w)
	for j := range d {
		column := make([]float64, d) // of M
		for i := range j {
			column[i] = s.rng.NormFloat64()
		}
		column[j] = math.Sqrt(gamma(s.rng.Rand, (freedom-float64(d-1-j))/2, 0.5))
		f.backward(column)
		for i, v := range column[:j+1] {
			floats.AddScaled(w[i*d+i:i*d+j+1], v, column[i:j+1])
		}
	}
	mirror(w, d)
}

func mirror(a []float64, d int) {
	for j := range d {
		for k := range j {
			a[j*d+k] = a[k*d+j]
		}
	}
}

func gamma(rng *rand.Rand, shape, rate float64) float64 {
	return distuv.Gamma{Alpha: shape, Beta: rate, Src: rng}.Rand()
}

// gammaAbove draws a gamma variate above least: by rejection, else by its quantile, else by an
// exponential.
func gammaAbove(rng *rand.Rand, least, shape, rate float64) float64 {
	g := distuv.Gamma{Alpha: shape, Beta: rate, Src: rng}
	if v := g.Rand(); v > least {
		return v
	}
	if above := g.Survival(least); above > 1e-9 {
		return max(least, g.Quantile(1-above*rng.Float64()))
	}
	return least + rng.ExpFloat64()/(rate-(shape-1)/least)
}

// pick draws an index with probabilities proportional to exp(log), which it overwrites.
func pick(rng *rand.Rand, log []float64) int {
	top := floats.Max(log)
	for k, v := range log {
		log[k] = math.Exp(v - top)
	}
	return stream.Pick(rng, log)
}
