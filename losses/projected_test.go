package losses_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/stream"
	"missingscore/losses"
)

func supports() map[string]*domain.Domain {
	cut := domain.All(d)
	cut.Lower[0], cut.Upper[1] = -4, 5
	cut.Half = []domain.HalfSpace{{A: []float64{0.5, 0, 1, -0.7}, B: 6}}
	return map[string]*domain.Domain{"all": nil, "box and half-space": cut}
}

var weight = domain.Weight{Cap: 7}

func (p problem) batch() *data.Batch {
	b := data.NewBatch(p.n, d)
	copy(b.X, p.x)
	copy(b.Mask, p.mask)
	copy(b.Weight, p.weights())
	return b
}

func (p problem) objective(t testing.TB, l way, o losses.Objective, r int, seed uint64) *graph.Program {
	t.Helper()
	prog, err := losses.New(graph.Float64, l.Loss, l.weighting, p.model, o, p.n, r)
	require.NoError(t, err)
	b := p.batch()
	if n, ok := o.(losses.Noising); ok {
		n.AddNoise(b, stream.New(seed, 1))
	}
	for i := range p.n {
		for k := range r {
			copy(prog.Input(losses.InputX)[(i*r+k)*d:], b.X[i*d:i*d+d])
		}
	}
	p.propose(prog, r, 1, stream.New(seed, 2))
	losses.Bind(prog, l, o, b, stream.New(seed, 3))
	return prog
}

func projected(t *testing.T, s *domain.Domain) map[string]losses.Objective {
	t.Helper()
	out := map[string]losses.Objective{}
	for _, directions := range []losses.Directions{losses.Rademacher, losses.Normal, losses.Basis} {
		for _, reduced := range []bool{false, true} {
			o, err := losses.Sliced{Directions: directions, VarianceReduced: reduced, Domain: s, Weight: weight}.WithDefaults()
			require.NoError(t, err)
			if directions != losses.Basis {
				o.Number = 2
			}
			out[fmt.Sprintf("sliced %s %v", directions, reduced)] = o
		}
	}
	if s != nil {
		return out
	}
	for _, weight := range []string{"variance", "one"} {
		o, err := losses.Denoising{Noise: noise.Schedule{Kind: noise.Fixed, Least: 0.3}, Weight: weight}.WithDefaults()
		require.NoError(t, err)
		out["denoising "+weight] = o
	}
	return out
}

// Gradients equal differences of the reported loss.
func TestProjectedGradients(t *testing.T) {
	for where, s := range supports() {
		for name, o := range projected(t, s) {
			t.Run(where+"/"+name, func(t *testing.T) {
				p := newProblem(t, 7, 0.4, model.CholeskyFactor, 21)
				const r = 4
				for _, l := range []way{byIW, byDirect, byZeroed} {
					draws := r
					if l == (byZeroed) {
						draws = 1
					}
					prog := p.objective(t, l, o, draws, 5)
					diff, err := gradcheck.Params(prog, p.model.Params(), gradcheck.Step, func() (float64, error) {
						err := prog.Run()
						return prog.Output(losses.OutputReported)[0], err
					})
					require.NoError(t, err)
					require.Less(t, diff.Error, 1e-8, "%T: %+v", l, diff)
				}
			})
		}
	}
}

func gradients(t testing.TB, prog *graph.Program, m model.Model) (out []float64) {
	t.Helper()
	require.NoError(t, prog.Run())
	for _, q := range m.Params() {
		out = append(out, prog.Grad(q)...)
	}
	return out
}

// All d basis directions together are the classical objective, or the truncated one.
func TestSlicedBasisIsClassical(t *testing.T) {
	for where, s := range supports() {
		for _, reduced := range []bool{false, true} {
			for _, l := range []way{byUniform, byLOO, byIW, byEM} {
				t.Run(fmt.Sprintf("%s/%v/%+v", where, reduced, l), func(t *testing.T) {
					p := newProblem(t, 9, 0.4, model.CholeskyFactor, 22)
					want := p.objective(t, l, losses.ObjectiveFor(s, weight), 5, 6)
					got := p.objective(t, l, losses.Sliced{Directions: losses.Basis, VarianceReduced: reduced, Domain: s, Weight: weight}, 5, 6)
					require.InDeltaSlice(t, gradients(t, want, p.model), gradients(t, got, p.model), 1e-10)
					require.InDelta(t, want.Output(losses.OutputReported)[0], got.Output(losses.OutputReported)[0], 1e-10)
				})
			}
		}
	}
}

