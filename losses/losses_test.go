package losses_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
)

const d = 4

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
	prec := mat.NewSymDense(d, nil)
	prec.SymOuterK(1, a)
	for j := range d {
		prec.SetSym(j, j, prec.At(j, j)+0.7)
		p.model.Location.Value[j] = 0.5 * rng.NormFloat64()
	}
	require.NoError(t, p.model.SetPrecision(prec))
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

func normal(t testing.TB, m *model.Gaussian, src rand.Source) *distmv.Normal {
	t.Helper()
	n, ok := distmv.NewNormalPrecision(m.Mean(), m.Precision(), src)
	require.True(t, ok, "not positive definite")
	return n
}

func split(mask []float64) (observed, gaps []int) {
	for j, m := range mask {
		if m != 0 {
			observed = append(observed, j)
		} else {
			gaps = append(gaps, j)
		}
	}
	return
}

// bind writes the rows, each repeated r times, into a program made by losses.New.
func (p problem) bind(prog *graph.Program, r int) {
	for i := range p.n {
		for k := range r {
			copy(prog.Input(losses.InputX)[(i*r+k)*d:], p.x[i*d:i*d+d])
		}
	}
	if prog.Has(losses.InputMask) {
		copy(prog.Input(losses.InputMask), p.mask)
	}
	copy(prog.Input(losses.InputWeight), p.weights())
}

// propose fills the gaps with N(0, sd²) draws and their log density.
func (p problem) propose(prog *graph.Program, r int, sd float64, rng *rand.Rand) {
	x, log := prog.Input(losses.InputX), prog.Input(losses.InputLogProposal)
	for i := range p.n {
		for k := range r {
			log[i*r+k] = 0
			for j := range d {
				if p.mask[i*d+j] == 0 {
					e := rng.NormFloat64()
					x[(i*r+k)*d+j] = sd * e
					log[i*r+k] -= 0.5*e*e + math.Log(sd)
				}
			}
		}
	}
}

func (p problem) condition(t testing.TB, prog *graph.Program, r int, rng rand.Source) {
	t.Helper()
	x := prog.Input(losses.InputX)
	joint := normal(t, p.model, rng)
	for i := range p.n {
		observed, gaps := split(p.mask[i*d : i*d+d])
		if len(gaps) == 0 {
			continue
		}
		draw := joint
		if len(observed) > 0 {
			var values []float64
			for _, j := range observed {
				values = append(values, p.x[i*d+j])
			}
			c, ok := joint.ConditionNormal(observed, values, rng)
			require.True(t, ok, "the conditional does not exist")
			draw = c
		}
		for k := range r {
			v := draw.Rand(nil)
			for a, j := range gaps {
				x[(i*r+k)*d+j] = v[a]
			}
		}
	}
}

func build(t testing.TB, l way, m model.Model, n, r int) *graph.Program {
	t.Helper()
	prog, err := losses.New(graph.Float64, l.Loss, l.weighting, m, losses.Classical, n, r)
	require.NoError(t, err)
	return prog
}

func gradient(prog *graph.Program, m model.Model) []float64 {
	var g []float64
	for _, q := range m.Params() {
		g = append(g, prog.Grad(q)...)
	}
	return g
}

// Marg-IW equals the gradient-first approach: (P), (M) through its weights, and central
// differences.
func TestPseudoLossHasTheGradientOfDirectIW(t *testing.T) {
	const n, r = 7, 5
	p := newProblem(t, n, 0.4, model.CholeskyFactor, 1)
	pseudo := build(t, byIW, p.model, n, r)
	direct := build(t, byDirect, p.model, n, r)
	for _, prog := range []*graph.Program{pseudo, direct} {
		p.bind(prog, r)
		p.propose(prog, r, 1.3, stream.New(2, 2))
		require.NoError(t, prog.Run())
	}
	require.Equal(t, pseudo.Output(losses.OutputReported), direct.Output(losses.OutputReported))
	require.InDeltaSlice(t, gradient(direct, p.model), gradient(pseudo, p.model), 1e-11)

	diff, err := gradcheck.Params(pseudo, p.model.Params(), gradcheck.Step, func() (float64, error) {
		err := pseudo.Run()
		return pseudo.Output(losses.OutputReported)[0], err
	})
	require.NoError(t, err)
	require.Less(t, diff.Error, 1e-8, "%+v", diff)
}

