package debias

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
)

var names = []string{"a", "b", "c", "d"}

type normal struct {
	d        int
	mu       []float64
	p, sigma *mat.SymDense
}

func newNormal(t *testing.T, mu []float64, p mat.Symmetric) *normal {
	t.Helper()
	n := &normal{len(mu), mu, mat.NewSymDense(len(mu), nil), &mat.SymDense{}}
	n.p.CopySym(p)
	var c mat.Cholesky
	require.True(t, c.Factorize(p))
	require.NoError(t, c.InverseTo(n.sigma))
	return n
}

func rowsOf(t *testing.T, table *data.Table, mu []float64, p mat.Symmetric) (*rows, graph.Product[float64]) {
	t.Helper()
	multiply, err := graph.NewProduct()
	require.NoError(t, err)
	o, err := newRows(multiply, table, mu, p)
	require.NoError(t, err)
	return o, multiply
}

func atProblem(t *testing.T, p Problem) (*moments, gradients) {
	t.Helper()
	o, multiply := rowsOf(t, p.Table, p.Mean, p.Precision)
	return p.moments(multiply, o), gradients{o, p.Equation}
}

func partials(p *mat.SymDense) (out []float64) {
	for j := range p.SymmetricDim() {
		for k := j + 1; k < p.SymmetricDim(); k++ {
			out = append(out, -p.At(j, k)/math.Sqrt(p.At(j, j)*p.At(k, k)))
		}
	}
	return out
}

func someNormal(t *testing.T) *normal {
	return newNormal(t, []float64{0.1, -0.2, 0.3, 0.4}, mat.NewSymDense(4, []float64{
		1.5, 0.4, 0, -0.2,
		0.4, 2, -0.5, 0,
		0, -0.5, 1.2, 0.3,
		-0.2, 0, 0.3, 0.9,
	}))
}

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

func (n *normal) by(t *testing.T, i int, h float64) *normal {
	x := append([]float64{}, n.mu...)
	for a := range n.d {
		for b := a; b < n.d; b++ {
			x = append(x, n.p.At(a, b))
		}
	}
	x[i] += h
	return newNormal(t, x[:n.d], graph.Unpack(n.d, x[n.d:]))
}

// Gradient by central differences of the mean of −log p(x_o), or of the marginal loss, by gonum's marginal
// distributions.
func gradientOf(t *testing.T, table *data.Table, n *normal, q Equation) (g []float64) {
	loss := func(n *normal) (sum float64) {
		whole, ok := distmv.NewNormal(n.mu, n.sigma, nil)
		require.True(t, ok)
		rows := 0.0
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
			score := part.ScoreInput(nil, x)
			sum += floats.Dot(score, score) - 2*mat.Trace(&precision)
		}
		return sum / rows
	}
	const h = 1e-4
	for i := range parameters(n.d) {
		g = append(g, (loss(n.by(t, i, h))-loss(n.by(t, i, -h)))/(2*h))
	}
	return g
}

func hessianOf(t *testing.T, table *data.Table, n *normal, q Equation) mat.Matrix {
	const h = 1e-4
	out := mat.NewDense(parameters(n.d), parameters(n.d), nil)
	for i := range parameters(n.d) {
		up, down := momentsOf(t, table, n.by(t, i, h), q).gradient, momentsOf(t, table, n.by(t, i, -h), q).gradient
		for j := range up {
			out.Set(i, j, (up[j]-down[j])/(2*h))
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

func momentsOf(t *testing.T, table *data.Table, n *normal, q Equation) *moments {
	m, _ := atProblem(t, Problem{Table: table, Mean: n.mu, Precision: n.p, Equation: q, Own: q == Likelihood, Workers: 2})
	return m
}

func TestDerivativesAgainstDifferences(t *testing.T) {
	table, n := someRows(t), someNormal(t)
	for _, q := range []Equation{Likelihood, Marginal} {
		require.InDeltaSlice(t, gradientOf(t, table, n, q), momentsOf(t, table, n, q).gradient, 1e-6)
	}
	requireEqual(t, hessianOf(t, table, n, Likelihood), own(momentsOf(t, table, n, Likelihood)), 1e-5)
}

func own(m *moments) *mat.SymDense {
	h := whole(m, m.hessian)
	h.AddSym(h, whole(m, m.own))
	return h
}

// Rows with the moments of n up to the fifth for each pattern: Gauss–Hermite points of order 3, 0
// and ±√3, with multiplicities 4:1:1.
func exactRows(t *testing.T, n *normal) *data.Table {
	points := []float64{0, 0, 0, 0, math.Sqrt(3), -math.Sqrt(3)}
	var values []float64
	var observed []bool
	for _, pattern := range [][]int{{0, 1, 2}, {1, 3}, {2}, {0, 2, 3}} {
		var block mat.SymDense
		block.SubsetSym(n.sigma, pattern)
		var c mat.Cholesky
		require.True(t, c.Factorize(&block))
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

// Expected and observed Hessian agree, the mean gradient is zero, and the covariance of the rows'
// gradients is the model's.
func TestExpectationsOnExactRows(t *testing.T) {
	n := someNormal(t)
	table := exactRows(t, n)
	for _, q := range []Equation{Likelihood, Marginal} {
		m, g := atProblem(t, Problem{Table: table, Mean: n.mu, Precision: n.p, Equation: q, Own: q == Likelihood})
		requireEqual(t, hessianOf(t, table, n, q), whole(m, m.hessian), 1e-6)
		require.InDeltaSlice(t, make([]float64, len(m.gradient)), m.gradient, 1e-12)
		if q == Likelihood {
			rows := mat.NewSymDense(parameters(n.d), nil)
			multiply, err := graph.NewProduct()
			require.NoError(t, err)
			g.each(multiply, 0, len(g.of), func(_ int, g []float64) {
				rows.SymRankOne(rows, 1/m.effective, mat.NewVecDense(len(g), g))
			})
			requireEqual(t, whole(m, m.hessian), own(m), 1e-12)
			requireEqual(t, whole(m, m.hessian), rows, 1e-12)
		}
	}
}
