package latent

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/losses/pairmoments"
)

// shapeRows is how many rows with exchangeable utilities are added to what the turns say of the
// covariances within a nominal column (docs/theory/ordinal.md#eq-nominal-shape).
var shapeRows = 100.0

// nominal are the blocks of nominal columns.
func nominal(t *data.Table) (blocks []data.Block) {
	for _, b := range t.Blocks {
		if b.Levels != nil && !t.Ordinal(b.First) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// start are the moments that a chain starts at: by pairs of the columns that are not nominal. Nominal
// ones start uncorrelated with others, their utilities exchangeable.
func start(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int) (*pairmoments.Moments, error) {
	blocks := nominal(t)
	if len(blocks) == 0 {
		m, err := pairmoments.Of(ctx, t, rows, counts, workers)
		if err == nil {
			err = m.Shrink(ctx, workers)
		}
		return m, err
	}
	ones := *t // for numbers of rows
	ones.Cuts, ones.Values = nil, slices.Repeat([]float64{1}, len(t.Values))
	m, err := pairmoments.Of(ctx, &ones, rows, counts, workers)
	if err != nil {
		return nil, err
	}
	m.S, m.Half = make([]float64, t.D*t.D), nil
	var other []int
	for j := range t.D {
		if !slices.ContainsFunc(blocks, func(b data.Block) bool { return b.First <= j && j < b.First+b.Width }) {
			other = append(other, j)
		}
	}
	for _, b := range blocks {
		for j := b.First; j < b.First+b.Width; j++ {
			floats.AddConst(0.5, m.S[j*t.D+b.First:j*t.D+b.First+b.Width])
			m.S[j*t.D+j] = 1
		}
	}
	if len(other) == 0 {
		return m, nil
	}
	rest := &data.Table{N: t.N, D: len(other), Weights: t.Weights, Cuts: make([][]float64, len(other))}
	for i := range t.N {
		for a, j := range other {
			rest.Values = append(rest.Values, t.Values[i*t.D+j])
			rest.Observed = append(rest.Observed, t.Observed[i*t.D+j])
			if t.Ordinal(j) {
				rest.Cuts[a] = t.Cuts[j]
			}
		}
	}
	s, err := pairmoments.Of(ctx, rest, rows, counts, workers)
	if err != nil {
		return nil, err
	}
	if err := s.Shrink(ctx, workers); err != nil {
		return nil, err
	}
	for a, j := range other {
		for b, k := range other {
			m.S[j*t.D+k] = s.S[a*rest.D+b]
		}
	}
	return m, nil
}

// drawUtility draws utility j of a block, column First + j, of a row whose level is observed, given
// the rest of the row: with u_0 = 0, the level's own utility above all others, others below it. row is
// about the mean.
func drawUtility(row, mean []float64, b data.Block, j, level int, middle, deviation float64, rng *stream.Stream) float64 {
	own := mean[b.First+j]
	if level != j+1 {
		bound := 0.0
		if level > 0 {
			bound = row[b.First+level-1] + mean[b.First+level-1]
		}
		return middle - deviation*above(-(bound-own-middle)/deviation, rng)
	}
	bound := 0.0
	for k := range b.Width {
		if k != j {
			bound = max(bound, row[b.First+k]+mean[b.First+k])
		}
	}
	return middle + deviation*above((bound-own-middle)/deviation, rng)
}

// above draws a standard normal number above a bound (Robert 1995).
func above(bound float64, rng *stream.Stream) float64 {
	if bound < 0.4 {
		for {
			if z := rng.NormFloat64(); z >= bound {
				return z
			}
		}
	}
	rate := (bound + math.Sqrt(bound*bound+4)) / 2
	for {
		if z := bound + rng.ExpFloat64()/rate; 2*rng.ExpFloat64() >= (z-rate)*(z-rate) {
			return z
		}
	}
}

// identify takes what the turns cannot tell of a nominal column from its convention. With M = I − 11ᵀ/K,
// the covariances of utilities within the column are Σ, and τ = tr(ΣM)/(K − 1): the mean variance of
// levels' utilities about their mean. Added are rows with the exchangeable τ(I + 11ᵀ), then the scale
// is that of τ = ½, with which exchangeable utilities have variance 1.
func (l *law) identify(number float64) {
	d := len(l.mean)
	for _, b := range l.blocks {
		levels := float64(b.Width + 1)
		tau := 0.0
		for j := b.First; j < b.First+b.Width; j++ {
			tau += l.cov[j*d+j]
			for k := b.First; k < b.First+b.Width; k++ {
				tau -= l.cov[j*d+k] / levels
			}
		}
		tau /= levels - 1
		scale := math.Sqrt(0.5 / tau)
		for j := b.First; j < b.First+b.Width; j++ {
			l.mean[j] *= scale
			for k := range d {
				switch {
				case k < b.First || k >= b.First+b.Width:
					l.cov[j*d+k] *= scale
					l.cov[k*d+j] *= scale
				case k == j:
					l.cov[j*d+k] = scale * scale * (number*l.cov[j*d+k] + shapeRows*2*tau) / (number + shapeRows)
				default:
					l.cov[j*d+k] = scale * scale * (number*l.cov[j*d+k] + shapeRows*tau) / (number + shapeRows)
				}
			}
		}
	}
}

// frame has the coordinates y = Fu of the utilities of K levels about their mean in an orthonormal
// basis, (K−1, K−1): y_k = (v_0 + … + v_(k−1) − k v_k)/√(k(k+1)), v_0 = 0, v_k = u_k. Another order of
// levels turns y.
func frame(width int) *mat.Dense {
	f := mat.NewDense(width, width, nil)
	for row := range width {
		k := float64(row + 1)
		for column := range row {
			f.Set(row, column, 1/math.Sqrt(k*(k+1)))
		}
		f.Set(row, row, -k/math.Sqrt(k*(k+1)))
	}
	return f
}

// whitening gives W = (FΣFᵀ)^(−½) F of a nominal column.
func (l *law) whitening(b data.Block) *mat.Dense {
	d := len(l.mean)
	own := mat.NewDense(b.Width, b.Width, nil)
	for j := range b.Width {
		for k := range b.Width {
			own.Set(j, k, l.cov[(b.First+j)*d+b.First+k])
		}
	}
	f := frame(b.Width)
	var m, w mat.Dense
	m.Product(f, own, f.T())
	var e mat.EigenSym
	e.Factorize(mat.NewSymDense(b.Width, m.RawMatrix().Data), true)
	var v mat.Dense
	e.VectorsTo(&v)
	root := e.Values(nil)
	for k := range root {
		root[k] = 1 / math.Sqrt(root[k])
	}
	w.Product(&v, mat.NewDiagDense(b.Width, root), v.T(), f)
	return &w
}

// whitened has the covariances with every nominal column whitened, (d, d), and W of each.
func (l *law) whitened() (cov []float64, w []*mat.Dense) {
	d := len(l.mean)
	t := mat.NewDense(d, d, nil)
	for j := range d {
		t.Set(j, j, 1)
	}
	for _, b := range l.blocks {
		w = append(w, l.whitening(b))
		t.Slice(b.First, b.First+b.Width, b.First, b.First+b.Width).(*mat.Dense).Copy(w[len(w)-1])
	}
	var s mat.Dense
	s.Product(t, mat.NewDense(d, d, l.cov), t.T())
	cov = s.RawMatrix().Data
	for _, b := range l.blocks {
		for j := b.First; j < b.First+b.Width; j++ {
			clear(cov[j*d+b.First : j*d+b.First+b.Width])
			cov[j*d+j] = 1
		}
	}
	for j := range d {
		for k := range j {
			cov[k*d+j] = cov[j*d+k]
		}
	}
	return cov, w
}

// blocksApart is by how much a correlation of two laws differs, at most: of nominal columns the root
// mean square over whitened utilities, which no convention moves.
func (l *law) blocksApart(other *law) (most float64) {
	d := len(l.mean)
	first, _ := l.whitened()
	second, _ := other.whitened()
	of := make([]int, d) // which block, single columns after them
	for j := range of {
		of[j] = len(l.blocks) + j
	}
	for a, b := range l.blocks {
		for j := b.First; j < b.First+b.Width; j++ {
			of[j] = a
		}
	}
	sum, number := map[[2]int]float64{}, map[[2]int]float64{}
	for j := range d {
		for k := range j {
			if of[j] != of[k] {
				unit := math.Sqrt(first[j*d+j] * first[k*d+k])
				at := [2]int{of[j], of[k]}
				sum[at] += math.Pow((first[j*d+k]-second[j*d+k])/unit, 2)
				number[at]++
			}
		}
	}
	for at, square := range sum {
		most = max(most, math.Sqrt(square/number[at]))
	}
	return most
}
