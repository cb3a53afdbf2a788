package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/internal/stream"
)

// Moments and likelihood of blocks equal each row's own conditional by gonum.
func TestMomentsOfBlocksTogether(t *testing.T) {
	const d, n = 30, 60
	rng := stream.New(7, 1)
	precision, sigma := mat.NewSymDense(d, sparse(d, 60, rng)), mat.NewSymDense(d, nil)
	var c mat.Cholesky
	require.True(t, c.Factorize(precision))
	require.NoError(t, c.InverseTo(sigma))
	x, mask, weight, mu := make([]float64, n*d), make([]float64, n*d), make([]float64, n), make([]float64, d)
	for i := range n {
		weight[i] = 0.5 + rng.Float64()
		for j := range d {
			if mu[j] = 0.1 * float64(j%5); i%3 > 0 && i%4 > 0 {
				mask[i*d+j] = mask[(i-1)*d+j]
			} else if rng.Float64() < 0.3+0.4*float64(i%2) {
				mask[i*d+j] = 1
			}
			x[i*d+j] = mask[i*d+j] * rng.NormFloat64()
		}
	}
	var eta mat.VecDense
	eta.MulVec(precision, mat.NewVecDense(d, mu))
	e := NewExpectation(d, Gonum)
	p := mat.DenseCopyOf(precision).RawMatrix().Data
	require.NoError(t, e.Over(eta.RawVector().Data, p, x, mask, weight, FindPatterns(mask, weight)))
	require.Positive(t, e.byCells.n)
	require.Positive(t, e.byGaps.n)
	got := make([]float64, (d+1)*(d+1))
	loss, likelihood := e.Moments(got), e.LogLikelihood

	whole, ok := distmv.NewNormal(mu, sigma, nil)
	require.True(t, ok)
	want, log := mat.NewDense(d+1, d+1, nil), 0.0
	for i := range n {
		var seen, gaps []int
		var values []float64
		for j, x := range x[i*d : (i+1)*d] {
			if mask[i*d+j] == 0 {
				gaps = append(gaps, j)
				continue
			}
			seen, values = append(seen, j), append(values, x)
		}
		marginal, ok := whole.MarginalNormal(seen, nil)
		require.True(t, ok)
		log += weight[i] * marginal.LogProb(values)
		conditional, ok := whole.ConditionNormal(seen, values, nil)
		require.True(t, ok)
		var spread mat.SymDense
		conditional.CovarianceMatrix(&spread)
		one := mat.NewVecDense(d+1, append([]float64{1}, x[i*d:(i+1)*d]...)) // (1, E[x] − μ)
		for a, j := range gaps {
			one.SetVec(j+1, conditional.Mean(nil)[a])
			for b, k := range gaps {
				want.Set(j+1, k+1, want.At(j+1, k+1)+weight[i]*spread.At(a, b))
			}
		}
		one.SubVec(one, mat.NewVecDense(d+1, append([]float64{0}, mu...)))
		var outer mat.Dense
		outer.Outer(weight[i], one, one)
		want.Add(want, &outer)
	}
	second := want.Slice(1, d+1, 1, d+1)
	var pm, pmp mat.Dense
	pm.Mul(precision, second)
	pmp.Mul(&pm, precision)
	require.InEpsilon(t, mat.Trace(&pmp)-2*want.At(0, 0)*mat.Trace(precision), loss, 1e-10)
	require.InDeltaSlice(t, want.RawMatrix().Data, got, 1e-9)
	require.InDelta(t, log, likelihood, 1e-8*math.Abs(log))

	// A new η with the same P gives the same bytes as a first step.
	other := make([]float64, d)
	other[3] = 0.7
	once, rows := NewExpectation(d, Gonum), FindPatterns(mask, weight)
	require.NoError(t, e.Over(other, p, x, mask, weight, rows))
	require.NoError(t, once.Over(other, p, x, mask, weight, rows))
	require.Equal(t, once.Second, e.Second)
	require.Equal(t, once.LogLikelihood, e.LogLikelihood)
}

