package debias

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/stream"
)

var names = []string{"a", "b", "c", "d"}

// someNormal has an edge of each sign and none.
func someNormal(t *testing.T) *normal {
	n, err := newNormal([]float64{0.1, -0.2, 0.3, 0.4}, mat.NewSymDense(4, []float64{
		1.5, 0.4, 0, -0.2,
		0.4, 2, -0.5, 0,
		0, -0.5, 1.2, 0.3,
		-0.2, 0, 0.3, 0.9,
	}))
	require.NoError(t, err)
	return n
}

// someRows are not someNormal's, and have gaps.
func someRows(t *testing.T) *data.Table {
	rng := stream.New(1, stream.Simulate)
	values, observed := make([]float64, 30*4), make([]bool, 30*4)
	for i := range values {
		values[i], observed[i] = rng.NormFloat64()+0.3*float64(i%4), rng.Float64() < 0.6
	}
	table, err := data.NewTable(names, values, observed)
	require.NoError(t, err)
	return table
}

// by is n with θ moved by h along coordinates i and j.
func (n *normal) by(t *testing.T, i, j int, h, k float64) *normal {
	x := append([]float64{}, n.mu...)
	for a := range n.d {
		for b := a; b < n.d; b++ {
			x = append(x, n.p.At(a, b))
		}
	}
	x[i] += h
	x[j] += k
	moved, err := newNormal(x[:n.d], graph.Unpack(n.d, x[n.d:]))
	require.NoError(t, err)
	return moved
}

// loss is the mean of −log p(x_o), or of the marginal loss, by gonum's marginal distributions.
func loss(t *testing.T, table *data.Table, n *normal, q Equation) float64 {
	sum, rows := 0.0, 0
	whole, ok := distmv.NewNormal(n.mu, n.sigma, nil)
	require.True(t, ok)
	for i := range table.N {
		var o []int
		var x []float64
		for j := range n.d {
			if table.Observed[i*n.d+j] {
				o, x = append(o, j), append(x, table.Values[i*n.d+j])
			}
		}
		if len(o) == 0 {
			continue
		}
		rows++
		part, ok := whole.MarginalNormal(o, nil)
		require.True(t, ok)
		if q == Likelihood {
			sum -= part.LogProb(x)
			continue
		}
		var s mat.SymDense
		var precision mat.Dense
		part.CovarianceMatrix(&s)
		require.NoError(t, precision.Inverse(&s))
		score := mat.NewVecDense(len(o), part.ScoreInput(nil, x))
		sum += mat.Dot(score, score) - 2*mat.Trace(&precision)
	}
	return sum / float64(rows)
}

// gradientOf and hessianOf are central differences of the loss.
func gradientOf(t *testing.T, table *data.Table, n *normal, q Equation) (g []float64) {
	const h = 1e-4
	for i := range parameters(n.d) {
		g = append(g, (loss(t, table, n.by(t, i, i, h, 0), q)-loss(t, table, n.by(t, i, i, -h, 0), q))/(2*h))
	}
	return g
}

func hessianOf(t *testing.T, table *data.Table, n *normal, q Equation) *mat.SymDense {
	const h = 3e-4
	out := mat.NewSymDense(parameters(n.d), nil)
	for i := range parameters(n.d) {
		for j := i; j < parameters(n.d); j++ {
			at := func(a, b float64) float64 { return loss(t, table, n.by(t, i, j, a*h, b*h), q) }
			out.SetSym(i, j, (at(1, 1)-at(1, -1)-at(-1, 1)+at(-1, -1))/(4*h*h))
		}
	}
	return out
}

func requireEqual(t *testing.T, want, got mat.Matrix, tolerance float64) {
	t.Helper()
	r, c := want.Dims()
	for i := range r {
		for j := range c {
			require.InDelta(t, want.At(i, j), got.At(i, j), tolerance*(1+math.Abs(want.At(i, j))), "%d %d", i, j)
		}
	}
}

// meanRow and covariance are those of the rows' gradients.
func meanRow(m *moments) []float64 {
	mean := make([]float64, len(m.gradient))
	for i := range m.n {
		for j, v := range m.rows.RawRowView(i) {
			mean[j] += v / float64(m.n)
		}
	}
	return mean
}

func TestGradientsAgainstDifferences(t *testing.T) {
	table, n := someRows(t), someNormal(t)
	for _, q := range []Equation{Likelihood, Marginal} {
		m := momentsOf(t, table, n, q)
		want := gradientOf(t, table, n, q)
		require.InDeltaSlice(t, want, m.gradient, 1e-6)
		require.InDeltaSlice(t, want, meanRow(m), 1e-6)
	}
}

func momentsOf(t *testing.T, table *data.Table, n *normal, q Equation) (m *moments) {
	var err error
	if q == Marginal {
		m, err = marginal(table, n, true, 2)
	} else {
		m, err = likelihood(table, n, true, true, 2)
	}
	require.NoError(t, err)
	return m
}

