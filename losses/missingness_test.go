package losses_test

import (
	"math"
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
	"missingscore/internal/data/truncnorm"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
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

func (r notAtRandom) program(t *testing.T, l way, m model.Model) *graph.Program {
	t.Helper()
	if r.logistic != nil {
		m = &model.Joint{Model: m, Missingness: model.NewLogisticMissingness(r.logistic)}
	}
	x, weight := r.grid()
	o := losses.ObjectiveFor(r.support, domain.Weight{})
	p, err := losses.New(graph.Float64, l.Loss, l.weighting, m, o, 1, len(weight))
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
func TestObservedScoreAgainstQuadrature(t *testing.T) {
	for name, r := range rows() {
		t.Run(name, func(t *testing.T) {
			m := three(t)
			want, score := r.objective(m)
			p := r.program(t, byIW, m)
			require.NoError(t, p.Run())
			require.InDelta(t, want, p.Output(losses.OutputReported)[0], 1e-8)

			var seen model.Model = m
			if r.logistic != nil {
				seen = model.Observing(&model.Joint{Model: m, Missingness: model.NewLogisticMissingness(r.logistic)}, r.mask)
			}
			x, _ := r.grid()
			q, err := graph.Build(func(b *graph.Builder) {
				b.Output("score", seen.Evaluate(b, b.Input("x", len(x)/3, 3)).Score)
			})
			require.NoError(t, err)
			copy(q.Input("x"), x)
			require.NoError(t, q.Run())
			mean := make([]float64, 3)
			for k, w := range p.Output(losses.OutputWeights) {
				for j := range mean {
					mean[j] += r.mask[j] * w * q.Output("score")[3*k+j]
				}
			}
			require.InDeltaSlice(t, score, mean, 1e-8)
		})
	}
}

func TestGradientAgainstQuadrature(t *testing.T) {
	for name, r := range rows() {
		t.Run(name, func(t *testing.T) {
			m := three(t)
			p := r.program(t, byIW, m)
			d, err := gradcheck.Params(p, m.Params(), gradcheck.Step, func() (float64, error) { err := p.Run(); return p.Output(losses.OutputReported)[0], err })
			require.NoError(t, err)
			require.Less(t, d.Error, 1e-8, "%+v", d)
			d, err = gradcheck.Params(p, m.Params(), 1e-4, func() (float64, error) { loss, _ := r.objective(m); return loss, nil })
			require.NoError(t, err)
			require.Less(t, d.Error, 5e-5, "%+v", d)
			direct := r.program(t, byDirect, m)
			require.NoError(t, direct.Run())
			for _, param := range m.Params() {
				require.InDeltaSlice(t, direct.Grad(param), p.Grad(param), 1e-8)
			}
		})
	}
}

func TestImputerOfCensoredCells(t *testing.T) {
	r := rows()["censored both"]
	m := three(t)
	imp := nets.NewNormalImputer(3, nets.NormalOptions{Hidden: 5, DiagonalSD: true}, stream.New(3, stream.Initial))
	p, err := losses.NewImputer(graph.Float64, losses.KL, imp, m, losses.ObjectiveFor(r.support, domain.Weight{}), r.support, 1)
	require.NoError(t, err)
	forward, err := losses.NewForward(graph.Float64, imp, 3, 1)
	require.NoError(t, err)
	batch := data.NewBatch(1, 3)
	batch.Rows = append(batch.Rows, 0)
	batch.X[0], batch.Weight[0] = r.x[0], 1
	copy(batch.Mask, r.mask)
	losses.BindImputer(p, r.support, batch)
	noise := []float64{0.3, -0.8, 0.5}
	copy(p.Input(losses.InputNoise), noise)
	require.NoError(t, p.Run())
	copy(forward.Input(losses.InputX), batch.X)
	require.NoError(t, forward.Run())

	x, want := append([]float64(nil), r.x...), 0.0
	low, high := []float64{-math.Inf(1), -math.Inf(1), 1}, []float64{math.Inf(1), -0.5, math.Inf(1)}
	for j := 1; j < 3; j++ {
		mean, sd := forward.Output(losses.OutputMean)[j], math.Exp(forward.Output(losses.OutputLogSD)[j])
		alpha, beta := (low[j]-mean)/sd, (high[j]-mean)/sd
		z := truncnorm.Transport(noise[j], alpha, beta)
		x[j] = mean + sd*z
		want -= 0.5*z*z + math.Log(sd) + truncnorm.LogMass(alpha, beta)
	}
	require.True(t, x[1] < -0.5 && x[2] > 1, "%v", x)
	mu, precision := m.Mean(), m.Precision()
	for j := range 3 {
		for k := range 3 {
			want += 0.5 * (x[j] - mu[j]) * precision.At(j, k) * (x[k] - mu[k])
		}
	}
	require.InDelta(t, want, p.Output(losses.OutputReported)[0], 1e-10)
}

func TestNoiseAndMissingnessDoNotGoTogether(t *testing.T) {
	o, err := losses.Denoising{}.WithDefaults()
	require.NoError(t, err)
	m := &model.Joint{Model: three(t), Missingness: model.NewLogisticMissingness(selfMasked())}
	_, err = losses.New(graph.Float64, byIW.Loss, byIW.weighting, m, o, 1, 4)
	require.ErrorContains(t, err, "a missingness mechanism cannot be combined with an objective that adds noise")
}
