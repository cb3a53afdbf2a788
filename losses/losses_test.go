package losses_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/losses"
)

const d = 4

type way struct {
	losses.Loss
	weighting losses.Weighting
}

var (
	byUniform      = way{losses.Marginal, losses.Uniform}
	byLOO          = way{losses.Marginal, losses.LeaveOneOut}
	byIW           = way{losses.Marginal, losses.SelfNormalised}
	byDirect       = way{losses.Direct, losses.SelfNormalised}
	byZeroed       = way{losses.Complete, losses.Uniform}
	byEM           = way{losses.Complete, losses.SelfNormalised}
	byEMFull       = way{losses.CompleteData, losses.SelfNormalised}
	byCompleteData = way{losses.CompleteData, losses.Uniform}
	byClosedForm   = way{losses.GaussianMarginal, losses.Uniform}
	byGaussian     = way{losses.GaussianComplete, losses.Uniform}
)

type problem struct {
	model *model.Gaussian
	x     []float64 // (n, d), zero where missing
	mask  []float64
	n     int
}

func newProblem(t testing.TB, n int, missing float64, kind model.Parameterisation, seed uint64) problem {
	t.Helper()
	rng := stream.New(seed, 1)
	p := problem{model: model.NewGaussian(d, kind), n: n, x: make([]float64, n*d), mask: make([]float64, n*d)}
	a := mat.NewDense(d, d, nil)
	for j := range d {
		for k := range d {
			a.Set(j, k, 0.5*rng.NormFloat64())
		}
	}
	prec, mean := mat.NewSymDense(d, nil), make([]float64, d)
	prec.SymOuterK(1, a)
	for j := range d {
		prec.SetSym(j, j, prec.At(j, j)+0.7)
		mean[j] = 0.5 * rng.NormFloat64()
	}
	require.NoError(t, p.model.SetPrecision(prec))
	p.model.SetMean(mean)
	for i := range p.x {
		if rng.Float64() >= missing {
			p.mask[i], p.x[i] = 1, rng.NormFloat64()
		}
	}
	return p
}

func (p problem) weights() []float64 {
	w := make([]float64, p.n)
	for i := range w {
		w[i] = (1 + float64(i%3)) / float64(p.n)
	}
	return w
}

func (p problem) batch() *data.Batch {
	b := data.NewBatch(p.n, d)
	for i := range p.n {
		b.Rows = append(b.Rows, i)
	}
	copy(b.X, p.x)
	copy(b.Mask, p.mask)
	copy(b.Weight, p.weights())
	return b
}

// program has the rows, each repeated r times, gaps filled with N(0, 1) draws, and noise if the
// objective adds any.
func (p problem) program(t testing.TB, l way, m model.Model, o losses.Objective, r int) *graph.Program {
	t.Helper()
	prog, err := losses.New(graph.Float64, l.Loss, l.weighting, m, o, p.n, r)
	require.NoError(t, err)
	b := p.batch()
	if n, ok := o.(losses.Noising); ok {
		n.AddNoise(b, stream.New(5, 1))
	}
	x, log, rng := prog.Input(losses.InputX), prog.Input(losses.InputLogProposal), stream.New(5, 2)
	for at := range p.n * r {
		i := at / r
		copy(x[at*d:], b.X[i*d:i*d+d])
		for j := range d {
			if p.mask[i*d+j] == 0 && !l.Needs().NoDraws {
				e := rng.NormFloat64()
				x[at*d+j] = e
				log[at] -= 0.5 * e * e
			}
		}
	}
	losses.Bind(prog, l, o, b, stream.New(5, 3))
	return prog
}

func reported(t testing.TB, prog *graph.Program) float64 {
	t.Helper()
	require.NoError(t, prog.Run())
	return prog.Output(losses.OutputReported)[0]
}

func gradient(t testing.TB, prog *graph.Program, m model.Model) (out []float64) {
	t.Helper()
	require.NoError(t, prog.Run())
	for _, q := range m.Params() {
		out = append(out, prog.Grad(q)...)
	}
	return out
}

func supports() map[string]*domain.Domain {
	cut := domain.All(d)
	cut.Lower[0], cut.Upper[1] = -4, 5
	cut.Half = []domain.HalfSpace{{A: []float64{0.5, 0, 1, -0.7}, B: 6}}
	return map[string]*domain.Domain{"all": nil, "box and half-space": cut}
}

var weight = domain.Weight{Cap: 7}

