package losses

import (
	"gonum.org/v1/gonum/floats"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
)

// RowWeighted is an objective with coordinate weights g_j and g'_j that depend on the row and its
// mask, not on the model. A completed row has the loss
//
//	Σ_j g_j (2D_j + s_j²) + 2 g'_j s_j
//
// For a normal model it depends on rows only through WeightedMoments
// (docs/theory/truncated.md#eq-weighted-moments).
type RowWeighted interface {
	Objective
	// RowWeights returns a function that writes g and g' (d) of a row x, 0 where missing. ok is
	// false if the row's loss has another form.
	RowWeights() func(x, mask, g, slope []float64) (ok bool)
}

// RowWeights implements RowWeighted. ok is false for rows with tangential scores.
func (o Truncated) RowWeights() func(x, mask, g, slope []float64) bool {
	var t domain.Tangent
	return func(x, mask, g, slope []float64) bool {
		o.Weight.At(o.Domain, x, mask, g, slope, &t)
		for _, v := range t.V {
			for _, a := range v {
				if a != 0 {
					return false
				}
			}
		}
		return true
	}
}

// RowWeights implements RowWeighted: g is the mask.
func (classical) RowWeights() func(x, mask, g, slope []float64) bool {
	return func(_, mask, g, slope []float64) bool {
		copy(g, mask)
		clear(slope)
		return true
	}
}

// WeightedMoments are the sufficient statistics of a normal model's RowWeighted loss: for each
// coordinate j, with row weights a_i and z_i = x_i − Centre, zero-filled,
//
//	Σ_i a_i g_ij (1, z_i)(1, z_i)ᵀ   and   Σ_i a_i g'_ij (1, z_i)
type WeightedMoments struct {
	Centre []float64 // (d)
	// Quadratic are the first moments above; one if all coordinates share g, else one per
	// coordinate.
	Quadratic []Moments
	Slope     []Moments // the second moments above, one per coordinate, without Second
}

// Moments are Σ w, Σ w z and Σ w zzᵀ.
type Moments struct {
	Number float64
	First  []float64 // (d)
	Second []float64 // (d, d), symmetric
}

// Program builds a float64 program of a normal model with weight w (1, 1) at InputWeight, and at
// OutputReported and as the surrogate
//
//	w Σ_j Σ_i a_i g_ij (s_j(x_i)² − 2P_jj) + 2 a_i g'_ij s_j(x_i),   s_j = η_j − p_jᵀx
//
// It replaces New's program over rows.
func (m *WeightedMoments) Program(of model.Normal) (*graph.Program, error) {
	return graph.BuildAs(graph.Float64, func(b *graph.Builder) {
		d := len(m.Centre)
		k := &weightedKernel{WeightedMoments: m, gemm: b.Product(), gradLinear: make([]float64, d), gradP: make([]float64, d*d)}
		loss := b.Apply(graph.Op{Name: "weighted moments",
			Kernel:   k.run,
			Constant: []bool{false, false, true},
			Reverse: func(out, gr graph.Node) []graph.Node {
				return []graph.Node{gradientOf(b, "weighted moments'", 1, d, k.gradLinear, out, gr), gradientOf(b, "weighted moments'", d, d, k.gradP, out, gr), nil}
			}}, of.LinearNode(b), of.PrecisionNode(b), b.Input(InputWeight, 1, 1))
		b.Minimise(loss, of.Params()...)
		b.Output(OutputReported, loss)
	})
}

// weightedKernel computes the loss and its gradients in η and P: with e_j = η_j − p_jᵀc, c the
// centre, and coordinate j's moments G, a, M of g and h, b of g',
//
//	ψ_j = G (e_j² − 2P_jj) − 2e_j p_jᵀa + p_jᵀMp_j + 2 (h e_j − p_jᵀb)
//	∂ψ_j/∂η_j = 2 (G e_j − p_jᵀa + h),   ∂ψ_j/∂p_j = 2 (Mp_j − e_j a − b − G 1_j) − ∂ψ_j/∂η_j c
type weightedKernel struct {
	*WeightedMoments
	gemm              graph.Product[float64]
	gradLinear, gradP []float64
}

func (k *weightedKernel) run(out []float64, in [][]float64) error {
	eta, p, weight, d := in[0], in[1], in[2][0], len(k.Centre)
	k.products(p)
	out[0] = 0
	for j := range d {
		quadratic, slope := k.Quadratic[min(j, len(k.Quadratic)-1)], k.Slope[j]
		row, grad := p[j*d:(j+1)*d], k.gradP[j*d:(j+1)*d] // holds Mp_j here
		e, along := eta[j]-floats.Dot(row, k.Centre), floats.Dot(row, quadratic.First)
		out[0] += weight * (quadratic.Number*(e*e-2*row[j]) - 2*e*along + floats.Dot(row, grad) + 2*(slope.Number*e-floats.Dot(row, slope.First)))
		k.gradLinear[j] = 2 * weight * (quadratic.Number*e - along + slope.Number)
		floats.AddScaled(grad, -e, quadratic.First)
		floats.Sub(grad, slope.First)
		grad[j] -= quadratic.Number
		floats.Scale(2*weight, grad)
		floats.AddScaled(grad, -k.gradLinear[j], k.Centre)
	}
	return nil
}

// products sets the rows of gradP to Mp_j; it skips zeros of p_j.
func (k *weightedKernel) products(p []float64) {
	d := len(k.Centre)
	if len(k.Quadratic) == 1 {
		k.gemm(false, false, d, d, d, p, k.Quadratic[0].Second, k.gradP)
		return
	}
	clear(k.gradP)
	for j := range d {
		for a, v := range p[j*d : (j+1)*d] {
			if v != 0 {
				floats.AddScaled(k.gradP[j*d:(j+1)*d], v, k.Quadratic[j].Second[a*d:(a+1)*d])
			}
		}
	}
}