// Within equals Over on the network's pairs and the diagonal.
func TestStepsWithinNetworks(t *testing.T) {
	const n = 40
	for _, c := range []struct {
		d    int
		near int // columns that a column has an edge with, on one side
	}{{12, 1}, {30, 2}, {30, 14}, {6, 0}} {
		rng := stream.New(3, 1)
		d, pairs := c.d, [][2]int32(nil)
		p := mat.NewSymDense(d, nil)
		for j := range d {
			p.SetSym(j, j, 2)
			for k := j + 1; k <= min(j+c.near, d-1); k++ {
				p.SetSym(j, k, 0.9*(rng.Float64()-0.5)/float64(c.near))
				pairs = append(pairs, [2]int32{int32(j), int32(k)})
			}
		}
		x, mask, weight := gapped(d, n, rng)
		mu := make([]float64, d)
		for j := range mu {
			mu[j] = 0.1 * float64(j%5)
		}
		var eta mat.VecDense
		eta.MulVec(p, mat.NewVecDense(d, mu))
		numbers, rows := mat.DenseCopyOf(p).RawMatrix().Data, FindPatterns(mask, weight)
		e := NewExpectation(d, Gonum)
		got := make([]float64, 1+2*d+len(pairs))
		require.NoError(t, e.Within(Network{Mean: mu, P: numbers, Pairs: pairs}, x, mask, weight, rows))
		e.Elements(got)
		likelihood := e.LogLikelihood
		require.NoError(t, e.Over(eta.RawVector().Data, numbers, x, mask, weight, rows), "after it")
		want := append([]float64{e.Number}, e.Sum...)
		for j := range d {
			want = append(want, e.Second[j*d+j])
		}
		for _, at := range pairs {
			want = append(want, e.Second[int(at[0])*d+int(at[1])])
		}
		require.InDeltaSlice(t, want, got, 1e-9)
		require.InDelta(t, e.LogLikelihood, likelihood, 1e-8)
	}
}

// sparse is a positive definite matrix (d, d) with a given mean number of neighbours.
func sparse(d int, neighbours float64, rng *rand.Rand) []float64 {
	p := make([]float64, d*d)
	for j := range d {
		for k := range j {
			if rng.Float64() < neighbours/float64(d) {
				v := rng.NormFloat64()
				p[j*d+k], p[k*d+j] = v, v
			}
		}
	}
	for j := range d {
		p[j*d+j] = 0.5
		for k := range d {
			if k != j {
				p[j*d+j] += max(p[j*d+k], -p[j*d+k])
			}
		}
	}
	return p
}

func TestIndefiniteBlocksAreRefused(t *testing.T) {
	const d = 60
	rng, c := rand.New(rand.NewPCG(1, 1)), newBlocks(d, Gonum)
	for _, neighbours := range []float64{0, 1.5, 60} {
		p := sparse(d, neighbours, rng)
		for j := range d {
			q := slices.Clone(p)
			q[j*d+j] = -0.1
			c.prepare(q)
			_, ok := c.invert(all(d))
			require.False(t, ok)
		}
	}
}

func gapped(d, n int, rng *rand.Rand) (x, mask, weight []float64) {
	x, mask, weight = make([]float64, n*d), make([]float64, n*d), make([]float64, n)
	for i := range n {
		weight[i] = 0.5 + rng.Float64()
		for j := range d {
			if rng.Float64() > 0.3+0.5*float64(i%2) {
				x[i*d+j], mask[i*d+j] = rng.NormFloat64(), 1
			}
		}
	}
	return x, mask, weight
}

