package losses

import (
	"gonum.org/v1/gonum/floats"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
)

// RowWeighted is an objective that weights the coordinates of a row: with numbers g_j and g'_j
// of the row and its gaps, not of the model, a completed row has the loss
//
//	Σ_j g_j (2D_j + s_j²) + 2 g'_j s_j
//
// Of a normal model it depends on rows by their WeightedMoments alone
// (docs/theory/truncated.md#eq-weighted-moments).
type RowWeighted interface {
	Objective
	// RowWeights makes a function that fills g and g' (d) of a row x with 0 where missing. It is
	// not ok for a row whose loss has another form.
	RowWeights() func(x, mask, g, slope []float64) (ok bool)
}

// RowWeights implements RowWeighted: rows whose scores are taken along tangents have another loss.
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
func (Classical) RowWeights() func(x, mask, g, slope []float64) bool {
	return func(_, mask, g, slope []float64) bool {
		copy(g, mask)
		clear(slope)
		return true
	}
}

// WeightedMoments are what the loss of a normal model depends on rows by where an objective
// weights their coordinates (RowWeighted): for each coordinate j, of rows that count a_i, with
// z_i = x_i − Centre, 0 where a cell is missing before that,
//
//	Σ_i a_i g_ij (1, z_i)(1, z_i)ᵀ   and   Σ_i a_i g'_ij (1, z_i)
type WeightedMoments struct {
	Centre []float64 // (d)
	// Quadratic are the first; one for all coordinates where these share their g, else one each.
	Quadratic []Moments
	Slope     []Moments // the second, one for each coordinate, without Second
}

// Moments are Σ w, Σ w z and Σ w zzᵀ.
type Moments struct {
	Number float64
	First  []float64 // (d)
	Second []float64 // (d, d), symmetric
}

// Program makes one that has, of a normal model, at InputWeight the number w (1, 1), and at
// OutputReported and as the surrogate to differentiate
//
//	w Σ_j Σ_i a_i g_ij (s_j(x_i)² − 2P_jj) + 2 a_i g'_ij s_j(x_i),   s_j = η_j − p_jᵀx
//
// as New's has it for the rows themselves. It is of float64.
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

// weightedKernel computes the loss and its gradients by η and P: with e_j = η_j − p_jᵀc, c the
// centre, and of coordinate j the moments G, a, M by g and h, b by g',
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
		row, grad := p[j*d:(j+1)*d], k.gradP[j*d:(j+1)*d] // which is Mp_j
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

// products sets the rows of gradP to Mp_j. A network's p_j has many zeros.
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
