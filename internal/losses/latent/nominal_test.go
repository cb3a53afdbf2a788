package latent

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/losses/pairmoments"
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

func newLaw(t *data.Table) *law {
	l := &law{mean: make([]float64, t.D), cov: make([]float64, t.D*t.D), cuts: make([][]float64, t.D)}
	l.blocks, l.block = nominal(t), places(nominal(t), t.D)
	return l
}

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

// Moments of one row's utilities at every level against sums over a grid; standard errors below
// 0.005. Level k has the cone u_k = a_k, u_l = a_k − a_l, a > 0.
func TestSweepsHaveTheMomentsOfUtilities(t *testing.T) {
	for _, width := range []int{2, 3} {
		const copies, sweeps, burn = 3000, 80, 10
		mean := []float64{0.2, -0.3, 0.4, 0.1, 0.6, -0.5}[:3+width]
		table := mixed(make([]float64, (3+width)*copies), mean, 0, width, 2)
		d := table.D
		s := mat.NewSymDense(d, nil)
		for j := range d {
			for k := range j {
				s.SetSym(j, k, []float64{.35, -.25, .3, .15, -.4}[(j*k+j+k)%5])
			}
			s.SetSym(j, j, 1+0.1*float64(j))
		}
		for level := range width + 1 {
			for i := range copies {
				table.Values[i*d] = 0.7
				for k := range width {
					table.Values[i*d+1+k] = float64(level)
				}
				hide(table, i, table.Blocks[2])
			}
			c := newChain(table, nominal(table), all(copies), nil, 2, &pairmoments.Moments{D: d, S: make([]float64, d*d)})
			copy(c.law.mean, mean)
			copy(c.law.cov, mat.DenseCopyOf(s).RawMatrix().Data)
			first, second := make([]float64, d), make([]float64, d*d)
			for k := range sweeps + burn {
				require.NoError(t, c.sweep(t.Context()))
				for at, v := range c.total.second {
					if k >= burn {
						second[at] += v / sweeps / copies
						first[at%d] += c.total.first[at%d] / float64(d) / sweeps / copies
					}
				}
			}
			wantFirst, wantSecond := cone(s, mean, 0.7, width, level)
			for j := range d {
				require.InDelta(t, wantFirst.AtVec(j), first[j], 0.012, "%d levels, level %d: %d", width+1, level, j)
				for k := j; k < d; k++ {
					require.InDelta(t, wantSecond.At(j, k), second[j*d+k], 0.022, "%d levels, level %d: %d, %d", width+1, level, j, k)
				}
			}
		}
	}
}

func cone(s *mat.SymDense, mean []float64, x float64, width, level int) (*mat.VecDense, *mat.SymDense) {
	d, known := s.SymmetricDim(), 1+width
	var c mat.Cholesky
	c.Factorize(s.SliceSym(0, known))
	var p mat.SymDense
	_ = c.InverseTo(&p)
	cross := mat.DenseCopyOf(s).Slice(known, d, 0, known)
	var b mat.Dense
	b.Mul(cross, &p)
	var rest mat.Dense
	rest.Mul(&b, cross.T())
	first, second, mass := mat.NewVecDense(d, nil), mat.NewSymDense(d, nil), 0.0
	steps := map[int]int{2: 150, 3: 40}[width]
	const far = 6.0
	a, at := make([]float64, width+1), make([]int, width)
	z, about := mat.NewVecDense(d, nil), mat.NewVecDense(known, nil)
	for {
		next := 0
		for k := range width + 1 { // a of all levels but the observed one
			if k != level {
				a[k] = far * (float64(at[next]) + 0.5) / float64(steps)
				next++
			}
		}
		z.SetVec(0, x)
		for k := 1; k <= width; k++ { // v_level − v_k = a_k, v_0 = 0
			u := -a[k]
			if level > 0 {
				u = a[0] - a[k]
			}
			if k == level {
				u = a[0]
			}
			z.SetVec(k, u)
		}
		for j := range known {
			about.SetVec(j, z.AtVec(j)-mean[j])
		}
		w := math.Exp(-mat.Inner(about, &p, about) / 2)
		for j := known; j < d; j++ {
			z.SetVec(j, mean[j]+mat.Dot(b.RowView(j-known), about))
		}
		mass += w
		first.AddScaledVec(first, w, z)
		second.SymRankOne(second, w, z)
		k := 0
		for ; k < width; k++ {
			if at[k]++; at[k] < steps {
				break
			}
			at[k] = 0
		}
		if k == width {
			break
		}
	}
	first.ScaleVec(1/mass, first)
	second.ScaleSym(1/mass, second)
	for j := known; j < d; j++ {
		for k := j; k < d; k++ {
			second.SetSym(j, k, second.At(j, k)+s.At(j, k)-rest.At(j-known, k-known))
		}
	}
	return first, second
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
	m, err := Of(t.Context(), table, all(n), nil, 2)
	require.NoError(t, err)
	require.False(t, m.Unsettled)
	truth := newLaw(table)
	truth.cov = mat.DenseCopyOf(s).RawMatrix().Data
	want := truth.whitened()
	require.InDeltaSlice(t, want, m.S, 0.12)
	require.InDeltaSlice(t, mean, m.Mean, 0.12)
	square := 0.0
	for at, v := range want {
		square += (v - m.S[at]) * (v - m.S[at]) / float64(len(want))
	}
	require.Less(t, math.Sqrt(square), 0.04)
	require.Equal(t, [][]float64{nil, whitening(2).RawMatrix().Data, nil, whitening(3).RawMatrix().Data, nil}, m.Whitening)
	again, err := Of(t.Context(), table, all(n), nil, 1)
	require.NoError(t, err)
	require.Equal(t, m, again)
}