func TestZerosOfThePrecision(t *testing.T) {
	const d, n = 40, 30
	rng := rand.New(rand.NewPCG(3, 1))
	mu, _, _ := gapped(d, 1, rng)
	x, mask, weight := gapped(d, n, rng)
	rows := FindPatterns(mask, weight)
	for _, neighbours := range []float64{1, 4, 12} {
		p := sparse(d, neighbours, rng)
		by, whole := NewExpectation(d, Gonum), NewExpectation(d, Gonum)
		require.NoError(t, by.Over(mu, p, x, mask, weight, rows))
		require.NoError(t, whole.prepare(p))
		require.NotNil(t, whole.ofGaps.first)
		whole.ofGaps.first = nil
		require.NoError(t, whole.Over(mu, p, x, mask, weight, rows))
		require.Positive(t, whole.byCells.n)
		require.Positive(t, by.byGaps.n)
		require.InDeltaSlice(t, whole.Second, by.Second, 1e-9)
		require.InDeltaSlice(t, whole.Sum, by.Sum, 1e-9)
		require.InDelta(t, whole.LogLikelihood, by.LogLikelihood, 1e-9)

		got, all := NewMarginal(d, Gonum), NewMarginal(d, Gonum)
		loss, err := got.Loss(mu, p, x, mask, weight)
		require.NoError(t, err)
		_, err = all.Loss(mu, p, x, mask, weight)
		require.NoError(t, err)
		all.of.first = nil // and so it stays while P does
		for _, byObserved := range []bool{true, false} {
			all.definite = all.definite && byObserved // else by missing blocks alone
			want, err := all.Loss(mu, p, x, mask, weight)
			require.NoError(t, err)
			require.Equal(t, byObserved, all.observed.used)
			require.InDelta(t, want, loss, 1e-9)
			require.InDeltaSlice(t, all.ByMean, got.ByMean, 1e-9)
			require.InDeltaSlice(t, all.ByP, got.ByP, 1e-9)
		}
		require.Zero(t, testing.AllocsPerRun(10, func() {
			p[0] += 1e-3 // so that it is prepared again
			_, _ = got.Loss(mu, p, x, mask, weight)
		}))
	}
}

func TestElimination(t *testing.T) {
	const d = 90
	rng := rand.New(rand.NewPCG(3, 1))
	e := NewElimination(d, Gonum.Factor)
	for _, neighbours := range []float64{0, 1, 3, 8, 40, 2} {
		p := mat.NewSymDense(d, sparse(d, neighbours, rng))
		row := func(j int) []float64 { return p.RawSymmetric().Data[j*d+j : j*d+d] }
		b := make([]float64, d)
		for j := range b {
			b[j] = rng.NormFloat64()
		}
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(p, false))
		least := eigen.Values(nil)[0]
		for _, floor := range []float64{0, least * 0.999, least * 1.001} {
			got, ok := e.Factor(row, floor)
			var c mat.Cholesky
			shifted := mat.NewSymDense(d, slices.Clone(p.RawSymmetric().Data))
			for j := range d {
				shifted.SetSym(j, j, p.At(j, j)-floor)
			}
			require.Equal(t, c.Factorize(shifted), ok)
			require.Equal(t, floor < least, ok)
			if !ok {
				continue
			}
			require.Equal(t, neighbours < 8, len(e.order) > d/2, "columns are eliminated")
			require.InDelta(t, c.LogDet(), got, 1e-9)
			x, want := append([]float64(nil), b...), mat.NewVecDense(d, nil)
			e.Solve(x)
			require.NoError(t, c.SolveVecTo(want, mat.NewVecDense(d, b)))
			require.InDeltaSlice(t, want.RawVector().Data, x, 1e-8)
		}
	}
}

// x → y → z, y hidden where x is negative.
func hiddenWhereLow(n int, rng *rand.Rand) *data.Table {
	t := &data.Table{Names: []string{"x", "y", "z"}, N: n, D: 3}
	for range n {
		x := rng.NormFloat64()
		y := 0.8*x + 0.6*rng.NormFloat64()
		z := 0.5*y + 0.866*rng.NormFloat64()
		t.Values, t.Observed = append(t.Values, x, y, z), append(t.Observed, true, x >= 0, true)
	}
	return t
}