func sliced(t *testing.T, s *domain.Domain) map[string]losses.Objective {
	t.Helper()
	out := map[string]losses.Objective{}
	for _, directions := range []losses.Directions{losses.Rademacher, losses.Normal, losses.Basis} {
		for _, reduced := range []bool{false, true} {
			o := losses.Sliced{Directions: directions, VarianceReduced: reduced, Domain: s, Weight: weight}
			if directions != losses.Basis {
				o.Number = 2
			}
			out[fmt.Sprintf("sliced %s %v", directions, reduced)] = o
		}
	}
	return out
}

func fixedNoise(weight string) losses.Denoising {
	return losses.Denoising{Noise: noise.Schedule{Kind: noise.Fixed, Least: 0.3}, Weight: weight}
}

var ladder = losses.Denoising{Noise: noise.Schedule{Kind: noise.Preserving, Least: 0.1, Most: 20}, Weight: "variance"}

// scaled is a normal of x/c, c = √(a² + σ²): a model that knows its level of noise.
type scaled struct {
	*model.Gaussian
	signal, noise graph.Node
}

func (s scaled) AtNoise(signal, noise graph.Node) model.Model {
	return scaled{s.Gaussian, signal, noise}
}

func (s scaled) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	reciprocal := &graph.Function{Name: "1/c", F: func(v float64) float64 { return 1 / math.Sqrt(v) }}
	square := b.Add(b.Map(graph.Square, s.signal), b.Map(graph.Square, s.noise))
	inverse := b.Columns(b.Map(reciprocal, square), d)
	t := s.Gaussian.Evaluate(b, b.Prod(x, inverse))
	return model.Evaluation{LogDensity: t.LogDensity, Score: b.Prod(t.Score, inverse)}
}

// Gradients equal differences of the reported loss, and the pseudo-loss has the loss and the
// gradient of the direct one.
func TestGradients(t *testing.T) {
	p := newProblem(t, 7, 0.4, model.CholeskyFactor, 21)
	check := func(name string, m model.Model, o losses.Objective) {
		t.Run(name, func(t *testing.T) {
			var found [2][]float64
			for at, l := range []way{byIW, byDirect, byZeroed} {
				prog := p.program(t, l, m, o, []int{4, 4, 1}[at])
				loss := func() float64 { return reported(t, prog) }
				testtables.Gradient(t, prog, m.Params(), 1e-8, loss)
				if at < 2 {
					found[at] = append(gradient(t, prog, m), loss())
				}
			}
			require.InDeltaSlice(t, found[1], found[0], 1e-10)
		})
	}
	for where, s := range supports() {
		check(where, p.model, losses.ObjectiveFor(s, weight))
		for name, o := range sliced(t, s) {
			check(where+"/"+name, p.model, o)
		}
	}
	check("denoising, variance", p.model, fixedNoise("variance"))
	check("denoising, one", p.model, fixedNoise("one"))
	check("levels of noise", scaled{Gaussian: p.model}, ladder)
}

// Losses of completed rows with gaps, all without: Σ w_i w_ik Σ_j (−2P_jj + s_j²), w_ik fixed.
func TestScoreMatchingByItsFormula(t *testing.T) {
	for _, kind := range []model.Parameterisation{model.CholeskyFactor, model.FreeSymmetric, model.Natural} {
		for name, c := range map[string]struct {
			way     way
			r       int
			missing float64
		}{
			"zeroed": {byZeroed, 1, 0.4}, "em": {byEM, 3, 0.4}, "em-full": {byEMFull, 3, 0.4},
			"zeroed, no gap": {byZeroed, 4, 0}, "em, no gap": {byEM, 4, 0}, "em-full, no gap": {byEMFull, 4, 0},
			"uniform, no gap": {byUniform, 4, 0}, "leave one out, no gap": {byLOO, 4, 0},
			"weighted, no gap": {byIW, 4, 0}, "direct, no gap": {byDirect, 4, 0},
			"closed form, no gap": {byClosedForm, 1, 0}, "completed, no gap": {byGaussian, 1, 0},
		} {
			if c.way == byClosedForm && kind == model.Natural {
				continue // needs the mean
			}
			t.Run(fmt.Sprint(name, kind), func(t *testing.T) {
				p := newProblem(t, 6, c.missing, kind, 11)
				prog := p.program(t, c.way, p.model, losses.Classical, c.r)
				x, w := prog.Input(losses.InputX), make([]float64, p.n*c.r)
				joint := normal(t, p.model, nil)
				for k := range w {
					w[k] = math.Exp(joint.LogProb(x[k*d:k*d+d]) - prog.Input(losses.InputLogProposal)[k])
				}
				for k := 0; k < len(w); k += c.r {
					floats.Scale(1/floats.Sum(w[k:k+c.r]), w[k:k+c.r])
				}
				formula := func() float64 { return p.scoreMatching(x, w, c.way == byEMFull) }
				require.InDelta(t, formula(), reported(t, prog), 1e-11)
				testtables.Gradient(t, prog, p.model.Params(), 1e-8, formula)
				if c.missing > 0 {
					require.InDeltaSlice(t, w, prog.Output(losses.OutputWeights), 1e-12)
				}
			})
		}
	}
}