// Over directions the sliced gradient has the classical one for its mean.
func TestSlicedIsUnbiased(t *testing.T) {
	for where, s := range supports() {
		spread := map[string]float64{}
		for name, o := range projected(t, s) {
			sliced, ok := o.(losses.Sliced)
			if !ok || sliced.Directions == losses.Basis {
				continue
			}
			t.Run(where+"/"+name, func(t *testing.T) {
				const r, repeats = 4, 4000
				p := newProblem(t, 6, 0.4, model.CholeskyFactor, 23)
				l := byIW
				want := gradients(t, p.objective(t, l, losses.ObjectiveFor(s, weight), r, 7), p.model)
				prog := p.objective(t, l, o, r, 7)
				b, rng := p.batch(), stream.New(9)
				seen := make([][]float64, len(want))
				for range repeats {
					losses.Bind(prog, l, o, b, rng)
					for i, g := range gradients(t, prog, p.model) {
						seen[i] = append(seen[i], g)
					}
				}
				for i, w := range want {
					mean, sd := stat.MeanStdDev(seen[i], nil)
					require.InDelta(t, w, mean, 4.5*sd/math.Sqrt(repeats)+1e-12, "gradient %d", i)
					spread[name] += sd * sd
				}
			})
		}
		for _, directions := range []losses.Directions{losses.Rademacher, losses.Normal} {
			require.Less(t, spread[fmt.Sprintf("sliced %s true", directions)], spread[fmt.Sprintf("sliced %s false", directions)])
		}
	}
}

func noisy(p problem, o losses.Denoising, seed uint64) *data.Batch {
	b := p.batch()
	o.AddNoise(b, stream.New(seed, 1))
	return b
}

// Nothing missing: Vincent 2011, equation 10 (times 2 and ν): ‖s(x̃) − (x − x̃)/σ²‖².
func TestDenoisingTextbook(t *testing.T) {
	p := newProblem(t, 5, 0, model.FreeSymmetric, 25)
	for name, factor := range map[string]float64{"one": 1, "variance": 0.09} {
		o := losses.Denoising{Noise: noise.Schedule{Kind: noise.Fixed, Least: 0.3}, Weight: name}
		for _, l := range []way{byZeroed, byUniform} {
			prog := p.objective(t, l, o, 1, 11)
			require.NoError(t, prog.Run())
			b, want := noisy(p, o, 11), 0.0
			for i, w := range p.weights() {
				var s mat.VecDense
				s.SubVec(mat.NewVecDense(d, b.X[i*d:i*d+d]), mat.NewVecDense(d, p.model.Mean()))
				s.MulVec(p.model.Precision(), &s)
				for j := range d {
					gap := -s.AtVec(j) - (p.x[i*d+j]-b.X[i*d+j])/0.09
					want += w * factor * gap * gap
				}
			}
			require.InDelta(t, want, prog.Output(losses.OutputReported)[0], 1e-9, "%T", l)
		}
	}
}

func TestProjectedRefuses(t *testing.T) {
	p := newProblem(t, 4, 0.3, model.CholeskyFactor, 28)
	ladder := losses.Denoising{Noise: noise.Schedule{Kind: noise.Exploding, Least: 0.1, Most: 1}}
	_, err := losses.New(graph.Float64, byUniform.Loss, byUniform.weighting, p.model, ladder, 4, 1)
	require.ErrorContains(t, err, "many noise levels")
	one := losses.Denoising{Noise: noise.Schedule{Kind: noise.Fixed, Least: 0.1}}
	_, err = losses.New(graph.Float64, byCompleteData.Loss, byCompleteData.weighting, p.model, one, 4, 1)
	require.ErrorContains(t, err, "use em")
	_, err = losses.Sliced{Directions: "axis"}.WithDefaults()
	require.ErrorContains(t, err, "use rademacher, normal or basis")
	_, err = losses.Sliced{Directions: losses.Basis, Number: 2}.WithDefaults()
	require.ErrorContains(t, err, "basis takes all d")
	_, err = losses.Denoising{Weight: "two"}.WithDefaults()
	require.ErrorContains(t, err, "use variance or one")
}