// Only one column has missing cells: maximum likelihood is its regression (Anderson 1957).
func TestNormalIsMaximumLikelihood(t *testing.T) {
	table := hiddenWhereLow(3000, rand.New(rand.NewPCG(4, 4)))
	m := Fit(table, 1000, 1e-9)
	var x, z, design, y []float64
	for i := range table.N {
		row := table.Values[3*i : 3*i+3]
		x, z = append(x, row[0]), append(z, row[2])
		if table.Observed[3*i+1] {
			design, y = append(design, 1, row[0], row[2]), append(y, row[1])
		}
	}
	var beta mat.VecDense
	require.NoError(t, beta.SolveVec(mat.NewDense(len(y), 3, design), mat.NewVecDense(len(y), y)))
	mx, mz := stat.Mean(x, nil), stat.Mean(z, nil)
	require.InDelta(t, beta.AtVec(0)+beta.AtVec(1)*mx+beta.AtVec(2)*mz, m.Mean[1], 1e-4)
	require.Greater(t, math.Abs(stat.Mean(y, nil)-m.Mean[1]), 0.4, "the observed mean is another")
	cov := func(a, b []float64) float64 { return stat.Covariance(a, b, nil) * float64(len(a)-1) / float64(len(a)) }
	covariance := beta.AtVec(1)*cov(x, x) + beta.AtVec(2)*cov(x, z)
	require.InDelta(t, covariance, m.Covariance.At(0, 1), 1e-4)

	var residual mat.VecDense
	residual.MulVec(mat.NewDense(len(y), 3, design), &beta)
	residual.SubVec(mat.NewVecDense(len(y), y), &residual)
	variance := mat.Dot(&residual, &residual) / float64(len(y))
	covarianceZ := beta.AtVec(1)*cov(x, z) + beta.AtVec(2)*cov(z, z)
	require.InDelta(t, covarianceZ, m.Covariance.At(1, 2), 1e-4)
	require.InDelta(t, variance+beta.AtVec(1)*covariance+beta.AtVec(2)*covarianceZ, m.Covariance.At(1, 1), 1e-4)

	c := NewFiller(table, nil)
	c.Fill(m)
	joint, ok := distmv.NewNormal(m.Mean, m.Covariance, nil)
	require.True(t, ok)
	for i := range 20 {
		if row := table.Values[3*i : 3*i+3]; !table.Observed[3*i+1] {
			given, ok := joint.ConditionNormal([]int{0, 2}, []float64{row[0], row[2]}, nil)
			require.True(t, ok)
			require.InDelta(t, given.Mean(nil)[0], c.X[3*i+1], 1e-8)
		}
	}
}

func TestWithoutAColumn(t *testing.T) {
	const n, d = 60, 5
	rng := rand.New(rand.NewPCG(8, 8))
	table := &data.Table{Names: []string{"a", "b", "c", "e", "f"}, N: n, D: d}
	for i := range n {
		common := rng.NormFloat64()
		for range d {
			table.Values = append(table.Values, common+rng.NormFloat64())
			table.Observed = append(table.Observed, i%7 == 0 || rng.Float64() < 0.6)
		}
	}
	m := Fit(table, 20, 1e-6)
	places := []int{3, 0, 4}
	changed := NewFiller(table, nil)
	for b, x := range changed.Without(m, places, 3) {
		var others []int
		for j := range d {
			if j != places[b] {
				others = append(others, j)
			}
		}
		c := NewFiller(table, others)
		c.Fill(m)
		require.InDeltaSlice(t, c.X, x, 1e-9)
		with := 0.0
		for i := range n {
			for a, j := range others {
				with = max(with, math.Abs(changed.X[i*d+j]-x[i*(d-1)+a]))
			}
		}
		require.Greater(t, with, 0.1, "filling with the column is another")
	}
	part := NewFiller(table, []int{4, 1, 2}) // places among these
	c := NewFiller(table, []int{4, 2})
	c.Fill(m)
	require.InDeltaSlice(t, c.X, part.Without(m, []int{1}, 1)[0], 1e-9)
}