func TestObservedHessianAgainstDifferences(t *testing.T) {
	table, n := someRows(t), someNormal(t)
	requireEqual(t, hessianOf(t, table, n, Likelihood), momentsOf(t, table, n, Likelihood).observed, 1e-5)
}

// exactRows have, for each of some patterns, exactly the moments of n up to the fifth: points
// of Gauss–Hermite quadrature of order 3, 0 and ±√3, as often as their weights 4:1:1 say.
func exactRows(t *testing.T, n *normal) *data.Table {
	points := []float64{0, 0, 0, 0, math.Sqrt(3), -math.Sqrt(3)}
	var values []float64
	var observed []bool
	for _, pattern := range [][]int{{0, 1, 2}, {1, 3}, {2}, {0, 2, 3}} {
		block := mat.NewSymDense(len(pattern), nil)
		for a, j := range pattern {
			for b, k := range pattern {
				if a <= b {
					block.SetSym(a, b, n.sigma.At(j, k))
				}
			}
		}
		var c mat.Cholesky
		require.True(t, c.Factorize(block))
		var l mat.TriDense
		c.LTo(&l)
		for code := range 216 { // every pattern has as many rows
			row, seen := make([]float64, 4), make([]bool, 4)
			left, z := code, mat.NewVecDense(len(pattern), nil)
			for a := range pattern {
				z.SetVec(a, points[left%6])
				left /= 6
			}
			var x mat.VecDense
			x.MulVec(&l, z)
			for a, j := range pattern {
				row[j], seen[j] = n.mu[j]+x.AtVec(a), true
			}
			values, observed = append(values, row...), append(observed, seen...)
		}
	}
	table, err := data.NewTable(names, values, observed)
	require.NoError(t, err)
	return table
}

// On rows with the model's own moments the expected Hessian is the observed one, the mean
// gradient is zero, and the covariance of the rows' gradients is the model's.
func TestExpectationsOnExactRows(t *testing.T) {
	n := someNormal(t)
	table := exactRows(t, n)
	for _, q := range []Equation{Likelihood, Marginal} {
		m := momentsOf(t, table, n, q)
		requireEqual(t, hessianOf(t, table, n, q), m.hessian, 1e-5)
		require.InDeltaSlice(t, make([]float64, len(m.gradient)), m.gradient, 1e-12)
		var rows mat.SymDense
		rows.SymOuterK(1/float64(m.n), m.rows.T())
		want := m.variance
		if q == Likelihood {
			want = m.hessian
			requireEqual(t, m.hessian, m.observed, 1e-12)
		}
		requireEqual(t, want, &rows, 1e-12)
	}
}

// Truncated score matching by hand: columns a and b above −1 and −2, g_j = min(1, distance),
// and a half-space cutting c + d at 3, away from which both have a factor min(1, distance).
func TestTruncatedAgainstDifferences(t *testing.T) {
	table, n := someRows(t), someNormal(t)
	for i := range table.Observed {
		table.Observed[i] = true
		table.Values[i] = math.Mod(math.Abs(table.Values[i]), 1.4) - 0.5
	}
	s := domain.All(4)
	s.Lower[0], s.Lower[1] = -1, -2
	s.Half = []domain.HalfSpace{{A: []float64{0, 0, 1, 1}, B: 3}}
	byHand := func(eta []float64, p *mat.SymDense) float64 {
		sum := 0.0
		for i := range table.N {
			x := table.Values[i*4 : i*4+4]
			far := (3 - x[2] - x[3]) / math.Sqrt2
			g, slope := []float64{min(1, x[0]+1), min(1, x[1]+2), min(1, far), min(1, far)}, make([]float64, 4)
			for j, low := range []float64{-1, -2} {
				if x[j] < low+1 {
					slope[j] = 1
				}
			}
			if far < 1 {
				slope[2], slope[3] = -1/math.Sqrt2, -1/math.Sqrt2
			}
			for j := range 4 {
				score := eta[j]
				for k := range 4 {
					score -= p.At(j, k) * x[k]
				}
				sum += g[j]*(score*score-2*p.At(j, j)) + 2*slope[j]*score
			}
		}
		return sum / float64(table.N)
	}
	eta := []float64{0.3, -0.1, 0.2, 0.5}
	m := truncated(table, eta, n.p, s, domain.Weight{}, true, 1)
	require.InDeltaSlice(t, m.gradient, meanRow(m), 1e-12)
	at := func(i, j int, h, k float64) float64 {
		moved := *n
		moved.mu = eta
		to := moved.by(t, i, j, h, k)
		return byHand(to.mu, to.p)
	}
	const h = 1e-3 // the loss is quadratic: differences have no error but rounding's
	for i := range m.gradient {
		require.InDelta(t, (at(i, i, h, 0)-at(i, i, -h, 0))/(2*h), m.gradient[i], 1e-9)
		for j := range m.gradient {
			require.InDelta(t, (at(i, j, h, h)-at(i, j, h, -h)-at(i, j, -h, h)+at(i, j, -h, -h))/(4*h*h), m.hessian.At(i, j), 1e-6, "%d %d", i, j)
		}
	}
}