func (p problem) scoreMatching(x, w []float64, all bool) (loss float64) {
	prec, mu, r := p.model.Precision(), p.model.Mean(), len(w)/p.n
	for k, wk := range w {
		i := k / r
		var s mat.VecDense
		s.MulVec(prec, mat.NewVecDense(d, floats.SubTo(make([]float64, d), x[k*d:k*d+d], mu)))
		for j := range d {
			if all || p.mask[i*d+j] == 1 {
				loss += p.weights()[i] * wk * (-2*prec.At(j, j) + s.AtVec(j)*s.AtVec(j))
			}
		}
	}
	return loss
}

func normal(t testing.TB, m *model.Gaussian, src rand.Source) *distmv.Normal {
	t.Helper()
	n, ok := distmv.NewNormalPrecision(m.Mean(), m.Precision(), src)
	require.True(t, ok, "not positive definite")
	return n
}

// cells lists the positions of a mask's values, and the observed values of x.
func cells(mask, x []float64) (observed, gaps []int, values []float64) {
	for j, m := range mask {
		if m != 0 {
			observed, values = append(observed, j), append(values, x[j])
		} else {
			gaps = append(gaps, j)
		}
	}
	return observed, gaps, values
}

// The closed form against gonum's marginal distribution, its gradient against differences.
func TestGaussianMarginal(t *testing.T) {
	for _, kind := range []model.Parameterisation{model.CholeskyFactor, model.FreeSymmetric} {
		p := newProblem(t, 12, 0.45, kind, 5)
		clear(p.mask[:d]) // a row without any value counts nothing
		copy(p.mask[d:3*d], []float64{1, 1, 1, 1, 1, 0, 1, 0})
		copy(p.mask[3*d:4*d], p.mask[2*d:3*d]) // an equal pattern, and not adjacent ones below
		copy(p.mask[8*d:9*d], p.mask[2*d:3*d])
		for i := range p.x {
			p.x[i] = 0.3 * float64(i%7-3) * p.mask[i]
		}
		prog := p.program(t, byClosedForm, p.model, losses.Classical, 1)
		testtables.Gradient(t, prog, p.model.Params(), 1e-8, nil)

		require.NoError(t, prog.Run())
		joint, want := normal(t, p.model, nil), 0.0
		for i := range p.n {
			observed, _, values := cells(p.mask[i*d:i*d+d], p.x[i*d:i*d+d])
			if len(observed) == 0 {
				continue
			}
			marginal, ok := joint.MarginalNormal(observed, nil)
			require.True(t, ok)
			s := marginal.ScoreInput(nil, values)
			var sigma mat.SymDense
			marginal.CovarianceMatrix(&sigma)
			var q mat.Dense
			require.NoError(t, q.Inverse(&sigma))
			want += p.weights()[i] * (-2*mat.Trace(&q) + floats.Dot(s, s))
		}
		require.InDelta(t, want, prog.Loss(), 1e-10)
	}
}

func TestGaussianMarginalRefusesIndefinite(t *testing.T) {
	p := newProblem(t, 2, 0, model.FreeSymmetric, 6)
	prec := mat.NewSymDense(d, []float64{1, 2, 0, 0, 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})
	require.NoError(t, p.model.SetPrecision(prec))
	prog := p.program(t, byClosedForm, p.model, losses.Classical, 1)
	require.NoError(t, prog.Run(), "nothing missing: no conditional is needed")
	clear(prog.Input(losses.InputMask)[:2])
	require.ErrorIs(t, prog.Run(), losses.ErrNotPositiveDefinite)
}

// condition fills the gaps of a program with draws from the model's conditional distribution.
func (p problem) condition(t testing.TB, prog *graph.Program, r int, rng rand.Source) {
	t.Helper()
	x := prog.Input(losses.InputX)
	joint := normal(t, p.model, rng)
	for i := range p.n {
		observed, gaps, values := cells(p.mask[i*d:i*d+d], p.x[i*d:i*d+d])
		if len(gaps) == 0 {
			continue
		}
		draw := joint
		if len(observed) > 0 {
			var ok bool
			draw, ok = joint.ConditionNormal(observed, values, rng)
			require.True(t, ok, "the conditional does not exist")
		}
		for k := range r {
			v := draw.Rand(nil)
			for a, j := range gaps {
				x[(i*r+k)*d+j] = v[a]
			}
		}
	}
}

