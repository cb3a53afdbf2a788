package debias

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/graph"
)

// contrast is Σ_b w_b θ_{at_b}, the derivative of a partial correlation by P_jj, P_jk and P_kk.
type contrast struct {
	at   [3]int
	w    [3]float64
	j, k int
	pair int // index among all pairs
}

// contrasts sets partial correlations and returns their derivatives
// (docs/theory/inference.md#eq-partial-correlation-se): with r = √(P_jj P_kk)
//
//	ρ = −P_jk/r,   ∂ρ/∂P_jk = −1/r,   ∂ρ/∂P_jj = −ρ/(2P_jj)
func (e *Estimate) contrasts() (out []contrast) {
	p := e.Precision
	d := p.SymmetricDim()
	for j := range d {
		for k := j + 1; k < d; k++ {
			pair := len(e.Partial)
			e.Partial, e.SE = append(e.Partial, math.NaN()), append(e.SE, math.NaN())
			jj, kk := p.At(j, j), p.At(k, k)
			if !(jj > 0 && kk > 0) {
				continue
			}
			r := math.Sqrt(jj) * math.Sqrt(kk)
			rho := 0 - p.At(j, k)/r // not −0
			e.Partial[pair] = rho
			out = append(out, contrast{
				at: [3]int{d + graph.PackedIndex(d, j, j), d + graph.PackedIndex(d, j, k), d + graph.PackedIndex(d, k, k)},
				w:  [3]float64{-rho / 2 / jj, -1 / r, -rho / 2 / kk}, j: j, k: k, pair: pair})
		}
	}
	return out
}

// variances returns wᵀCw times factor for the contrasts w.
func variances(contrasts []contrast, c *mat.SymDense, factor float64) []float64 {
	out := make([]float64, len(contrasts))
	for i, by := range contrasts {
		for a, x := range by.w {
			for b, y := range by.w {
				out[i] += x * y * c.At(by.at[a], by.at[b]) * factor
			}
		}
	}
	return out
}

func (e *Estimate) errors(contrasts []contrast, variances []float64) {
	for i, v := range variances {
		e.SE[contrasts[i].pair] = math.Sqrt(v)
	}
}

// forFewRows applies Fisher's (1924) small-sample correction to standard errors
// (docs/theory/inference.md#eq-few-rows). With s = se/(1 − ρ²), the standard error of z = atanh ρ,
//
//	s² → s² / (1 − (k + 3) s²)
//
// where k columns are neighbours of either column of the pair in the network p at the start of the
// step. Robust errors are corrected twice, because gradients are smaller at the estimate. A pair
// with at most the information of k + 3 complete rows has no standard error.
func (e *Estimate) forFewRows(p mat.Symmetric, twice bool) (without int) {
	d, pair := p.SymmetricDim(), 0
	for j := range d {
		for k := j + 1; k < d; k++ {
			neighbours := 0
			for l := range d {
				if l != j && l != k && (p.At(j, l) != 0 || p.At(k, l) != 0) {
					neighbours++
				}
			}
			rho := e.Partial[pair]
			s := e.SE[pair] / (1 - rho*rho)
			left := 1 - float64(neighbours+3)*s*s
			if left <= 0 {
				left = math.NaN()
				without++
			}
			if twice {
				left *= left
			}
			e.SE[pair] /= math.Sqrt(left)
			pair++
		}
	}
	return without
}

// tails is Mardia's kurtosis for rows with missing cells (docs/theory/inference.md#eq-tails): D =
// (x − μ)_oᵀ Σ_oo⁻¹ (x − μ)_o is χ² with k degrees of freedom.
type tails struct {
	ratio float64 // Σ D² over its expectation Σ k(k + 2) for normal rows
	z     float64 // Σ D² − k(k + 2) − 2(k + 2)(D − k), over its standard error: about N(0, 1) for normal rows
}

func (o *rows) tails(multiply graph.Product[float64], weighted bool) tails {
	var fourth, expected, excess, variance float64
	pdelta := o.times(multiply, o.delta)
	for i, w := range o.weight {
		k := float64(o.d - len(o.patterns[o.of[i]].gaps))
		distance := floats.Dot(o.delta[i*o.d:(i+1)*o.d], pdelta[i*o.d:(i+1)*o.d]) // δ̂ᵀPδ̂
		fourth += w * distance * distance
		expected += w * k * (k + 2)
		excess += w * (distance*distance - k*(k+2) - 2*(k+2)*(distance-k))
		if weighted {
			w *= w
		}
		variance += w * 8 * k * (k + 2)
	}
	return tails{ratio: fourth / expected, z: excess / math.Sqrt(variance)}
}

// warnings reports tails that fewer than one in a thousand tables of normal rows have. Correlations
// of elliptical rows have ratio times the variance.
func (t tails) warnings() []string {
	if distuv.UnitNormal.Survival(t.z) > 0.001 {
		return nil
	}
	return []string{fmt.Sprintf("rows have heavier tails than normal rows (kurtosis ratio %.2g), and model-based errors are too small by a factor of %.1f: take Spec.Inference robust", t.ratio, math.Sqrt(t.ratio))}
}