// (M) with self-normalised weights against score matching on
// f(x_Λ) = log Σ_k q(x_Λ, x'_k)/p'(x'_k), with f differentiated numerically.
func TestDirectIWIsScoreMatchingOnLogSumExp(t *testing.T) {
	const n, r, h = 3, 4, 1e-4
	p := newProblem(t, n, 0.4, model.CholeskyFactor, 3)
	prog := build(t, byDirect, p.model, n, r)
	p.bind(prog, r)
	p.propose(prog, r, 1, stream.New(4, 4))
	require.NoError(t, prog.Run())

	joint := normal(t, p.model, nil)
	logs := make([]float64, r)
	f := func(i, j int, step float64) float64 {
		for k := range r {
			row := append([]float64(nil), prog.Input(losses.InputX)[(i*r+k)*d:(i*r+k+1)*d]...)
			row[j] += step
			logs[k] = joint.LogProb(row) - prog.Input(losses.InputLogProposal)[i*r+k]
		}
		return floats.LogSumExp(logs)
	}
	want := 0.0
	for i := range n {
		for j := range d {
			if p.mask[i*d+j] == 1 {
				up, mid, down := f(i, j, h), f(i, j, 0), f(i, j, -h)
				s := (up - down) / (2 * h)
				want += p.weights()[i] * (2*(up-2*mid+down)/(h*h) + s*s)
			}
		}
	}
	require.InDelta(t, want, prog.Output(losses.OutputReported)[0], 1e-5)
}

// The closed form against gonum's marginal distribution, its gradient against differences.
func TestGaussianMarginal(t *testing.T) {
	const n = 12
	for name, kind := range map[string]model.Parameterisation{"cholesky": model.CholeskyFactor, "symmetric": model.FreeSymmetric} {
		t.Run(name, func(t *testing.T) {
			p := newProblem(t, n, 0.45, kind, 5)
			copy(p.mask[:d], []float64{0, 0, 0, 0}) // a row without any value counts nothing
			copy(p.x[:d], []float64{0, 0, 0, 0})
			copy(p.mask[d:3*d], []float64{1, 1, 1, 1, 1, 0, 1, 0})
			copy(p.mask[3*d:4*d], p.mask[2*d:3*d]) // an equal pattern, and not adjacent ones below
			copy(p.mask[8*d:9*d], p.mask[2*d:3*d])
			for i := range p.x {
				p.x[i] = 0.3 * float64(i%7-3) * p.mask[i]
			}
			prog := build(t, byClosedForm, p.model, n, 1)
			p.bind(prog, 1)
			diff, err := gradcheck.Params(prog, p.model.Params(), gradcheck.Step, func() (float64, error) { err := prog.Run(); return prog.Loss(), err })
			require.NoError(t, err)
			require.Less(t, diff.Error, 1e-8, "%+v", diff)

			require.NoError(t, prog.Run())
			joint, want := normal(t, p.model, nil), 0.0
			for i := range n {
				observed, _ := split(p.mask[i*d : i*d+d])
				if len(observed) == 0 {
					continue
				}
				marginal, ok := joint.MarginalNormal(observed, nil)
				require.True(t, ok)
				var values []float64
				for _, j := range observed {
					values = append(values, p.x[i*d+j])
				}
				s := marginal.ScoreInput(nil, values)
				var sigma mat.SymDense
				marginal.CovarianceMatrix(&sigma)
				var chol mat.Cholesky
				require.True(t, chol.Factorize(&sigma))
				var q mat.SymDense
				require.NoError(t, chol.InverseTo(&q))
				want += p.weights()[i] * (-2*mat.Trace(&q) + floats.Dot(s, s))
			}
			require.InDelta(t, want, prog.Loss(), 1e-10)
		})
	}
}

func TestGaussianMarginalRefusesIndefinite(t *testing.T) {
	p := newProblem(t, 2, 0, model.FreeSymmetric, 6)
	prec := mat.NewSymDense(d, []float64{1, 2, 0, 0, 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})
	require.NoError(t, p.model.SetPrecision(prec))
	prog := build(t, byClosedForm, p.model, 2, 1)
	p.bind(prog, 1)
	require.NoError(t, prog.Run(), "nothing missing: no conditional is needed")
	prog.Input(losses.InputMask)[0], prog.Input(losses.InputMask)[1] = 0, 0
	require.ErrorIs(t, prog.Run(), losses.ErrNotPositiveDefinite)
}

func TestLeaveOneOutIsUnbiased(t *testing.T) {
	const n, r, repeats = 6, 4, 20000
	p := newProblem(t, n, 0.5, model.CholeskyFactor, 8)
	closed := build(t, byClosedForm, p.model, n, 1)
	p.bind(closed, 1)
	require.NoError(t, closed.Run())
	want := gradient(closed, p.model)

	plug := build(t, byUniform, p.model, n, r)
	loo := build(t, byLOO, p.model, n, r)
	p.bind(plug, r)
	p.bind(loo, r)
	src := rand.NewPCG(9, 9)
	m := len(want)
	sum, square := map[*graph.Program][]float64{plug: make([]float64, m), loo: make([]float64, m)}, map[*graph.Program][]float64{plug: make([]float64, m), loo: make([]float64, m)}
	for range repeats {
		p.condition(t, plug, r, src)
		copy(loo.Input(losses.InputX), plug.Input(losses.InputX))
		for prog := range sum {
			require.NoError(t, prog.Run())
			for i, g := range gradient(prog, p.model) {
				sum[prog][i] += g
				square[prog][i] += g * g
			}
		}
	}
	worst := func(prog *graph.Program) (z, bias float64) {
		for i := range want {
			mean := sum[prog][i] / repeats
			se := math.Sqrt((square[prog][i]/repeats - mean*mean) / repeats)
			if se > 0 {
				z = max(z, math.Abs(mean-want[i])/se)
			}
			bias = max(bias, math.Abs(mean-want[i]))
		}
		return
	}
	zLOO, biasLOO := worst(loo)
	zPlug, biasPlug := worst(plug)
	t.Logf("r = %d: leave-one-out bias %.4f (%.1f s.e.), plug-in bias %.4f (%.1f s.e.), gradient up to %.2f",
		r, biasLOO, zLOO, biasPlug, zPlug, floats.Norm(want, math.Inf(1)))
	// 14 numbers: the largest of so many standard normals exceeds 4 once in a thousand runs; the seed
	// is fixed.
	require.Less(t, zLOO, 4.0)
	require.Greater(t, zPlug, 20.0)
}

