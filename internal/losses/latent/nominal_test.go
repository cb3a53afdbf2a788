package latent

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/stream"
)

// widths: 0 for a number, K − 1 for a nominal column of K levels.
func mixed(z []float64, mean []float64, widths ...int) *data.Table {
	t := &data.Table{}
	for _, w := range widths {
		b := data.Block{First: t.D, Width: max(1, w)}
		if w > 0 {
			b.Levels = make([]string, w+1)
		}
		t.Blocks = append(t.Blocks, b)
		t.D += b.Width
	}
	t.N, t.Values, t.Cuts = len(z)/t.D, append([]float64{}, z...), make([][]float64, t.D)
	for i := range t.N {
		row := t.Values[i*t.D : (i+1)*t.D]
		for j := range row {
			row[j] += mean[j]
			t.Observed = append(t.Observed, true)
		}
		for _, b := range t.Blocks {
			if b.Levels == nil {
				continue
			}
			best, level := 0.0, 0
			for k := range b.Width {
				if u := row[b.First+k]; u > best {
					best, level = u, k+1
				}
			}
			for k := range b.Width {
				row[b.First+k] = float64(level)
			}
		}
	}
	return t
}

func lawOf(t *data.Table) *law { return newLaw(make([][]float64, t.D), nominal(t)) }

func hide(t *data.Table, i int, b data.Block) {
	for j := b.First; j < b.First+b.Width; j++ {
		t.Observed[i*t.D+j] = false
	}
}

func correlated(t *data.Table, seed uint64) *mat.SymDense {
	rng, s := stream.New(seed, 1), mat.NewSymDense(t.D, nil)
	for j := range t.D {
		for k := range j {
			s.SetSym(j, k, 0.6*(rng.Float64()-0.5))
		}
		s.SetSym(j, j, 1)
	}
	for _, b := range t.Blocks {
		for j := range b.Width {
			for k := range j {
				s.SetSym(b.First+j, b.First+k, 0.5)
			}
		}
	}
	return s
}

// Nominal columns are missing where a number is large. Standard errors about 0.04.
func TestNominalMissingAtRandom(t *testing.T) {
	const n = 2500
	shape := mixed(nil, nil, 0, 2, 0, 3, 0)
	s, mean := correlated(shape, 3), []float64{0, .3, -.2, 0, -.1, .2, .1, 0}
	table := mixed(normal(n, s, 8), mean, 0, 2, 0, 3, 0)
	rng := stream.New(9)
	gaps := 0
	for i := range n {
		for _, b := range table.Blocks[1:4] { // the number between them, too
			if rng.Float64() < 1/(1+math.Exp(1.5-2*table.Values[i*table.D])) {
				gaps++
				hide(table, i, b)
			}
		}
	}
	require.Greater(t, gaps, 3*n/10)
	m, err := Of(t.Context(), table, table.AllRows(), nil, 2)
	require.NoError(t, err)
	require.False(t, m.Unsettled)
	truth := lawOf(table)
	copy(truth.cov, mat.DenseCopyOf(s).RawMatrix().Data)
	want := truth.whitened()
	require.InDeltaSlice(t, want, m.S, 0.12)
	require.InDeltaSlice(t, mean, m.Mean, 0.12)
	square := 0.0
	for at, v := range want {
		square += (v - m.S[at]) * (v - m.S[at]) / float64(len(want))
	}
	require.Less(t, math.Sqrt(square), 0.04)
	require.Equal(t, [][]float64{nil, whitening(2).RawMatrix().Data, nil, whitening(3).RawMatrix().Data, nil}, m.Whitening)
	again, err := Of(t.Context(), table, table.AllRows(), nil, 1)
	require.NoError(t, err)
	require.Equal(t, m, again)
}

func TestNominalWithFewRows(t *testing.T) {
	for _, rows := range []int{6, 30} {
		independent := mat.NewSymDense(16, nil)
		for j := range 16 {
			independent.SetSym(j, j, 1)
		}
		table := mixed(normal(rows, independent, 3), make([]float64, 16), 0, 12, 3)
		for i := range rows {
			for j := 13; j < 16; j++ {
				table.Values[i*16+j] = 1
			}
		}
		m, err := Of(t.Context(), table, table.AllRows(), nil, 1)
		require.NoError(t, err)
		require.Equal(t, []float64{float64(rows), float64(rows)}, []float64{m.Own[0], m.Own[15]})
		var c mat.Cholesky
		require.True(t, c.Factorize(mat.NewSymDense(16, m.S)))
	}
}

// M A M = I, A = (nC + ντI)/(n + ν), τ = tr C/(K − 1), ν = 3/4; the mean is divided by √τ.
func TestExchange(t *testing.T) {
	table := mixed(nil, nil, 0, 2, 0)
	const number = 30.
	l := lawOf(table)
	copy(l.mean, []float64{.5, .4, -.3, .1})
	copy(l.cov, []float64{1, .3, -.2, .1, .3, 1.9, .7, .4, -.2, .7, .8, .5, .1, .4, .5, 1})
	w := mat.NewDense(2, 2, []float64{-1, 0, 1 / math.Sqrt(3), -2 / math.Sqrt(3)}) // √2 times differences over √2, √6
	cross := func(cov []float64) *mat.Dense {
		var x mat.Dense
		x.Mul(w, mat.NewDense(2, 2, []float64{cov[4], cov[7], cov[8], cov[11]}))
		return &x
	}
	var c, back, m, unit mat.Dense
	c.Product(w, mat.NewDense(2, 2, []float64{1.9, .7, .7, .8}), w.T())
	tau := mat.Trace(&c) / 2
	require.NoError(t, back.Inverse(cross(l.cov)))
	l.exchange(number)
	m.Mul(cross(l.cov), &back)
	require.InDelta(t, m.At(0, 1), m.At(1, 0), 1e-12)
	c.Scale(number/(number+.75), &c)
	for j := range 2 {
		c.Set(j, j, c.At(j, j)+.75*tau/(number+.75))
	}
	unit.Product(&m, &c, &m)
	require.True(t, mat.EqualApprox(eye2, &unit, 1e-12))
	require.InDeltaSlice(t, []float64{.5, .4 / math.Sqrt(tau), -.3 / math.Sqrt(tau), .1}, l.mean, 1e-12)
	require.InDeltaSlice(t, []float64{1, .5, .5, 1}, []float64{l.cov[5], l.cov[6], l.cov[9], l.cov[10]}, 1e-12)
	require.Equal(t, l.cov[1], l.cov[4])
	var own mat.VecDense
	own.MulVec(w, mat.NewVecDense(2, l.cov[1:3]))
	require.InDeltaSlice(t, own.RawVector().Data, l.whitened()[1:3], 1e-12)

	other := l.clone()
	other.cov[3] += 0.3
	other.cov[12] += 0.3
	require.InDelta(t, math.Sqrt(.09/6), l.distance(other), 1e-12, "one of six pairs")
}

var eye2 = mat.NewDense(2, 2, []float64{1, 0, 0, 1})
