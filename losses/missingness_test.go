package losses_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/losses"
)

type notAtRandom struct {
	x, mask  []float64
	logistic *missingness.Logistic // nil for none
	support  *domain.Domain
}

func three(t *testing.T) *model.Gaussian {
	t.Helper()
	m := model.NewGaussian(3, model.FreeSymmetric)
	require.NoError(t, m.SetPrecision(mat.NewSymDense(3, []float64{1.3, 0.5, -0.3, 0.5, 1.1, 0.4, -0.3, 0.4, 0.9})))
	m.SetMean([]float64{0.2, -0.1, 0.4})
	return m
}

func selfMasked() *missingness.Logistic {
	l := missingness.NewLogistic(3)
	l.Intercept[0], l.Intercept[1] = 0.7, -0.4
	l.Slope.SetRow(0, []float64{-1.5, 0.8, 0})
	l.Slope.SetRow(1, []float64{0.3, 2, -0.6})
	return l
}

func rows() map[string]notAtRandom {
	inf := math.Inf(1)
	censoring := domain.All(3)
	censoring.Lower[2] = -2
	censoring = censoring.Censoring([]float64{-inf, -0.5, -inf}, []float64{inf, inf, 1})
	at := []float64{0.4, -0.2, 0.3}
	late := missingness.NewLogistic(3) // of the first column, on one that is censored
	late.Intercept[0] = 0.3
	late.Slope.SetRow(0, []float64{1, 0, -2})
	return map[string]notAtRandom{
		"logistic, one missing":     {at, []float64{1, 0, 1}, selfMasked(), nil},
		"logistic, two missing":     {at, []float64{0, 0, 1}, selfMasked(), nil},
		"logistic, another missing": {at, []float64{0, 1, 1}, selfMasked(), nil},
		"logistic, none missing":    {at, []float64{1, 1, 1}, selfMasked(), nil},
		"censored below":            {at, []float64{1, 0, 1}, nil, censoring},
		"censored above":            {at, []float64{1, 1, 0}, nil, censoring},
		"censored both":             {at, []float64{1, 0, 0}, nil, censoring},
		"censored and logistic":     {at, []float64{0, 1, 0}, late, censoring},
		"censored, none missing":    {at, []float64{1, 1, 1}, nil, censoring},
	}
}

func (r notAtRandom) grid() (x, weight []float64) {
	x, weight = append([]float64(nil), r.x...), []float64{1}
	for j, m := range r.mask {
		if m != 0 {
			continue
		}
		low, high := -11., 11. // ten deviations and more: nothing is left outside
		if r.support.Bounded() {
			l, h := r.support.GapBounds()
			low, high = max(low, l[j]), min(high, h[j])
		}
		nodes, w := make([]float64, 80), make([]float64, 80)
		quad.Legendre{}.FixedLocations(nodes, w, low, high)
		var wider, heavier []float64
		for i, was := range weight {
			for k, node := range nodes {
				wider = append(wider, x[3*i:3*i+3]...)
				wider[len(wider)-3+j] = node
				heavier = append(heavier, was*w[k])
			}
		}
		x, weight = wider, heavier
	}
	return x, weight
}

func (r notAtRandom) log(m *model.Gaussian) float64 {
	x, weight := r.grid()
	mu, p := m.Mean(), m.Precision()
	sum, observed := 0.0, make([]float64, 3)
	for i, w := range weight {
		row := x[3*i : 3*i+3]
		e := 0.0
		for j := range row {
			for k := range row {
				e -= 0.5 * (row[j] - mu[j]) * p.At(j, k) * (row[k] - mu[k])
			}
		}
		phi := 1.
		if r.logistic != nil {
			r.logistic.Observed(observed, row)
			for j, q := range observed {
				if r.logistic.Concerns(j) && r.mask[j] == 0 {
					q = 1 - q
				}
				phi *= q
			}
		}
		sum += w * phi * math.Exp(e)
	}
	return math.Log(sum)
}

func (r notAtRandom) objective(m *model.Gaussian) (loss float64, score []float64) {
	g, slope := []float64{1, 1, 1}, make([]float64, 3)
	if r.support.Bounded() {
		domain.Weight{}.At(r.support, r.x, r.mask, g, slope, &domain.Tangent{})
	}
	score = make([]float64, 3)
	for j, o := range r.mask {
		if o == 0 {
			continue
		}
		at := func(step float64) float64 {
			moved := r
			moved.x = append([]float64(nil), r.x...)
			moved.x[j] += step
			return moved.log(m)
		}
		const h = 4e-3
		up, upper, down, lower := at(h), at(2*h), at(-h), at(-2*h)
		score[j] = (8*(up-down) - (upper - lower)) / (12 * h)
		second := (16*(up+down) - (upper + lower) - 30*at(0)) / (12 * h * h)
		loss += g[j]*(2*second+score[j]*score[j]) + 2*slope[j]*score[j]
	}
	return loss, score
}

func (r notAtRandom) model(m model.Model) model.Model {
	if r.logistic == nil {
		return m
	}
	return &model.Joint{Model: m, Missingness: model.NewLogisticMissingness(r.logistic)}
}

func (r notAtRandom) program(t *testing.T, l way, m model.Model) *graph.Program {
	t.Helper()
	x, weight := r.grid()
	o := losses.ObjectiveFor(r.support, domain.Weight{})
	p, err := losses.New(graph.Float64, l.Loss, l.weighting, r.model(m), o, 1, len(weight))
	require.NoError(t, err)
	copy(p.Input(losses.InputX), x)
	for k, w := range weight {
		p.Input(losses.InputLogProposal)[k] = -math.Log(w)
	}
	batch := data.NewBatch(1, 3)
	copy(batch.X, r.x)
	copy(batch.Mask, r.mask)
	for j, o := range r.mask {
		batch.X[j] *= o
	}
	batch.Weight[0] = 1
	losses.Bind(p, l, o, batch, stream.New(1))
	return p
}

// ∇ log ∫ q φ_Λ dx_mis is E[s + ∇log φ_Λ] under the conditional.
func TestMissingNotAtRandomAgainstQuadrature(t *testing.T) {
	for name, r := range rows() {
		t.Run(name, func(t *testing.T) {
			m := three(t)
			want, score := r.objective(m)
			p := r.program(t, byIW, m)
			require.InDelta(t, want, reported(t, p), 1e-8)
			x, _ := r.grid()
			e, err := model.NewEvaluator(r.model(m), len(x)/3, r.logistic != nil)
			require.NoError(t, err)
			if r.logistic != nil {
				e.SetMask(slices.Repeat(r.mask, len(x)/3))
			}
			_, each, err := e.At(x)
			require.NoError(t, err)
			mean := make([]float64, 3)
			for k, w := range p.Output(losses.OutputWeights) {
				for j := range mean {
					mean[j] += r.mask[j] * w * each[3*k+j]
				}
			}
			require.InDeltaSlice(t, score, mean, 1e-8)

			testtables.Gradient(t, p, m.Params(), 1e-8, func() float64 { return reported(t, p) })
			d, err := gradcheck.Params(p, m.Params(), 1e-4, func() (float64, error) {
				loss, _ := r.objective(m)
				return loss, nil
			})
			require.NoError(t, err)
			require.Less(t, d.Error, 5e-5, "%+v", d)
			direct := r.program(t, byDirect, m)
			require.InDeltaSlice(t, gradient(t, direct, m), gradient(t, p, m), 1e-8)
		})
	}
}
