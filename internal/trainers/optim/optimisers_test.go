package optim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
)

// Two steps of Kingma & Ba's Algorithm 1.
func TestAdam(t *testing.T) {
	p := graph.NewParam("w", 1, 2)
	p.Value[0], p.Value[1] = 1, -1
	a := Adam{Rate: 0.1}
	grads := [][]float64{{0.5, -2}, {-0.25, 1}}
	m, v, w := [2]float64{}, [2]float64{}, [2]float64{1, -1}
	for step, g := range grads {
		a.Step([]*graph.Param{p}, [][]float64{g})
		for j := range 2 {
			m[j] = 0.9*m[j] + 0.1*g[j]
			v[j] = 0.999*v[j] + 0.001*g[j]*g[j]
			mh, vh := m[j]/(1-math.Pow(0.9, float64(step+1))), v[j]/(1-math.Pow(0.999, float64(step+1)))
			w[j] -= 0.1 * mh / (math.Sqrt(vh) + 1e-8)
		}
		require.InDeltaSlice(t, w[:], p.Value, 1e-14)
	}
	saved := a.Clone()
	a.Step([]*graph.Param{p}, grads[:1])
	require.Equal(t, 2, saved.Steps)
	require.NotEqual(t, saved.M, a.M, "the copy shares no memory")
}

func TestAdamInFloat32(t *testing.T) {
	p, q := graph.NewParam("w", 1, 3), graph.NewParam("w", 1, 3)
	copy(p.Value, []float64{1, -1, 0.5})
	copy(q.Value, p.Value)
	q.KeepSingle()
	a, b := Adam{Rate: 0.1}, Adam{Rate: 0.1}
	for step := range 40 {
		g := []float64{0.5, math.Sin(float64(step)), -1e-3}
		a.Step([]*graph.Param{p}, [][]float64{g})
		b.StepSingle([]*graph.Param{q}, [][]float32{{0.5, float32(g[1]), -1e-3}})
		if step == 20 {
			b = b.Clone()
		}
	}
	q.Widen()
	require.InDeltaSlice(t, p.Value, q.Value, 1e-5)
	require.InDeltaSlice(t, a.V[0], b.Clone().V[0], 1e-7)
}

func TestProximalStep(t *testing.T) {
	// d = 3, packed 00 01 02 11 12 22; rate 0.1, threshold 0.05
	x := []float64{1, 0.2, -0.2, 1, 0.04, 1}
	Proximal{Rate: 0.1, Lambda: 0.5}.Step(x, []float64{1, 1, 1, -1, 0, 0}, 3)
	require.InDeltaSlice(t, []float64{0.9, 0.05, -0.25, 1.1, 0, 1}, x, 1e-15)
	require.Zero(t, x[4], "exactly zero")
	x = []float64{1, 0.2, -0.2, 1, 0.04, 1} // thresholds 0.1, 0.2, 0
	Proximal{Rate: 0.1, Lambda: 0.5, Weights: []float64{9, 2, 4, 9, 0, 9}}.Step(x, []float64{1, 1, 1, -1, 0, 0}, 3)
	require.InDeltaSlice(t, []float64{0.9, 0, -0.1, 1.1, 0.04, 1}, x, 1e-15)
}

func leastEigenvalue(t *testing.T, p mat.Symmetric) float64 {
	t.Helper()
	var e mat.EigenSym
	require.True(t, e.Factorize(p, false))
	return e.Values(nil)[0]
}

// By gonum's eigenvalues: the projection puts the smallest at floor, or above if only the diagonal
// was too small.
func TestProjectionAgainstEigenvalues(t *testing.T) {
	const d = 5
	rng := stream.New(11)
	seen := map[string]int{}
	for range 300 {
		p := mat.NewSymDense(d, nil)
		wide := []float64{0.02, 0.3, 1}[rng.IntN(3)]
		for j := range d {
			p.SetSym(j, j, 0.25+2*rng.Float64())
			for k := range j {
				p.SetSym(j, k, wide*rng.NormFloat64())
			}
		}
		g := model.NewGaussian(d, model.FreeSymmetric)
		require.NoError(t, g.SetPrecision(p))
		h := PositiveDefinite{Floor: 0.3}
		inside := leastEigenvalue(t, p) > h.Floor
		require.Equal(t, inside, h.Inside(g))
		require.Equal(t, !inside, h.Project(g))
		after := g.Precision()
		ratio := after.At(1, 0) / p.At(1, 0)
		for j := range d {
			if want := p.At(j, j); inside {
				require.Equal(t, want, after.At(j, j))
			} else {
				require.Equal(t, max(want, 2*h.Floor), after.At(j, j))
			}
			for k := range j {
				require.InDelta(t, ratio*p.At(j, k), after.At(j, k), 1e-12, "one factor for all")
			}
		}
		switch least := leastEigenvalue(t, after); {
		case inside:
			seen["inside"]++
			require.Equal(t, 1.0, ratio)
		case ratio < 1:
			seen["shrunk"]++
			require.Greater(t, ratio, 0.0)
			require.InDelta(t, h.Floor, least, 1e-12)
		default:
			seen["kept"]++
			require.Equal(t, 1.0, ratio)
			require.Greater(t, least, h.Floor)
		}
	}
	for _, way := range []string{"inside", "shrunk", "kept"} {
		require.Greater(t, seen[way], 10, way)
	}
}
