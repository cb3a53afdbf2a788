package nets

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
)

// tilt corrects the mode weights of an energy, to which score matching is insensitive:
//
//	log q'(x) = log q(x) + log Σ_k a_k N(x; m_k, Σ_k) − log Σ_k w_k N(x; m_k, Σ_k)
//
// for a mixture of K normals with weights w and covariances divided by Sharpness, and other weights
// a. The factor lies between min a_k/w_k and max a_k/w_k, so q' is integrable if q is.
type tilt struct {
	whitening *graph.Param // (d, K·d): L_k⁻ᵀ side by side, Σ_k = L_k L_kᵀ
	shift     *graph.Param // (1, K·d): −m_kᵀ L_k⁻ᵀ
	from, to  *graph.Param // (K, 1): log w_k − log |L_k| and log a_k − log |L_k|, up to a common constant
}

// Sharpness divides the covariances of a tilt's mixture, so that a component's tail has little
// weight where the energy has another mode.
const Sharpness = 4

// Tilted is an energy that can have a tilt (docs/theory/models.md#eq-tilt). All methods share its
// network, and none changes it.
type Tilted interface {
	model.Model
	// WithTilt returns the energy with the tilt by a mixture in the model's units and the weights a.
	WithTilt(m *mixture.Mixture, a []float64) Tilted
	// Split returns the energy without its tilt, and the mixture and the log factor of the tilt; nil
	// without one.
	Split() (plain model.Model, m *mixture.Mixture, factor Factor)
}

// Factor returns at x (d) a tilt's log factor, and the log density of the tilt's mixture with its own
// covariances up to a constant. It is not safe for concurrent use.
type Factor = func(x []float64) (factor, density float64)

func newTilt(k, d int) *tilt {
	return &tilt{graph.NewParam("tilt whitening", d, k*d), graph.NewParam("tilt shift", 1, k*d), graph.NewParam("tilt from", k, 1), graph.NewParam("tilt to", k, 1)}
}

func (t *tilt) params() []*graph.Param { return []*graph.Param{t.whitening, t.shift, t.from, t.to} }

func (t *tilt) at(b *graph.Builder, x graph.Node) graph.Node {
	n, _ := graph.Shape(x)
	k := t.from.Rows
	white := graph.SplitRows(b, b.AddRow(b.MatMul(false, false, x, b.Param(t.whitening)), b.Param(t.shift)), k)
	half := b.Scale(-0.5, b.RowSum(b.Map(graph.Square, white)))
	log := func(weights *graph.Param) graph.Node {
		return graph.GroupLogSumExp(b, b.Add(half, graph.Tile(b, b.Param(weights), n)), k)
	}
	return b.Sub(log(t.to), log(t.from))
}

func (m *energy) WithTilt(of *mixture.Mixture, a []float64) Tilted {
	k, d := len(a), m.d
	out := m.with(newTilt(k, d))
	for c := range k {
		var factor mat.Cholesky
		if !factor.Factorize(mat.NewSymDense(d, of.Covariances[c])) {
			panic("a covariance of the mixture is not positive definite")
		}
		factor.Scale(1./Sharpness, &factor)
		var root, inverse mat.TriDense
		factor.LTo(&root)
		if err := inverse.InverseTri(&root); err != nil {
			panic(err)
		}
		for i := range d {
			for j := range d {
				w := inverse.At(j, i) // L⁻ᵀ
				out.tilt.whitening.Value[i*k*d+c*d+j] = w
				out.tilt.shift.Value[c*d+j] -= of.Means[c][i] * w
			}
		}
		out.tilt.from.Value[c] = math.Log(of.Weights[c]) - factor.LogDet()/2
		out.tilt.to.Value[c] = math.Log(a[c]) - factor.LogDet()/2
	}
	return out
}

// with returns the energy with another tilt, or none.
func (m *energy) with(t *tilt) *energy {
	out, f := *m, *m.perceptron
	out.perceptron, out.tilt = &f, t
	out.list()
	return &out
}

func (m *energy) Split() (model.Model, *mixture.Mixture, Factor) {
	if m.tilt == nil {
		return m, nil, nil
	}
	of, t, k := m.mixture(), m.tilt, m.tilt.from.Rows
	if of == nil {
		return m, nil, nil
	}
	white, near, wide, ratio := make([]float64, k*m.d), make([]float64, k), make([]float64, k), make([]float64, k)
	for c, from := range t.from.Value {
		ratio[c] = math.Exp(t.to.Value[c] - from)
	}
	return m.with(nil), of, func(x []float64) (factor, density float64) {
		copy(white, t.shift.Value)
		for j, v := range x {
			floats.AddScaled(white, v, t.whitening.Value[j*len(white):(j+1)*len(white)])
		}
		for c, from := range t.from.Value {
			z := white[c*m.d : (c+1)*m.d]
			square := floats.Dot(z, z)
			near[c], wide[c] = from-square/2, from-square/(2*Sharpness)
		}
		top, sum, by := floats.Max(near), 0.0, 0.0
		for c, v := range near {
			e := math.Exp(v - top)
			sum, by = sum+e, by+e*ratio[c]
		}
		return math.Log(by / sum), floats.LogSumExp(wide)
	}
}

// mixture returns the mixture of the tilt; nil for a damaged file.
func (m *energy) mixture() *mixture.Mixture {
	k, d := m.tilt.from.Rows, m.d
	of := mixture.New(k, make([]int, d))
	for c := range k {
		white := mat.DenseCopyOf(mat.NewDense(d, k*d, m.tilt.whitening.Value).Slice(0, d, c*d, (c+1)*d))
		var inverse, covariance mat.Dense
		if err := inverse.Inverse(white); err != nil {
			return nil
		}
		covariance.Mul(inverse.T(), &inverse)
		floats.ScaleTo(of.Covariances[c], Sharpness, covariance.RawMatrix().Data)
		var mean mat.Dense
		mean.Mul(mat.NewDense(1, d, m.tilt.shift.Value[c*d:(c+1)*d]), &inverse)
		floats.ScaleTo(of.Means[c], -1, mean.RawRowView(0))
		of.Weights[c] = m.tilt.from.Value[c] - math.Log(math.Abs(mat.Det(white)))
	}
	top := floats.LogSumExp(of.Weights)
	for c, v := range of.Weights {
		of.Weights[c] = math.Exp(v - top)
	}
	return of
}

func (t *tilt) rescale(mean, deviation []float64) {
	for j, s := range deviation {
		row := t.whitening.Value[j*t.whitening.Cols : (j+1)*t.whitening.Cols]
		floats.Scale(1/s, row)
		floats.AddScaled(t.shift.Value, -mean[j], row)
	}
}