// worst is the largest |mean − want|/se of repeated gradients; variance is the sum of se².
func worst(repeats int, want []float64, repeat func() []float64) (z, variance float64) {
	mean, se := testtables.MeanSE(repeats, func(int) []float64 { return repeat() })
	for i, w := range want {
		z = max(z, math.Abs(mean[i]-w)/(se[i]+1e-12))
		variance += se[i] * se[i]
	}
	return z, variance
}

func TestLeaveOneOutIsUnbiased(t *testing.T) {
	const r, repeats = 4, 20000
	p := newProblem(t, 6, 0.5, model.CholeskyFactor, 8)
	want := gradient(t, p.program(t, byClosedForm, p.model, losses.Classical, 1), p.model)
	bias := func(l way) float64 {
		prog, src := p.program(t, l, p.model, losses.Classical, r), rand.NewPCG(9, 9)
		z, _ := worst(repeats, want, func() []float64 {
			p.condition(t, prog, r, src)
			return gradient(t, prog, p.model)
		})
		return z
	}
	// 14 numbers: the largest of so many standard normals exceeds 4 once in a thousand runs; the seed
	// is fixed.
	require.Less(t, bias(byLOO), 4.0)
	require.Greater(t, bias(byUniform), 20.0)
}

// All d basis directions together are the classical objective, or the truncated one.
func TestSlicedBasisIsClassical(t *testing.T) {
	p := newProblem(t, 9, 0.4, model.CholeskyFactor, 22)
	for where, s := range supports() {
		for _, reduced := range []bool{false, true} {
			for _, l := range []way{byUniform, byLOO, byIW, byEM} {
				want := p.program(t, l, p.model, losses.ObjectiveFor(s, weight), 5)
				o := losses.Sliced{Directions: losses.Basis, VarianceReduced: reduced, Domain: s, Weight: weight}
				got := p.program(t, l, p.model, o, 5)
				says := fmt.Sprint(where, reduced, l)
				require.InDeltaSlice(t, gradient(t, want, p.model), gradient(t, got, p.model), 1e-10, says)
				require.InDelta(t, reported(t, want), reported(t, got), 1e-10, says)
			}
		}
	}
}

// Over directions the sliced gradient has the classical one for its mean.
func TestSlicedIsUnbiased(t *testing.T) {
	p := newProblem(t, 6, 0.4, model.CholeskyFactor, 23)
	for where, s := range supports() {
		spread := map[string]float64{}
		want := gradient(t, p.program(t, byIW, p.model, losses.ObjectiveFor(s, weight), 4), p.model)
		for name, o := range sliced(t, s) {
			if o.(losses.Sliced).Directions == losses.Basis {
				continue
			}
			prog, b, rng := p.program(t, byIW, p.model, o, 4), p.batch(), stream.New(9)
			z, variance := worst(4000, want, func() []float64 {
				losses.Bind(prog, byIW, o, b, rng)
				return gradient(t, prog, p.model)
			})
			require.Less(t, z, 4.5, "%s %s", where, name)
			spread[name] = variance
		}
		for _, directions := range []losses.Directions{losses.Rademacher, losses.Normal} {
			name := fmt.Sprintf("sliced %s ", directions)
			require.Less(t, spread[name+"true"], spread[name+"false"])
		}
	}
}

// Nothing missing: Vincent 2011, equation 10 (times 2 and ν): ‖s(x̃) − (x − x̃)/σ²‖².
func TestDenoisingTextbook(t *testing.T) {
	p := newProblem(t, 5, 0, model.FreeSymmetric, 25)
	for name, factor := range map[string]float64{"one": 1, "variance": 0.09} {
		for _, l := range []way{byZeroed, byUniform} {
			prog, want := p.program(t, l, p.model, fixedNoise(name), 1), 0.0
			x, joint := prog.Input(losses.InputX), normal(t, p.model, nil)
			for i, w := range p.weights() {
				s := joint.ScoreInput(nil, x[i*d:i*d+d])
				for j := range d {
					gap := s[j] - (p.x[i*d+j]-x[i*d+j])/0.09
					want += w * factor * gap * gap
				}
			}
			require.InDelta(t, want, reported(t, prog), 1e-9, "%T", l)
		}
	}
}
