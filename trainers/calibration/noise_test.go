package calibration

import (
	"gonum.org/v1/gonum/mat"

	"missingscore/data/noise"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/trainers/fitted"
)

// correlations are those of a Gaussian of standardised columns.
func correlations() *mat.SymDense {
	return mat.NewSymDense(columns, []float64{1, 0.8, 0.5, 0.8, 1, 0.3, 0.5, 0.3, 1})
}

// noisy is a Gaussian N(0, Σ) that knows the score of its rows with noise, with Σ = QΛQᵀ
//
//	∇ log N(x; 0, a²Σ + σ²I) = −Q (a²Λ + σ²)⁻¹ Qᵀ x
type noisy struct {
	*model.Gaussian
	vectors []float64 // Q (d, d)
	values  []float64 // Λ (d)

	signal, sigma graph.Node // of AtNoise
}

// alongNoise is that model as a fit by denoising with the default schedule, whose error is none.
func alongNoise() (*fitted.Model, error) {
	g := model.NewGaussian(columns, model.CholeskyFactor)
	var c mat.Cholesky
	c.Factorize(correlations())
	var inverse mat.SymDense
	if err := c.InverseTo(&inverse); err != nil {
		return nil, err
	}
	if err := g.SetPrecision(&inverse); err != nil {
		return nil, err
	}
	var e mat.EigenSym
	e.Factorize(correlations(), true)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	schedule, err := noise.Schedule{}.WithDefaults()
	f := named(&noisy{Gaussian: g, vectors: vectors.RawMatrix().Data, values: e.Values(nil)}, nil)
	f.Noise = &schedule
	return f, err
}

// AtNoise implements model.NoiseConditional.
func (m *noisy) AtNoise(signal, sigma graph.Node) model.Model {
	at := *m
	at.signal, at.sigma = signal, sigma
	return &at
}

// Evaluate implements model.Model: of rows with noise there is the score alone.
func (m *noisy) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	if m.signal == nil {
		return m.Gaussian.Evaluate(b, x)
	}
	n, d := graph.Shape(x)
	return model.Evaluation{Score: b.Apply(graph.Op{Name: "score with noise", Rows: n, Cols: d, Kernel: func(out []float64, in [][]float64) error {
		for i := range n {
			m.score(out[i*d:(i+1)*d], in[0][i*d:(i+1)*d], in[1][i], in[2][i])
		}
		return nil
	}}, x, m.signal, m.sigma)}
}

// score is that at one row.
func (m *noisy) score(s, x []float64, a, sigma float64) {
	clear(s)
	d := len(x)
	for k, value := range m.values {
		along := 0.0
		for j, v := range x {
			along -= m.vectors[j*d+k] * v
		}
		along /= a*a*value + sigma*sigma
		for j := range s {
			s[j] += m.vectors[j*d+k] * along
		}
	}
}
