package simulate_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data/domain"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

func covariance(t *testing.T, g simulate.Gaussian) *mat.SymDense {
	t.Helper()
	var c mat.Cholesky
	require.True(t, c.Factorize(g.Precision))
	var s mat.SymDense
	require.NoError(t, c.InverseTo(&s))
	return &s
}

// Eigenvalues of the first nine are from 0.5 to 1.5; X_10 = X_1/2 + Z/2 with Var Z = Var X_1.
func TestSimulateNormal(t *testing.T) {
	g, err := simulate.Normal(10, stream.New(1, 1))
	require.NoError(t, err)
	s := covariance(t, g)
	for j := range 9 {
		require.Equal(t, 0.5, g.Mean[j])
		require.InDelta(t, s.At(0, j)/2, s.At(9, j), 1e-10)
	}
	require.InDelta(t, 0.5, g.Mean[9], 1e-15)
	require.InDelta(t, s.At(0, 0)/2, s.At(9, 9), 1e-10)
	var e mat.EigenSym
	require.True(t, e.Factorize(s.SliceSym(0, 9), false))
	for _, v := range e.Values(nil) {
		require.True(t, v > 0.5-1e-9 && v < 1.5+1e-9, "%v", v)
	}
	other, err := simulate.Normal(10, stream.New(2, 1))
	require.NoError(t, err)
	require.False(t, mat.EqualApprox(g.Precision, other.Precision, 1e-3))
}

func TestNetworks(t *testing.T) {
	const d, repeats = 20, 200
	counts := map[string]float64{}
	for r := range repeats {
		rng := stream.New(uint64(r), 1)
		for name, make := range map[string]func() (simulate.Gaussian, error){
			"star":  func() (simulate.Gaussian, error) { return simulate.Star(d, rng) },
			"dense": func() (simulate.Gaussian, error) { return simulate.Dense(d, rng) },
			"stars": func() (simulate.Gaussian, error) { return simulate.Stars(d, 5, rng) },
		} {
			g, err := make()
			require.NoError(t, err)
			var e mat.EigenSym
			require.True(t, e.Factorize(g.Precision, false))
			require.InDelta(t, 0.2, e.Values(nil)[0], 1e-9, name)
			weights := map[float64]int{}
			for j := range d {
				require.Equal(t, 1.0, g.Precision.At(j, j))
				for k := j + 1; k < d; k++ {
					if v := g.Precision.At(j, k); v != 0 {
						weights[v]++
						counts[name]++
						require.Positive(t, v)
						require.False(t, name == "star" && j > 0 || name == "stars" && j > 4)
					}
				}
			}
			require.Len(t, weights, 1)
		}
	}
	// binomial counts: mean ± 4 standard errors over the repeats
	for name, c := range map[string]struct{ pairs, p float64 }{"star": {19, 0.9}, "dense": {190, 0.5}, "stars": {85, 17.1 / 85}} {
		require.InDelta(t, c.pairs*c.p, counts[name]/repeats, 4*math.Sqrt(c.pairs*c.p*(1-c.p)/repeats), name)
	}
	_, err := simulate.Stars(5, 5, stream.New(1, 1))
	require.ErrorContains(t, err, "5 centres among 5 nodes")
	_, err = simulate.Star(1, stream.New(1, 1))
	require.ErrorContains(t, err, "at least 2 nodes")
}

func TestSimulatedMixtures(t *testing.T) {
	modes := simulate.Modes(10, 5, stream.New(1, 1))
	for _, m := range []simulate.Mixture{simulate.Moons(), simulate.Ring(), simulate.Curve(5), modes} {
		table, err := m.Sample(500, stream.New(2, 2))
		require.NoError(t, err)
		require.True(t, table.Complete())
		require.Equal(t, len(m.Means[0]), table.D)
	}
	require.Equal(t, modes, simulate.Modes(10, 5, stream.New(1, 1)))
	require.NotEqual(t, modes, simulate.Modes(10, 5, stream.New(2, 1)))

	// the distance to the ring, or the nearer half circle, has the noise's distribution
	ring, moons := simulate.Ring().Draw(2000, stream.New(3, 3)), simulate.Moons().Draw(2000, stream.New(3, 4))
	upper := 0
	for i := range 2000 {
		require.InDelta(t, 1, math.Hypot(ring[2*i], ring[2*i+1]), 0.6)
		x, y := moons[2*i], moons[2*i+1]
		up, down := math.Abs(math.Hypot(x, y)-1), math.Abs(math.Hypot(x-1, y-0.5)-1)
		require.Less(t, min(up, down), 0.6)
		if up < down {
			upper++
		}
	}
	require.InDelta(t, 1000, upper, 150)

	// the m-th pair of columns lies on a circle at m times the angle of the first
	const d, rows = 10, 4000
	curve := simulate.Curve(d).Draw(rows, stream.New(3, 5))
	var turned [d / 2]float64 // mean of cos(m θ̂₁ − θ̂_m)
	for i := range rows {
		x := curve[i*d : (i+1)*d]
		first := math.Atan2(x[1], x[0])
		for m := range turned {
			require.Less(t, math.Abs(math.Hypot(x[2*m], x[2*m+1])-1), 1.2)
			turned[m] += math.Cos(float64(m+1)*first-math.Atan2(x[2*m+1], x[2*m])) / rows
		}
	}
	require.InDelta(t, 1, turned[0], 0.06)
	for m, mean := range turned[1:] { // the angle's error is nearly normal: standard deviation 0.2, times m + 2
		off := 0.2 * math.Hypot(float64(m+2), 1)
		require.InDelta(t, math.Exp(-off*off/2), mean, 0.06, "pair %d", m+2)
	}
}

