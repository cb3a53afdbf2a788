package latent

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/stream"
)

func nominal(t *data.Table) (blocks []data.Block) {
	for _, b := range t.Blocks {
		if b.Width > 1 {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func places(blocks []data.Block, d int) (of []int) {
	of = slices.Repeat([]int{-1}, d)
	for at, b := range blocks {
		for j := b.First; j < b.First+b.Width; j++ {
			of[j] = at
		}
	}
	return of
}

// start returns the initial moments of a chain: pairwise moments of columns that are not nominal.
// Nominal columns start uncorrelated with others, with exchangeable utilities.
func start(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int) (*pairmoments.Moments, error) {
	blocks := nominal(t)
	if len(blocks) == 0 {
		m, err := pairmoments.Of(ctx, t, rows, counts, workers)
		if err == nil {
			err = m.Shrink(ctx, workers)
		}
		return m, err
	}
	ones := *t // for the numbers of rows
	ones.Cuts, ones.Values = nil, slices.Repeat([]float64{1}, len(t.Values))
	m, err := pairmoments.Of(ctx, &ones, rows, counts, workers)
	if err != nil {
		return nil, err
	}
	m.S = make([]float64, t.D*t.D)
	of, other := places(blocks, t.D), []int(nil)
	for j := range t.D {
		if of[j] < 0 {
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

// drawUtility draws utility j of a block given the rest of the centred row; the level's utility is
// the largest, u_0 = 0.
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

// shift moves all utilities of a nominal column by t ~ N(−by·(z − mean), deviation²), within the
// row's cone.
type shift struct {
	by        []float64 // (d): 1ᵀP_A·/1ᵀP_AA1, A the block
	deviation float64   // 1/√(1ᵀP_AA1)
}

// shifts returns the shift of each block: a Gibbs step of u_0.
func (l *law) shifts(coefficients, deviation []float64) []shift {
	d, all := len(l.mean), make([]shift, len(l.blocks))
	for at, b := range l.blocks {
		by := make([]float64, d)
		for j := b.First; j < b.First+b.Width; j++ {
			own := 1 / (deviation[j] * deviation[j])
			floats.AddScaled(by, -own, coefficients[j*d:j*d+d])
			by[j] += own
		}
		sum := floats.Sum(by[b.First : b.First+b.Width])
		floats.Scale(1/sum, by)
		all[at] = shift{by, 1 / math.Sqrt(sum)}
	}
	return all
}

const unknown = -1 // level of a missing cell

func (s shift) draw(row, mean []float64, b data.Block, level int, rng *stream.Stream) {
	middle := -floats.Dot(s.by, row)
	u := row[b.First : b.First+b.Width]
	switch level {
	case unknown:
		floats.AddConst(middle+s.deviation*rng.NormFloat64(), u)
	case 0: // all utilities stay below 0
		most := math.Inf(-1)
		for k, v := range u {
			most = max(most, v+mean[b.First+k])
		}
		floats.AddConst(middle-s.deviation*above((most+middle)/s.deviation, rng), u)
	default: // the level's utility stays above 0
		own := u[level-1] + mean[b.First+level-1]
		floats.AddConst(middle+s.deviation*above((-own-middle)/s.deviation, rng), u)
	}
}

// above draws a standard normal above a bound (Robert 1995).
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

// frame returns F (K−1, K−1), the coordinates y = Fu of the centred utilities of K levels in an
// orthonormal basis: with v_0 = 0, v_k = u_k,
//
//	y_k = (v_0 + … + v_(k−1) − k v_k)/√(k(k+1))
//
// Reordering the levels, or another level 0, is an orthogonal map of y.
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

// whitening returns W = √2 F: utilities with covariance ½(I + 11ᵀ), times W, have unit covariance.
func whitening(width int) *mat.Dense {
	w := frame(width)
	w.Scale(math.Sqrt2, w)
	return w
}

// exchange sets the covariances within nominal columns to ½(I + 11ᵀ), exchangeable utilities of all
// K levels (docs/theory/ordinal.md#eq-nominal-shape). With C = W Σ Wᵀ of n completed rows, mean
// eigenvalue τ and ν prior rows,
//
//	u ← W⁻¹ ((nC + ντI)/(n + ν))^(−½) W u,   mean ← mean/√τ
func (l *law) exchange(number float64) {
	d := len(l.mean)
	prior := l.prior()
	for _, b := range l.blocks {
		own := mat.NewDense(d, d, l.cov).Slice(b.First, b.First+b.Width, b.First, b.First+b.Width)
		w := whitening(b.Width)
		var c, vectors, back, t mat.Dense
		c.Product(w, own, w.T())
		var e mat.EigenSym
		e.Factorize(mat.NewSymDense(b.Width, c.RawMatrix().Data), true)
		e.VectorsTo(&vectors)
		root := e.Values(nil)
		tau := floats.Sum(root) / float64(b.Width)
		floats.Scale(1/math.Sqrt(tau), l.mean[b.First:b.First+b.Width])
		for k, v := range root {
			root[k] = math.Sqrt((number + prior) / (number*v + prior*tau))
		}
		_ = back.Inverse(w)
		t.Product(&back, &vectors, mat.NewDiagDense(b.Width, root), vectors.T(), w)
		l.move(b, &t)
	}
}

// move multiplies the utilities of a nominal column by t and sets their own covariances to ½(I +
// 11ᵀ).
func (l *law) move(b data.Block, t mat.Matrix) {
	d := len(l.mean)
	rows := mat.NewDense(d, d, l.cov).Slice(b.First, b.First+b.Width, 0, d).(*mat.Dense)
	rows.Mul(t, mat.DenseCopyOf(rows))
	for j := b.First; j < b.First+b.Width; j++ {
		for k := range d {
			switch {
			case k < b.First || k >= b.First+b.Width:
				l.cov[k*d+j] = l.cov[j*d+k]
			case k == j:
				l.cov[j*d+k] = 1
			default:
				l.cov[j*d+k] = 0.5
			}
		}
	}
}

func (l *law) whitened() []float64 {
	d, c := len(l.mean), l.clone()
	for _, b := range l.blocks {
		c.move(b, whitening(b.Width))
		for j := b.First; j < b.First+b.Width; j++ {
			clear(c.cov[j*d+b.First : j*d+b.First+b.Width])
			c.cov[j*d+j] = 1
		}
	}
	return c.cov
}

// distance returns the root mean square difference of correlations over all pairs, with nominal
// columns whitened.
func (l *law) distance(other *law) float64 {
	d, sum := len(l.mean), 0.0
	first, second := l.whitened(), other.whitened()
	for j := range d {
		for k := range j {
			unit := first[j*d+j] * first[k*d+k]
			sum += math.Pow(first[j*d+k]-second[j*d+k], 2) / unit
		}
	}
	return math.Sqrt(2 * sum / float64(d*(d-1)))
}
