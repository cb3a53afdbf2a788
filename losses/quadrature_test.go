package losses_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
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

// incomplete is a row with missing cells on a domain or with a missingness mechanism.
type incomplete struct {
	x, mask  []float64
	logistic *missingness.Logistic // nil for none
	domain   *domain.Domain        // nil for none
	weight   domain.Weight
}

// normalModel has the first columns of one mean and one precision.
func normalModel(t testing.TB, d int, kind model.Parameterisation) *model.Gaussian {
	t.Helper()
	p := mat.NewSymDense(3, []float64{1.4, 0.6, -0.3, 0.6, 1.1, 0.4, -0.3, 0.4, 0.9})
	m := model.NewGaussian(d, kind)
	require.NoError(t, m.SetPrecision(p.SliceSym(0, d).(*mat.SymDense)))
	m.SetMean([]float64{0.2, -0.1, 0.4}[:d])
	return m
}

func selfMasked() *missingness.Logistic {
	l := missingness.NewLogistic(3)
	l.Intercept[0], l.Intercept[1] = 0.7, -0.4
	l.Slope.SetRow(0, []float64{-1.5, 0.8, 0})
	l.Slope.SetRow(1, []float64{0.3, 2, -0.6})
	return l
}

func planes() map[string]*domain.Domain {
	box, half, both, two := domain.All(2), domain.All(2), domain.All(2), domain.All(2)
	box.Lower[0], box.Lower[1], box.Upper[1] = -0.4, -0.3, 1.5
	half.Half = []domain.HalfSpace{{A: []float64{1, 0.7}, B: 0.9}}
	both.Lower[0], both.Half = -0.8, half.Half // the box does not bound the missing x2
	// The second half-space does not involve x2.
	two.Half = []domain.HalfSpace{{A: []float64{-0.6, 1.1}, B: 0.8}, {A: []float64{2, 0}, B: 2.4}}
	return map[string]*domain.Domain{
		"box": box, "half-space": half, "box and half-space": both, "two half-spaces": two,
	}
}

func incompleteRows() map[string]incomplete {
	inf := math.Inf(1)
	censoring := domain.All(3)
	censoring.Lower[2] = -2
	censoring = censoring.Censoring([]float64{-inf, -0.5, -inf}, []float64{inf, inf, 1})
	at := []float64{0.4, -0.2, 0.3}
	late := missingness.NewLogistic(3) // of the first column, on one that is censored
	late.Intercept[0] = 0.3
	late.Slope.SetRow(0, []float64{1, 0, -2})
	rows := map[string]incomplete{
		"logistic, one missing":     {x: at, mask: []float64{1, 0, 1}, logistic: selfMasked()},
		"logistic, two missing":     {x: at, mask: []float64{0, 0, 1}, logistic: selfMasked()},
		"logistic, another missing": {x: at, mask: []float64{0, 1, 1}, logistic: selfMasked()},
		"logistic, none missing":    {x: at, mask: []float64{1, 1, 1}, logistic: selfMasked()},
		"censored below":            {x: at, mask: []float64{1, 0, 1}, domain: censoring},
		"censored above":            {x: at, mask: []float64{1, 1, 0}, domain: censoring},
		"censored both":             {x: at, mask: []float64{1, 0, 0}, domain: censoring},
		"censored and logistic":     {x: at, mask: []float64{0, 1, 0}, logistic: late, domain: censoring},
		"censored, none missing":    {x: at, mask: []float64{1, 1, 1}, domain: censoring},
	}
	for name, s := range planes() {
		r := incomplete{x: []float64{0.4, 0}, mask: []float64{1, 0}, domain: s}
		rows[name] = r
		r.weight.Scalar = true
		rows[name+", one weight"] = r
		rows[name+", near the boundary"] = incomplete{x: []float64{-0.3, 0}, mask: r.mask, domain: s}
	}
	return rows
}

// logNormal is log q without a constant.
func logNormal(m *model.Gaussian) func(x []float64) float64 {
	mu, p := m.Mean(), m.Precision()
	return func(x []float64) (log float64) {
		for j, v := range x {
			for k, u := range x {
				log -= 0.5 * (v - mu[j]) * p.At(j, k) * (u - mu[k])
			}
		}
		return log
	}
}

// nodes are completions of the row; far deviations and more, nothing is left outside.
func (r incomplete) nodes() (x, w []float64) { return testtables.Nodes(r.domain, r.x, r.mask, 11, 80) }

// log is log ∫ q(x) φ_Λ(x) dx_mis.
func (r incomplete) log(m *model.Gaussian) float64 {
	log, d, sum := logNormal(m), len(r.x), 0.0
	x, w := r.nodes()
	observed := make([]float64, d)
	for i := range w {
		row := x[i*d : i*d+d]
		p := w[i] * math.Exp(log(row))
		if r.logistic != nil {
			r.logistic.Observed(observed, row)
			for j, q := range observed {
				if r.logistic.Concerns(j) && r.mask[j] == 0 {
					q = 1 - q
				}
				p *= q
			}
		}
		sum += p
	}
	return math.Log(sum)
}

