package latent

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
)

// known computes pairmoments.Moments.Known: 1 for a number; for an ordinal column with thresholds
// τ, level k between τ_k and τ_{k+1} with share p_k,
//
//	e = Σ_k (φ(τ_k) − φ(τ_{k+1}))²/p_k
//
// (2/π for two equal levels); for a nominal column Σ_k p_k m_k m_kᵀ.
func (l *law) known() []float64 {
	d := len(l.mean)
	e := make([]float64, d*d)
	for j, cuts := range l.cuts {
		e[j*d+j] = 1
		if cuts != nil {
			e[j*d+j] = toldBy(cuts)
		}
	}
	for _, b := range l.blocks {
		shares, means := l.levels(b)
		told := mat.NewSymDense(b.Width, nil)
		for k, p := range shares {
			told.SymRankOne(told, p, mat.NewVecDense(b.Width, means[k]))
		}
		mat.NewDense(d, d, e).Slice(b.First, b.First+b.Width, b.First, b.First+b.Width).(*mat.Dense).Copy(told)
	}
	return e
}

func toldBy(cuts []float64) (e float64) {
	below, density := 0.0, 0.0
	for k := range len(cuts) + 1 {
		upTo, next := 1.0, 0.0
		if k < len(cuts) {
			upTo, next = distuv.UnitNormal.CDF(cuts[k]), distuv.UnitNormal.Prob(cuts[k])
		}
		if p := upTo - below; p > 0 {
			e += (density - next) * (density - next) / p
		}
		below, density = upTo, next
	}
	return e
}

// levels returns the shares p_k of a nominal column's levels and the means m_k of its whitened
// utilities given each level: with v_0 … v_{K−1} independent, v_l ~ N(a_l, ½) and u_l = v_l − v_0,
// level k has the largest v_l, and
//
//	p_k          = ∫ f_k(v) Π_{l≠k} F_l(v) dv
//	p_k E[v_k|k] = ∫ v f_k(v) Π_{l≠k} F_l(v) dv
//	p_k E[v_l|k] = ∫ f_k(v) (a_l F_l(v) − ½ f_l(v)) Π_{m≠k,l} F_m(v) dv
//
// by the trapezoid rule, with an error far below 1e-8.
func (l *law) levels(b data.Block) (shares []float64, means [][]float64) {
	const steps, reach = 400, 6.0
	n := b.Width + 1
	a := append([]float64{0}, l.mean[b.First:b.First+b.Width]...)
	low, high := floats.Min(a)-reach, floats.Max(a)+reach
	step := (high - low) / steps
	laws, f, below := make([]distuv.Normal, n), make([]float64, n), make([]float64, n)
	for k, mean := range a {
		laws[k] = distuv.Normal{Mu: mean, Sigma: math.Sqrt(0.5)}
	}
	shares = make([]float64, n)
	v := mat.NewDense(n, n, nil) // p_k E[v_l|k]
	for i := range steps + 1 {
		at := low + float64(i)*step
		for k, own := range laws {
			f[k], below[k] = own.Prob(at), own.CDF(at)
		}
		for k := range n {
			rest := step * f[k] * floats.Prod(below[:k]) * floats.Prod(below[k+1:])
			if rest == 0 {
				continue
			}
			shares[k] += rest
			for other := range n {
				mean := at
				if other != k {
					mean = a[other] - f[other]/below[other]/2
				}
				v.Set(k, other, v.At(k, other)+rest*mean)
			}
		}
	}
	means = make([][]float64, n)
	w := whitening(b.Width)
	for k := range means {
		u := mat.NewVecDense(b.Width, nil) // centred
		for i := range b.Width {
			u.SetVec(i, (v.At(k, i+1)-v.At(k, 0))/shares[k]-a[i+1])
		}
		var y mat.VecDense
		y.MulVec(w, u)
		means[k] = y.RawVector().Data
	}
	return shares, means
}
