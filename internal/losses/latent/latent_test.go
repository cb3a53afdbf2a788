package latent

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/data/transform"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/stream"
)

func all(n int) (rows []int) {
	for i := range n {
		rows = append(rows, i)
	}
	return rows
}

func normal(n int, correlations *mat.SymDense, seed uint64) []float64 {
	d := correlations.SymmetricDim()
	var c mat.Cholesky
	c.Factorize(correlations)
	var l mat.TriDense
	c.LTo(&l)
	rng, out := stream.New(seed), make([]float64, 0, n*d)
	z := make([]float64, d)
	for range n {
		for j := range z {
			z[j] = rng.NormFloat64()
		}
		for j := range d {
			v := 0.
			for k := range j + 1 {
				v += l.At(j, k) * z[k]
			}
			out = append(out, v)
		}
	}
	return out
}

// τ by column, nil for numbers.
func categories(z []float64, cuts [][]float64) *data.Table {
	d := len(cuts)
	t := &data.Table{N: len(z) / d, D: d}
	for j := range d {
		t.Names = append(t.Names, string(rune('a'+j)))
	}
	for at, v := range z {
		if own := cuts[at%d]; own != nil {
			k := 0.
			for _, c := range own {
				if v > c {
					k++
				}
			}
			v = k
		}
		t.Values, t.Observed = append(t.Values, v), append(t.Observed, true)
	}
	return t
}

func ordinal(t *testing.T, table *data.Table, cuts [][]float64) *data.Table {
	t.Helper()
	s := transform.Spec{Columns: map[string]string{}}
	for j, own := range cuts {
		if own != nil {
			s.Columns[table.Names[j]] = transform.OrdinalKind
		}
	}
	functions, err := s.Fit(table, nil)
	require.NoError(t, err)
	y, err := functions.Table(table)
	require.NoError(t, err)
	z, _ := data.Standardise(y)
	return z
}

// Draws of one row, (0.2, 1.1] × (−∞, −0.5] × a gap × 0.7, against sums over a grid. Standard
// errors below 0.002.
func TestSweepsHaveTheMomentsOfTheRow(t *testing.T) {
	r := mat.NewSymDense(4, []float64{1, .5, .3, -.2, .5, 1, .4, .1, .3, .4, 1, .35, -.2, .1, .35, 1})
	const copies, sweeps = 4000, 20
	table := &data.Table{N: copies, D: 4, Cuts: [][]float64{{.2, 1.1}, {-.5}, {.6}, nil}}
	for range copies {
		table.Values = append(table.Values, .5, -1, 0, .7)
		table.Observed = append(table.Observed, true, true, false, true)
	}
	m := &pairmoments.Moments{D: 4, S: append([]float64{}, r.RawSymmetric().Data...)}
	c := newChain(table, nil, all(copies), nil, 2, m)
	copy(c.law.cov, r.RawSymmetric().Data)
	got, below := make([]float64, 16), 0.
	for k := range sweeps + 10 {
		require.NoError(t, c.sweep(t.Context()))
		for at, v := range c.total.second {
			if k >= 10 {
				got[at] += v / sweeps / copies
			}
		}
		if k >= 10 {
			below += c.total.below[2][0] / sweeps / copies
		}
	}
	want, share := rectangle(r)
	for j := range 4 {
		for k := j; k < 4; k++ {
			require.InDelta(t, want.At(j, k), got[j*4+k], 0.008, "%d, %d", j, k)
		}
	}
	require.InDelta(t, share, below, 0.003)
	require.InDelta(t, 0, c.total.below[0][0], 0)
	require.InDelta(t, copies, c.total.below[0][1], 0)
}

func rectangle(r *mat.SymDense) (*mat.SymDense, float64) {
	var c mat.Cholesky
	c.Factorize(r)
	var p mat.SymDense
	_ = c.InverseTo(&p)
	const x = .7
	want, mass, share := mat.NewSymDense(4, nil), 0., 0.
	const steps = 400
	for i := range steps {
		for k := range steps {
			a, b := .2+.9*(float64(i)+.5)/steps, -.5-6*(float64(k)+.5)/steps
			own := p.At(2, 2)
			m := -(p.At(2, 0)*a + p.At(2, 1)*b + p.At(2, 3)*x) / own
			z := mat.NewVecDense(4, []float64{a, b, m, x})
			w := math.Exp(-mat.Inner(z, &p, z) / 2)
			mass += w
			share += w * distuv.UnitNormal.CDF((.6-m)*math.Sqrt(own))
			want.SymRankOne(want, w, z)
			want.SetSym(2, 2, want.At(2, 2)+w/own)
		}
	}
	want.ScaleSym(1/mass, want)
	return want, share / mass
}