// objective is Σ_j g_j (2∂²_j ℓ + (∂_j ℓ)²) + 2∂_jg_j ∂_jℓ for ℓ = log, by differences of sixth order.
func (r incomplete) objective(m *model.Gaussian) (loss float64) {
	d := len(r.x)
	g, slope := slices.Repeat([]float64{1}, d), make([]float64, d)
	if r.domain.Bounded() {
		r.weight.At(r.domain, r.x, r.mask, g, slope, &domain.Tangent{})
	}
	for j := range d {
		if r.mask[j] == 0 {
			continue
		}
		const h = 0.01 // rounding of 1e−15 in ℓ is 1e−11 in its second difference
		at := func(k float64) float64 {
			moved := r
			moved.x = slices.Clone(r.x)
			moved.x[j] += k * h
			return moved.log(m)
		}
		up, down := [3]float64{at(1), at(2), at(3)}, [3]float64{at(-1), at(-2), at(-3)}
		first := (45*(up[0]-down[0]) - 9*(up[1]-down[1]) + up[2] - down[2]) / (60 * h)
		second := (270*(up[0]+down[0]) - 27*(up[1]+down[1]) + 2*(up[2]+down[2]) - 490*at(0)) / (180 * h * h)
		loss += g[j]*(2*second+first*first) + 2*slope[j]*first
	}
	return loss
}

// program has the quadrature's nodes as imputations of rows of one pattern.
func (r incomplete) program(
	t *testing.T, l way, m model.Model, o losses.Objective, x, weight []float64,
) *graph.Program {
	t.Helper()
	d := len(r.x)
	if r.logistic != nil {
		m = &model.Joint{Model: m, Missingness: model.NewLogisticMissingness(r.logistic)}
	}
	batch, draws, log := data.NewBatch(len(weight), d), []float64{}, []float64{}
	copy(batch.Weight, weight)
	for row := range slices.Chunk(x, d) {
		r.x = row
		at, w := r.nodes()
		draws = append(draws, at...)
		for _, v := range w {
			log = append(log, -math.Log(v))
		}
	}
	for i, v := range x {
		batch.Mask[i] = r.mask[i%d]
		batch.X[i] = v * batch.Mask[i]
	}
	p, err := losses.New(graph.Float64, l.Loss, l.weighting, m, o, len(weight), len(log)/len(weight))
	require.NoError(t, err)
	copy(p.Input(losses.InputX), draws)
	copy(p.Input(losses.InputLogProposal), log)
	losses.Bind(p, l, o, batch, stream.New(1))
	return p
}

// On domains, with censoring and with a missingness mechanism φ.
func TestMarginalAgainstQuadrature(t *testing.T) {
	for name, r := range incompleteRows() {
		t.Run(name, func(t *testing.T) {
			m := normalModel(t, len(r.x), model.FreeSymmetric)
			want := r.objective(m)
			o := losses.ObjectiveFor(r.domain, r.weight)
			one := []float64{1}
			p, direct := r.program(t, byIW, m, o, r.x, one), r.program(t, byDirect, m, o, r.x, one)
			require.InDelta(t, want, reported(t, p), 1e-8)
			require.InDeltaSlice(t, gradient(t, direct, m), gradient(t, p, m), 1e-8)
			truth := func() (float64, error) { return r.objective(m), nil }
			diff, err := gradcheck.Params(p, m.Params(), 1e-4, truth) // divides the truth's 1e−11
			require.NoError(t, err)
			require.Less(t, diff.Error, 5e-6, "%+v", diff)
		})
	}
}

// observedNodes integrate over x1, with a node where the weight of a plane has a kink.
func observedNodes(s *domain.Domain) (x, w []float64) {
	low, high := max(s.Lower[0], -8), min(s.Upper[0], 8)
	ends := []float64{low, low + 1, s.Upper[0] - 1}
	for _, h := range s.Half {
		if h.A[1] == 0 {
			high = min(high, h.B/h.A[0])
		}
		ends = append(ends, (h.B-math.Hypot(h.A[0], h.A[1]))/h.A[0])
	}
	ends = slices.DeleteFunc(append(ends, high), func(v float64) bool { return !(low <= v && v <= high) })
	slices.Sort(ends)
	for i, from := range ends[:len(ends)-1] {
		at, each := make([]float64, 60), make([]float64, 60)
		quad.Legendre{}.FixedLocations(at, each, from, ends[i+1])
		x, w = append(x, at...), append(w, each...)
	}
	return x, w
}

func TestTruncatedExpectedGradientIsZero(t *testing.T) {
	for name, s := range planes() {
		for _, weight := range []domain.Weight{{}, {Scalar: true}} {
			m := normalModel(t, 2, model.Natural)
			x1, w := observedNodes(s)
			r := incomplete{mask: []float64{1, 0}, domain: s}
			var x []float64
			for i, v := range x1 {
				r.x = []float64{v, 0}
				x = append(x, r.x...)
				w[i] *= math.Exp(r.log(m))
			}
			floats.Scale(1/floats.Sum(w), w)
			p := r.program(t, byIW, m, losses.Truncated{Domain: s, Weight: weight}, x, w)
			for _, g := range gradient(t, p, m) {
				require.InDelta(t, 0, g, 1e-10, "%s, %v", name, weight)
			}
		}
	}
}
