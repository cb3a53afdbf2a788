package losses_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/losses"
)

// All integrals over x2 are by quadrature, the outside truth.
type plane struct {
	name   string
	domain *domain.Domain
	weight domain.Weight
}

func planes() []plane {
	box := domain.All(2)
	box.Lower[0], box.Lower[1], box.Upper[1] = -0.4, -0.3, 1.5
	half := domain.All(2)
	half.Half = []domain.HalfSpace{{A: []float64{1, 0.7}, B: 0.9}}
	both := domain.All(2) // the box does not bound the missing x2
	both.Lower[0] = -0.8
	both.Half = half.Half
	two := domain.All(2) // the second half-space has no part in x2
	two.Half = []domain.HalfSpace{{A: []float64{-0.6, 1.1}, B: 0.8}, {A: []float64{2, 0}, B: 2.4}}
	var out []plane
	for _, w := range []domain.Weight{{}, {Scalar: true}} {
		for name, s := range map[string]*domain.Domain{"box": box, "half-space": half, "box and half-space": both, "two half-spaces": two} {
			out = append(out, plane{fmt.Sprint(name, w), s, w})
		}
	}
	return out
}

var (
	planeMean      = []float64{0.2, -0.1}
	planePrecision = mat.NewSymDense(2, []float64{1.4, 0.6, 0.6, 1.1})
)

// Where an unbounded range is cut off: less than e^−30 of the density is left.
const reach, far = 8, 14

func (p plane) first() (low, high float64) {
	low, high = max(p.domain.Lower[0], -reach), min(p.domain.Upper[0], reach)
	for _, h := range p.domain.Half {
		if h.A[1] == 0 {
			high = min(high, h.B/h.A[0])
		}
	}
	return low, high
}

func (p plane) second(x1 float64) (low, high float64) {
	low, high = max(p.domain.Lower[1], -far), min(p.domain.Upper[1], far)
	for _, h := range p.domain.Half {
		if h.A[1] > 0 {
			high = min(high, (h.B-h.A[0]*x1)/h.A[1])
		}
	}
	return low, high
}

func pieces(low, high float64, breaks []float64, panels, each int) (x, w []float64) {
	slices.Sort(breaks)
	for _, b := range append(breaks, high) {
		if b = min(b, high); b > low+1e-9 {
			a, c := nodes(low, b, panels, each)
			x, w, low = append(x, a...), append(w, c...), b
		}
	}
	return x, w
}

