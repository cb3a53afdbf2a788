package optim

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/optimize/functions"
)

func minimise(t *testing.T, x []float64, f func([]float64) float64, grad func(g, x []float64)) (evaluations int) {
	l, g := &LBFGS{}, make([]float64, len(x))
	for grad(g, x); floats.Norm(g, math.Inf(1)) > 1e-9 && evaluations < 1000; {
		from, before, d := slices.Clone(x), slices.Clone(g), l.Direction(g)
		ok, err := WolfeStep(func(step float64) (float64, float64, error) {
			evaluations++
			floats.AddScaledTo(x, from, step, d)
			grad(g, x)
			return f(x), floats.Dot(g, d), nil
		}, f(from), floats.Dot(g, d), 1e-13*math.Abs(f(from)))
		require.NoError(t, err)
		require.True(t, ok)
		l.Learn(floats.SubTo(make([]float64, len(x)), x, from), floats.SubTo(make([]float64, len(x)), g, before))
	}
	return evaluations
}

// Minima of gonum's test functions.
func TestLBFGSOnKnownFunctions(t *testing.T) {
	for name, c := range map[string]struct {
		f interface {
			Func([]float64) float64
			Grad(grad, x []float64)
		}
		start, want []float64
	}{
		"Rosenbrock":    {functions.ExtendedRosenbrock{}, []float64{-1.2, 1, -1.2, 1}, []float64{1, 1, 1, 1}},
		"Beale":         {functions.Beale{}, []float64{1, 1}, []float64{3, 0.5}},
		"Brown badly":   {functions.BrownBadlyScaled{}, []float64{1, 1}, []float64{1e6, 2e-6}},
		"Wood":          {functions.Wood{}, []float64{-3, -1, -3, -1}, []float64{1, 1, 1, 1}},
		"Variably dim.": {functions.VariablyDimensioned{}, []float64{0.75, 0.5, 0.25, 0}, []float64{1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			x := append([]float64(nil), c.start...)
			evaluations := minimise(t, x, c.f.Func, c.f.Grad)
			for i := range x {
				require.InEpsilon(t, c.want[i], x[i], 1e-6)
			}
			other, err := optimize.Minimize(optimize.Problem{Func: c.f.Func, Grad: func(g, x []float64) { c.f.Grad(g, x) }}, c.start,
				&optimize.Settings{GradientThreshold: 1e-9, Converger: optimize.NeverTerminate{}}, &optimize.LBFGS{Store: lbfgsPairs})
			require.NoError(t, err)
			require.Less(t, evaluations, 2*other.GradEvaluations+20)
		})
	}
}

func TestWolfeStep(t *testing.T) {
	seek := func(f func(float64) (float64, float64), noise float64) (last float64, ok bool) {
		v, s := f(0)
		ok, err := WolfeStep(func(t float64) (float64, float64, error) {
			last = t
			v, s := f(t)
			return v, s, nil
		}, v, s, noise)
		require.NoError(t, err)
		return last, ok
	}
	barrier := func(t float64) (float64, float64) { // −t with a wall at 0.3
		if t >= 0.3 {
			return math.NaN(), math.NaN()
		}
		return -t - 0.1*math.Log(0.3-t), -1 + 0.1/(0.3-t)
	}
	step, ok := seek(barrier, 0)
	require.True(t, ok)
	v, _ := barrier(step)
	start, _ := barrier(0)
	require.Less(t, v, start)
	step, ok = seek(func(t float64) (float64, float64) { return (t - 50) * (t - 50), 2 * (t - 50) }, 0)
	require.True(t, ok)
	require.InDelta(t, 50, step, 45.1, "the slope has fallen to 0.9 of what it was")
	_, ok = seek(func(t float64) (float64, float64) { return t, -1 }, 0)
	require.False(t, ok, "the slope promises what the value does not keep")
	_, ok = seek(func(t float64) (float64, float64) { return 1 + 1e-15*t, 1e-9 * (t - 0.9) }, 1e-13)
	require.True(t, ok, "rounding hides the fall, the slope shows it")
}