// One column missing by another: maximum likelihood is the regression on rows that have both
// (Anderson 1957).
func TestNumbersAloneAreMaximumLikelihood(t *testing.T) {
	const n = 4000
	z := normal(n, mat.NewSymDense(2, []float64{1, .7, .7, 1}), 3)
	table := categories(z, make([][]float64, 2))
	table.Cuts = make([][]float64, 2)
	var x, y, every []float64
	for i := range n {
		every = append(every, z[2*i])
		if table.Observed[2*i+1] = z[2*i] < .3; table.Observed[2*i+1] {
			x, y = append(x, z[2*i]), append(y, z[2*i+1])
		}
	}
	a, b := stat.LinearRegression(x, y, nil, false)
	m, err := Of(t.Context(), table, all(n), nil, 1)
	require.NoError(t, err)
	mean, v := stat.PopMeanVariance(every, nil)
	residual := 0.
	for i := range x {
		residual += math.Pow(y[i]-a-b*x[i], 2) / float64(len(x))
	}
	require.InDelta(t, mean, m.Mean[0], 1e-9)
	require.InDelta(t, v, m.S[0], 1e-9)
	require.InDelta(t, a+b*mean, m.Mean[1], 0.01)
	require.InDelta(t, b*v, m.S[1], 0.01)
	require.InDelta(t, residual+b*b*v, m.S[3], 0.015)
}

// An item is missing where a number is large. Standard errors of thresholds below 0.03, of the
// correlation below 0.02.
func TestMissingAtRandom(t *testing.T) {
	const n = 4000
	cuts := [][]float64{nil, {-.8, .2, 1}, {.4}}
	r := mat.NewSymDense(3, []float64{1, .6, -.3, .6, 1, .2, -.3, .2, 1})
	z := normal(n, r, 5)
	table := categories(z, cuts)
	rng := stream.New(6)
	for i := range n {
		table.Observed[3*i+1] = rng.Float64() < 1/(1+math.Exp(2*z[3*i]))
	}
	y := ordinal(t, table, cuts)
	require.Greater(t, y.Cuts[1][1]-cuts[1][1], 0.15, "what shares of observed cells say")
	m, err := Of(t.Context(), y, all(n), nil, 1)
	require.NoError(t, err)
	require.False(t, m.Unsettled)
	require.InDeltaSlice(t, cuts[1], m.Cuts[1], 0.1)
	require.InDeltaSlice(t, cuts[2], m.Cuts[2], 0.06)
	scale := math.Sqrt(m.S[0])
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		j, k := pair[0], pair[1]
		v := m.S[3*j+k]
		if j == 0 {
			v /= scale
		}
		require.InDelta(t, r.At(j, k), v, 0.07, "%v", pair)
	}
	require.InDelta(t, 1, m.S[4], 1e-12)
	more, err := Of(t.Context(), y, all(n), nil, 3)
	require.NoError(t, err)
	require.Equal(t, m, more)
}

// Correlations are at most n/(n + d).
func TestFewRowsAndCopies(t *testing.T) {
	const n, d = 8, 10
	one := normal(n, mat.NewSymDense(1, []float64{1}), 1)
	table := &data.Table{N: n, D: d}
	for i := range n {
		for range d {
			table.Values, table.Observed = append(table.Values, one[i]), append(table.Observed, true)
		}
	}
	for range d {
		table.Cuts = append(table.Cuts, []float64{0})
	}
	m, err := Of(t.Context(), table, all(n), nil, 1)
	require.NoError(t, err)
	for at, v := range m.S {
		if at/d != at%d {
			require.Greater(t, v, 0.1)
			require.LessOrEqual(t, v, 1.*n/(n+d))
		}
	}
}

// lavaan 0.6-14, lavCor(x, ordered = c("c", "d", "e")) of these 1000 rows; standard errors 0.03 to
// 0.045.
func TestNearLavaan(t *testing.T) {
	const n = 1000
	cuts := [][]float64{nil, nil, {0.4}, {-0.7}, {-.9, .1, .8}}
	r := mat.NewSymDense(5, []float64{1, .5, .4, -.3, .2, .5, 1, .3, .1, .4, .4, .3, 1, .2, .5, -.3, .1, .2, 1, .3, .2, .4, .5, .3, 1})
	m, err := Of(t.Context(), ordinal(t, categories(normal(n, r, 17), cuts), cuts), all(n), nil, 2)
	require.NoError(t, err)
	want := []float64{.4248940, .4201969, .2351312, -.2966203, .1454003, .1392981, .1901753, .4638780, .4979369, .2932814}
	var got []float64
	for j := range 5 {
		for k := range j {
			got = append(got, m.S[5*j+k]*(n+5)/n)
		}
	}
	require.InDeltaSlice(t, want, got, 0.025)
	require.InDelta(t, want[0], got[0], 1e-7, "two numbers")
	require.InDeltaSlice(t, []float64{.366489294}, m.Cuts[2], 1e-8)
	require.InDeltaSlice(t, []float64{-.674489750}, m.Cuts[3], 1e-8)
	require.InDeltaSlice(t, []float64{-.827418321, .087844838, .755415026}, m.Cuts[4], 1e-8)
}