func TestTruncations(t *testing.T) {
	const n = 40000
	g, err := simulate.Normal(5, stream.New(1, 1))
	require.NoError(t, err)
	all, err := g.Sample(n, stream.New(2, 1))
	require.NoError(t, err)
	box, err := g.TruncateBelow(3, 0.1)
	require.NoError(t, err)
	for j := range 3 {
		below := floats.Count(func(x float64) bool { return x < box.Lower[j] }, all.Column(j))
		require.InDelta(t, 0.1, float64(below)/n, 4.5*math.Sqrt(0.1*0.9/n))
	}
	require.False(t, box.BoundedColumn(3))
	half, err := g.TruncateAcross(0.2, stream.New(3, 1))
	require.NoError(t, err)
	require.InDelta(t, 1, floats.Norm(half.Half[0].A, 2), 1e-12)
	outside := 0.0
	for i := range n {
		if !half.Contains(all.Values[i*5 : i*5+5]) {
			outside++
		}
	}
	require.InDelta(t, 0.2, outside/n, 4.5*math.Sqrt(0.2*0.8/n))
	other, err := g.TruncateAcross(0.2, stream.New(4, 1))
	require.NoError(t, err)
	require.NotEqual(t, half.Half[0].A, other.Half[0].A)

	inside, err := g.SampleInside(half, n, stream.New(5, 1))
	require.NoError(t, err)
	require.Equal(t, n, inside.N)
	a := mat.NewVecDense(5, half.Half[0].A)
	var along []float64
	for i := range n {
		row := inside.Values[i*5 : i*5+5]
		require.True(t, half.Contains(row))
		along = append(along, mat.Dot(a, mat.NewVecDense(5, row)))
	}
	// E[z | z < Φ⁻¹(0.8)] = −φ(Φ⁻¹(0.8))/0.8 = −0.34995
	sd := math.Sqrt(mat.Inner(a, covariance(t, g), a))
	mean, variance := stat.MeanVariance(along, nil)
	require.InDelta(t, floats.Dot(half.Half[0].A, g.Mean)-0.34995*sd, mean, 4.5*math.Sqrt(variance/n))

	far := domain.All(5)
	far.Lower[0] = 40
	_, err = g.SampleInside(far, 10, stream.New(6, 1))
	require.ErrorContains(t, err, "fewer than one draw in 10000")
}

func TestSimulateQuartic(t *testing.T) {
	pairs, edges := 0, 0
	for seed := range uint64(30) {
		theta, err := simulate.Quartic(10, stream.New(seed, 1))
		require.NoError(t, err)
		var e mat.EigenSym
		require.True(t, e.Factorize(theta, false))
		require.LessOrEqual(t, e.Values(nil)[9], -0.1+1e-12)
		for j := range 10 {
			require.Equal(t, -1., theta.At(j, j))
			for k := j + 1; k < 10; k++ {
				pairs++
				if theta.At(j, k) != 0 {
					edges++
				}
				require.LessOrEqual(t, math.Abs(theta.At(j, k)), 0.4)
			}
		}
	}
	p := 2. / 9
	require.InDelta(t, p, float64(edges)/float64(pairs), 4.5*math.Sqrt(p*(1-p)/float64(pairs)))
	_, err := simulate.Quartic(1, stream.New(1))
	require.ErrorContains(t, err, "at least 2 columns")
}

func TestGraph(t *testing.T) {
	for _, c := range []struct {
		shape    string
		d, edges int
		want     int
		strength float64
	}{{"random", 12, 20, 20, 0.25}, {"random", 4, 6, 6, 0.25}, {"hub", 25, 0, 22, 0.25}, {"chain", 12, 0, 11, 0.25}, {"star", 12, 0, 11, 0.25}, {"star", 50, 0, 49, 0.9 / 7}} {
		g, err := simulate.Graph(c.shape, c.d, c.edges, 0, stream.New(3))
		require.NoError(t, err)
		edges, positive := 0, 0
		for j := range c.d {
			require.Equal(t, 1.0, g.Precision.At(j, j))
			for k := j + 1; k < c.d; k++ {
				if r := -g.Precision.At(j, k); r != 0 {
					require.InDelta(t, c.strength, math.Abs(r), 1e-12, "%s %d", c.shape, c.d)
					edges++
					if r > 0 {
						positive++
					}
				}
			}
		}
		require.Equal(t, c.want, edges, c.shape)
		require.Greater(t, positive, 0)
		require.Less(t, positive, edges)
		var chol mat.Cholesky
		require.True(t, chol.Factorize(g.Precision))
	}
	g, err := simulate.Graph("hub", 25, 0, 0.3, stream.New(3))
	require.NoError(t, err)
	require.Equal(t, 0.3, math.Abs(g.Precision.At(20, 24)))
	require.Zero(t, g.Precision.At(0, 10))
}

// A star's P is positive definite for r < 1/√(d − 1).
func TestGraphErrors(t *testing.T) {
	_, err := simulate.Graph("star", 17, 0, 0.25, stream.New(1))
	require.ErrorContains(t, err, "they must be positive and less than 0.25")
	_, err = simulate.Graph("star", 17, 0, 0.2499, stream.New(1))
	require.NoError(t, err)
	for _, c := range []struct {
		shape    string
		d, edges int
		strength float64
	}{{"ring", 5, 0, 0}, {"random", 5, 11, 0}, {"random", 5, 0, 0}, {"chain", 1, 0, 0}, {"chain", 5, 0, -0.1}} {
		_, err := simulate.Graph(c.shape, c.d, c.edges, c.strength, stream.New(1))
		require.Error(t, err, c)
	}
}