// Without missing cells every loss is ordinary score matching.
func TestNoGapIsOrdinaryScoreMatching(t *testing.T) {
	const n = 5
	for name, l := range map[string]way{
		"pseudo uniform": byUniform, "pseudo leave-one-out": byLOO,
		"pseudo snis": byIW, "direct": byDirect,
		"full": byZeroed, "em": byEM,
		"em-full": byEMFull, "closed": byClosedForm,
	} {
		t.Run(name, func(t *testing.T) {
			p := newProblem(t, n, 0, model.CholeskyFactor, 10)
			r := 4
			if name == "closed" {
				r = 1
			}
			prog := build(t, l, p.model, n, r)
			p.bind(prog, r)
			textbook := func() float64 {
				prec, mu := p.model.Precision(), p.model.Mean()
				loss := 0.0
				for i, w := range p.weights() {
					var s mat.VecDense
					s.MulVec(prec, mat.NewVecDense(d, floats.SubTo(make([]float64, d), p.x[i*d:i*d+d], mu)))
					loss += w * (-2*mat.Trace(prec) + mat.Dot(&s, &s))
				}
				return loss
			}
			require.NoError(t, prog.Run())
			require.InDelta(t, textbook(), prog.Output(losses.OutputReported)[0], 1e-11)
			diff, err := gradcheck.Params(prog, p.model.Params(), gradcheck.Step, func() (float64, error) { return textbook(), nil })
			require.NoError(t, err)
			require.Less(t, diff.Error, 1e-8, "%+v", diff)
		})
	}
}

// EM and Zeroed by their formulas, with fixed weights.
func TestCompleteRows(t *testing.T) {
	for name, c := range map[string]struct {
		loss way
		r    int
	}{
		"zeroed":  {byZeroed, 1},
		"em":      {byEM, 3},
		"em-full": {byEMFull, 3},
	} {
		t.Run(name, func(t *testing.T) { completeRows(t, c.loss, c.r) })
	}
}

func completeRows(t *testing.T, l way, r int) {
	const n = 6
	p := newProblem(t, n, 0.4, model.FreeSymmetric, 11)
	prog := build(t, l, p.model, n, r)
	p.bind(prog, r)
	if r > 1 {
		p.propose(prog, r, 1, stream.New(12, 12))
	}
	x, logp := prog.Input(losses.InputX), prog.Input(losses.InputLogProposal)
	w := make([]float64, n*r)
	joint := normal(t, p.model, nil)
	for i := range n {
		sum := 0.0
		for k := i * r; k < (i+1)*r; k++ {
			w[k] = 1
			if r > 1 {
				w[k] = math.Exp(joint.LogProb(x[k*d:k*d+d]) - logp[k])
			}
			sum += w[k]
		}
		floats.Scale(1/sum, w[i*r:(i+1)*r])
	}
	formula := func() float64 {
		prec, mu, loss := p.model.Precision(), p.model.Mean(), 0.0
		for k, wk := range w {
			i := k / r
			var s mat.VecDense
			s.MulVec(prec, mat.NewVecDense(d, floats.SubTo(make([]float64, d), x[k*d:k*d+d], mu)))
			for j := range d {
				if p.mask[i*d+j] == 1 || l == byEMFull {
					loss += p.weights()[i] * wk * (-2*prec.At(j, j) + s.AtVec(j)*s.AtVec(j))
				}
			}
		}
		return loss
	}
	require.NoError(t, prog.Run())
	require.InDelta(t, formula(), prog.Output(losses.OutputReported)[0], 1e-11)
	require.InDeltaSlice(t, w, prog.Output(losses.OutputWeights), 1e-12)
	diff, err := gradcheck.Params(prog, p.model.Params(), gradcheck.Step, func() (float64, error) { return formula(), nil })
	require.NoError(t, err)
	require.Less(t, diff.Error, 1e-8, "%+v", diff)
}

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
)
