package latent

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/transform"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
)

func normal(n int, correlations *mat.SymDense, seed uint64) (rows []float64) {
	truth, _ := distmv.NewNormal(make([]float64, correlations.SymmetricDim()), correlations, stream.New(seed))
	for range n {
		rows = append(rows, truth.Rand(nil)...)
	}
	return rows
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

// Moments of one row's latent numbers by draws and by quadrature: a number, an item or a nominal
// column, and gaps. Standard errors are below 0.005.
func TestSweepsHaveTheMomentsOfTheRow(t *testing.T) {
	items, box := mixed(nil, nil, 0, 0, 0, 0), domain.All(4)
	items.Cuts = [][]float64{nil, {.2, 1.1}, {-.5}, {.6}}
	box.Lower[1], box.Upper[1], box.Upper[2] = .2, 1.1, -.5
	rowMoments(t, items, []float64{.7, .5, -1, 0}, make([]float64, 4), 2, box)
	mean := []float64{0.2, -0.3, 0.4, 0.1, 0.6, -0.5}
	for _, width := range []int{2, 3} {
		for level := range width + 1 {
			values := append([]float64{.7}, slices.Repeat([]float64{float64(level)}, width+2)...)
			inside := region(domain.All(3+width), 1, width, level)
			rowMoments(t, mixed(nil, nil, 0, width, 2), values, mean[:3+width], width, inside)
		}
	}
}

// The first column is observed, the next free ones are known to lie inside a domain, the others are missing.
func rowMoments(t *testing.T, of *data.Table, values, mean []float64, free int, inside *domain.Domain) {
	t.Helper()
	const copies, sweeps, burn = 3000, 80, 10
	d, known := of.D, 1+free
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j {
			s.SetSym(j, k, []float64{.35, -.25, .3, .15, -.4}[(j*k+j+k)%5])
		}
		if s.SetSym(j, j, 1); of.Cuts[1] == nil {
			s.SetSym(j, j, 1+0.1*float64(j))
		}
	}
	table := *of
	table.N, table.Values = copies, slices.Repeat(values, copies)
	for at := range table.Values {
		table.Observed = append(table.Observed, at%d < known)
	}
	start := &pairmoments.Moments{D: d, S: make([]float64, d*d)}
	c := newChain(&table, nominal(&table), table.AllRows(), nil, 2, start)
	copy(c.law.mean, mean)
	for j := range d {
		for k := range d {
			c.law.cov[j*d+k] = s.At(j, k)
		}
	}
	first, second, below := make([]float64, d), make([]float64, d*d), 0.
	for k := range sweeps + burn {
		require.NoError(t, c.sweep(t.Context()))
		if k < burn {
			continue
		}
		floats.AddScaled(first, 1./sweeps/copies, c.total.mean)
		floats.AddScaled(second, 1./sweeps/copies, c.total.cov)
		if of.Cuts[1] != nil {
			below += c.total.cuts[3][0] / sweeps / copies
		}
	}
	wantFirst, wantSecond, share := quadrature(s, mean, values[0], free, inside)
	for j := range d {
		require.InDelta(t, wantFirst.AtVec(j), first[j], 0.012, "%v: %d", values, j)
		for k := j; k < d; k++ {
			require.InDelta(t, wantSecond.At(j, k), second[j*d+k], 0.022, "%v: %d, %d", values, j, k)
		}
	}
	if of.Cuts[1] != nil {
		require.InDelta(t, share, below, 0.003)
		require.Equal(t, []float64{0, copies}, c.total.cuts[1][:2])
	}
}

// share is of the last column below 0.6.
func quadrature(
	s *mat.SymDense, mean []float64, x float64, free int, inside *domain.Domain,
) (first *mat.VecDense, second *mat.SymDense, share float64) {
	d, known := s.SymmetricDim(), 1+free
	var c mat.Cholesky
	c.Factorize(s.SliceSym(0, known))
	var p mat.SymDense
	_ = c.InverseTo(&p)
	cross := mat.DenseCopyOf(s).Slice(known, d, 0, known)
	var b, rest mat.Dense
	b.Mul(cross, &p)
	rest.Mul(&b, cross.T())
	row, mask := make([]float64, d), slices.Repeat([]float64{1}, d)
	row[0] = x
	clear(mask[1:known])
	nodes, weights := testtables.Nodes(inside, row, mask, 6, map[int]int{2: 100, 3: 40}[free])
	first, second = mat.NewVecDense(d, nil), mat.NewSymDense(d, nil)
	deviation := math.Sqrt(s.At(d-1, d-1) - rest.At(d-1-known, d-1-known))
	mass, about := 0., mat.NewVecDense(known, nil)
	for i, w := range weights {
		z := mat.NewVecDense(d, nodes[i*d:(i+1)*d])
		floats.SubTo(about.RawVector().Data, z.RawVector().Data[:known], mean[:known])
		for j := known; j < d; j++ {
			z.SetVec(j, mean[j]+mat.Dot(b.RowView(j-known), about))
		}
		w *= math.Exp(-mat.Inner(about, &p, about) / 2)
		mass += w
		first.AddScaledVec(first, w, z)
		second.SymRankOne(second, w, z)
		share += w * distuv.UnitNormal.CDF((.6-z.AtVec(d-1))/deviation)
	}
	first.ScaleVec(1/mass, first)
	second.ScaleSym(1/mass, second)
	for j := known; j < d; j++ {
		for k := j; k < d; k++ {
			second.SetSym(j, k, second.At(j, k)+s.At(j, k)-rest.At(j-known, k-known))
		}
	}
	return first, second, share / mass
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
	m, err := Of(t.Context(), table, table.AllRows(), nil, 1)
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
	m, err := Of(t.Context(), y, table.AllRows(), nil, 1)
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
	more, err := Of(t.Context(), y, table.AllRows(), nil, 3)
	require.NoError(t, err)
	require.Equal(t, m, more)
}

// lavaan 0.6-14, lavCor(x, ordered = c("c", "d", "e")) of these 1000 rows; standard errors 0.03 to
// 0.045.
func TestNearLavaan(t *testing.T) {
	const n = 1000
	cuts := [][]float64{nil, nil, {0.4}, {-0.7}, {-.9, .1, .8}}
	r := mat.NewSymDense(5, []float64{1, .5, .4, -.3, .2, .5, 1, .3, .1, .4, .4, .3, 1, .2, .5, -.3, .1, .2, 1, .3, .2, .4, .5, .3, 1})
	table := ordinal(t, categories(normal(n, r, 17), cuts), cuts)
	m, err := Of(t.Context(), table, table.AllRows(), nil, 2)
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