func (p plane) kinks(j int, other float64) []float64 {
	c := p.weight.Cap
	if c == 0 {
		c = 1
	}
	low, high := p.domain.Lower[j], p.domain.Upper[j]
	out := []float64{low + c, high - c, (low + high) / 2}
	for _, h := range p.domain.Half {
		out = append(out, (h.B-c*math.Hypot(h.A[0], h.A[1])-h.A[1-j]*other)/h.A[j])
	}
	return slices.DeleteFunc(out, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

func nodes(low, high float64, panels, each int) (x, w []float64) {
	step := (high - low) / float64(panels)
	for k := range panels {
		a, b := make([]float64, each), make([]float64, each)
		quad.Legendre{}.FixedLocations(a, b, low+float64(k)*step, low+float64(k+1)*step)
		x, w = append(x, a...), append(w, b...)
	}
	return x, w
}

func logQ(m *model.Gaussian, x1, x2 float64) float64 {
	mu, p := m.Mean(), m.Precision()
	a, b := x1-mu[0], x2-mu[1]
	return -0.5 * (p.At(0, 0)*a*a + 2*p.At(0, 1)*a*b + p.At(1, 1)*b*b)
}

// marginal is log ∫ q(x1, x2) dx2.
func (p plane) marginal(m *model.Gaussian, x1 float64) float64 {
	low, high := p.second(x1)
	x, w := nodes(low, high, 8, 30)
	sum := 0.0
	for k := range x {
		sum += w[k] * math.Exp(logQ(m, x1, x[k]))
	}
	return math.Log(sum)
}

// objective is g (2ℓ” + ℓ'²) + 2g'ℓ' for the marginal ℓ, by differences of sixth order.
func (p plane) objective(m *model.Gaussian, x1 float64) float64 {
	const h = 0.01 // ℓ comes with rounding of 1e−15, hence its second difference of 1e−11; h⁶ is less
	f := func(k float64) float64 { return p.marginal(m, x1+k*h) }
	first := (45*(f(1)-f(-1)) - 9*(f(2)-f(-2)) + f(3) - f(-3)) / (60 * h)
	second := (270*(f(1)+f(-1)) - 27*(f(2)+f(-2)) + 2*(f(3)+f(-3)) - 490*f(0)) / (180 * h * h)
	g, slope := p.g(x1)
	return g*(2*second+first*first) + 2*slope*first
}

func (p plane) g(x1 float64) (g, slope float64) {
	all, slopes := make([]float64, 2), make([]float64, 2)
	p.weight.At(p.domain, []float64{x1, math.NaN()}, []float64{1, 0}, all, slopes, &domain.Tangent{})
	return all[0], slopes[0]
}

// program has the quadrature's nodes as imputations, so that E_i is the quadrature.
func (p plane) program(t *testing.T, l way, o losses.Objective, m *model.Gaussian, x1, weight []float64) *graph.Program {
	const panels, each = 8, 30
	r := panels * each
	prog, err := losses.New(graph.Float64, l.Loss, l.weighting, m, o, len(x1), r)
	require.NoError(t, err)
	x, log := prog.Input(losses.InputX), prog.Input(losses.InputLogProposal)
	b := data.NewBatch(len(x1), 2)
	for i, v := range x1 {
		low, high := p.second(v)
		a, w := nodes(low, high, panels, each)
		for k := range a {
			x[(i*r+k)*2], x[(i*r+k)*2+1], log[i*r+k] = v, a[k], -math.Log(w[k])
		}
		b.X[2*i], b.Mask[2*i], b.Weight[i] = v, 1, weight[i]
	}
	losses.Bind(prog, l, o, b, nil)
	return prog
}

func planeModel(t testing.TB, kind model.Parameterisation) *model.Gaussian {
	t.Helper()
	m := model.NewGaussian(2, kind)
	require.NoError(t, m.SetPrecision(planePrecision))
	m.SetMean(planeMean)
	return m
}

func TestTruncatedMarginalAgainstQuadrature(t *testing.T) {
	for _, p := range planes() {
		t.Run(p.name, func(t *testing.T) {
			low, high := p.first()
			low, high = max(low, -2)+0.137, min(high, 2)-0.0531
			x1 := []float64{low, low + 0.31*(high-low), low + 0.77*(high-low), high}
			weight := []float64{0.1, 0.4, 0.3, 0.2}
			m := planeModel(t, model.CholeskyFactor)
			o := losses.Truncated{Domain: p.domain, Weight: p.weight}
			truth := func() float64 {
				sum := 0.0
				for i, v := range x1 {
					sum += weight[i] * p.objective(m, v)
				}
				return sum
			}
			for _, l := range []way{byIW, byDirect} {
				prog := p.program(t, l, o, m, x1, weight)
				require.NoError(t, prog.Run())
				require.InDelta(t, truth(), prog.Output(losses.OutputReported)[0], 1e-9)
				const step = 1e-4 // by which the 1e−11 of the truth is divided
				diff, err := gradcheck.Params(prog, m.Params(), step, func() (float64, error) { return truth(), nil })
				require.NoError(t, err)
				require.Less(t, diff.Error, 1e-6, "%+v", diff)
			}
		})
	}
}

// The expected gradient is zero at the truth, but not if imputed values leave the domain.
func TestTruncatedExpectedGradientIsZero(t *testing.T) {
	for _, p := range planes() {
		t.Run(p.name, func(t *testing.T) {
			m := planeModel(t, model.Natural)
			low, high := p.first()
			x1, w := pieces(low, high, p.kinks(0, 0), 12, 10)
			expected := func(o losses.Objective, imputed plane) float64 {
				weight, total := make([]float64, len(w)), 0.0
				for i := range w {
					weight[i] = w[i] * math.Exp(p.marginal(m, x1[i]))
					total += weight[i]
				}
				for i := range weight {
					weight[i] /= total
				}
				prog := imputed.program(t, byIW, o, m, x1, weight)
				require.NoError(t, prog.Run())
				largest := 0.0
				for _, q := range m.Params() {
					for _, g := range prog.Grad(q) {
						largest = max(largest, math.Abs(g))
					}
				}
				return largest
			}
			require.Less(t, expected(losses.Truncated{Domain: p.domain, Weight: p.weight}, p), 1e-10)
			require.Greater(t, expected(losses.Classical, p), 0.02, "without g and tangents")
			outside := p
			outside.domain = domain.All(2)
			require.Greater(t, expected(losses.Truncated{Domain: p.domain, Weight: p.weight}, outside), 0.02, "imputed values leave the domain")
			if len(p.domain.Half) > 0 {
				paper := p.weight
				paper.NoTangent = true
				require.Greater(t, expected(losses.Truncated{Domain: p.domain, Weight: paper}, p), 0.02, "without the tangential correction")
			}
		})
	}
}

func TestFullDataEMWeightsCompletedRows(t *testing.T) {
	box := domain.All(2)
	box.Lower[0], box.Lower[1], box.Upper[1] = -0.4, -0.3, 1.5
	p := plane{domain: box}
	m := planeModel(t, model.CholeskyFactor)
	o := losses.Truncated{Domain: p.domain, Weight: p.weight}
	x1 := []float64{0.3}
	prog := p.program(t, byEMFull, o, m, x1, []float64{1})
	require.NoError(t, prog.Run())
	low, high := p.second(x1[0])
	x2, w := nodes(low, high, 8, 30)
	mu, pr, want, total := m.Mean(), m.Precision(), 0.0, 0.0
	for k, v := range x2 {
		weight := w[k] * math.Exp(logQ(m, x1[0], v))
		g, slope := make([]float64, 2), make([]float64, 2)
		p.weight.At(p.domain, []float64{x1[0], v}, []float64{1, 1}, g, slope, &domain.Tangent{})
		for j := range 2 {
			s := -pr.At(j, 0)*(x1[0]-mu[0]) - pr.At(j, 1)*(v-mu[1])
			want += weight * (g[j]*(-2*pr.At(j, j)+s*s) + 2*slope[j]*s)
		}
		total += weight
	}
	require.InDelta(t, want/total, prog.Output(losses.OutputReported)[0], 1e-10)
}