// u'_k = v_order[k] − v_order[0].
func relabel(order ...int) *mat.Dense {
	r := mat.NewDense(len(order)-1, len(order)-1, nil)
	for k := 1; k < len(order); k++ {
		for at, sign := range map[int]float64{order[k]: 1, order[0]: -1} {
			if at > 0 {
				r.Set(k-1, at-1, sign)
			}
		}
	}
	return r
}

// Reordering levels rotates whitened utilities and changes no distance between laws.
func TestOrderOfLevels(t *testing.T) {
	table := mixed(nil, nil, 0, 3, 2, 0)
	d := table.D
	all4 := mat.NewDense(d, d, nil)
	for j := range d {
		all4.Set(j, j, 1)
	}
	order, other := []int{2, 0, 3, 1}, []int{1, 2, 0}
	all4.Slice(1, 4, 1, 4).(*mat.Dense).Copy(relabel(order...))
	all4.Slice(4, 6, 4, 6).(*mat.Dense).Copy(relabel(other...))
	var laws, moved [2]*law
	for at := range laws {
		rng := stream.New(uint64(at), 4)
		x := mat.NewDense(20, d, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
		var y mat.Dense
		y.Mul(x, all4.T())
		laws[at], moved[at] = newLaw(table), newLaw(table)
		for l, z := range map[*law]*mat.Dense{laws[at]: x, moved[at]: &y} {
			sum := l.newSums()
			for i := range 20 {
				sum.number++
				floats.Add(sum.first, z.RawRowView(i))
				for j, v := range z.RawRowView(i) {
					floats.AddScaled(sum.second[j*d:j*d+d], v, z.RawRowView(i))
				}
			}
			l.set(sum)
		}
		var turned mat.VecDense
		turned.MulVec(all4, mat.NewVecDense(d, laws[at].mean))
		require.InDeltaSlice(t, turned.RawVector().Data, moved[at].mean, 1e-12)
		var r mat.Dense
		r.Product(all4, mat.NewDense(d, d, laws[at].cov), all4.T())
		require.InDeltaSlice(t, r.RawMatrix().Data, moved[at].cov, 1e-12)

		// W' = O W R⁻¹ with O'O = I
		for width, map1 := range map[int]*mat.Dense{3: relabel(order...), 2: relabel(other...)} {
			var back, o, unit mat.Dense
			require.NoError(t, back.Inverse(whitening(width)))
			o.Product(whitening(width), map1, &back)
			unit.Mul(o.T(), &o)
			for j := range width {
				unit.Set(j, j, unit.At(j, j)-1)
			}
			require.Less(t, mat.Norm(&unit, 2), 1e-12)
		}
	}
	require.Greater(t, laws[0].distance(laws[1]), 0.1)
	require.InDelta(t, laws[0].distance(laws[1]), moved[0].distance(moved[1]), 1e-12)
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
		m, err := Of(t.Context(), table, all(rows), nil, 1)
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
	l := newLaw(table)
	l.mean, l.cov = []float64{.5, .4, -.3, .1}, []float64{1, .3, -.2, .1, .3, 1.9, .7, .4, -.2, .7, .8, .5, .1, .4, .5, 1}
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

	other := l.clone()
	other.cov[3] += 0.3
	other.cov[12] += 0.3
	require.InDelta(t, math.Sqrt(.09/6), l.distance(other), 1e-12, "one of six pairs")
}

var eye2 = mat.NewDense(2, 2, []float64{1, 0, 0, 1})
