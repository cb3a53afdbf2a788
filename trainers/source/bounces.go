package source

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"missingscore/data/domain"
	"missingscore/internal/data/truncnorm"
	"missingscore/internal/trainers/mcmc"
)

// bounces draws from a normal on a convex set by exact Hamiltonian Monte Carlo (Pakman & Paninski
// 2014): in standard coordinates a particle with velocity v ~ N(0, I) moves for a time π/2 along
// z(t) = z cos t + v sin t and is reflected by the walls wᵀz ≤ β, |w| = 1. A Gibbs sweep after each
// path handles thin sets.
type bounces struct {
	root  blas64.Triangular // U with y = U⁻¹z, y the centred coordinates
	walls blas64.General    // (c, m)
	beta  []float64         // (c)
	inner blas64.General    // (c, c): inner products of the walls

	z, v, start []float64 // (m)
	at, speed   []float64 // (c): wᵀz and wᵀv

	coordinates     []int     // of the row
	mean, precision []float64 // (m) and (m, m), for Gibbs steps
}

const (
	paths       = 12   // per draw; in narrow strips moments are biased for 3, not for 6
	mostBounces = 1000 // per path; a path with more is rejected, as is its reverse
)

// in sets the coordinates of a row, their means, the precision UᵀU and the section.
func (b *bounces) in(s *domain.Section, coordinates []int, mean []float64, u blas64.Triangular) {
	m := len(coordinates)
	b.root = u
	b.z, b.v, b.start = slices.Grow(b.z[:0], m)[:m], slices.Grow(b.v[:0], m)[:m], slices.Grow(b.start[:0], m)[:m]
	b.walls.Data, b.beta = b.walls.Data[:0], b.beta[:0]
	wall := func(bound float64, normal func(j int) float64) {
		if math.IsInf(bound, 1) {
			return
		}
		from := len(b.walls.Data)
		for a, j := range coordinates {
			b.walls.Data = append(b.walls.Data, normal(j))
			bound -= normal(j) * mean[a]
		}
		w := blas64.Vector{N: m, Inc: 1, Data: b.walls.Data[from:]}
		blas64.Trsv(blas.Trans, u, w)
		size := blas64.Nrm2(w)
		blas64.Scal(1/size, w)
		b.beta = append(b.beta, bound/size)
	}
	along := func(of int, sign float64) func(int) float64 {
		return func(j int) float64 {
			if j == of {
				return sign
			}
			return 0
		}
	}
	for _, j := range coordinates {
		wall(s.Upper[j], along(j, 1))
		wall(-s.Lower[j], along(j, -1))
	}
	for _, h := range s.Cuts {
		wall(h.B, func(j int) float64 { return h.A[j] })
	}
	c := len(b.beta)
	b.walls.Rows, b.walls.Cols, b.walls.Stride = c, m, m
	b.inner = blas64.General{Rows: c, Cols: c, Stride: c, Data: slices.Grow(b.inner.Data[:0], c*c)[:c*c]}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, b.walls, b.walls, 0, b.inner)
	b.at, b.speed = slices.Grow(b.at[:0], c)[:c], slices.Grow(b.speed[:0], c)[:c]
	b.coordinates, b.mean, b.precision = append(b.coordinates[:0], coordinates...), append(b.mean[:0], mean...), slices.Grow(b.precision[:0], m*m)[:m*m]
	clear(b.precision)
	for a := range m {
		copy(b.precision[a*m+a:a*m+m], u.Data[a*u.Stride+a:a*u.Stride+m])
	}
	blas64.Trmm(blas.Left, blas.Trans, 1, u, blas64.General{Rows: m, Cols: m, Stride: m, Data: b.precision})
}

// rhat returns the worst split R-hat of chains from the points that start sets.
func (b *bounces) rhat(s *domain.Section, x, mask []float64, start func() error, rng *Stream) (worst float64, err error) {
	const chains, states = 4, 60 // after the paths of a draw
	traces := make([][][]float64, len(b.coordinates))
	for a := range traces {
		traces[a] = make([][]float64, chains)
	}
	for k := range chains {
		if err := start(); err != nil {
			return 0, err
		}
		for i := range paths + states {
			b.move(s, x, mask, rng)
			for a, j := range b.coordinates {
				if i >= paths {
					traces[a][k] = append(traces[a][k], x[j])
				}
			}
		}
	}
	for _, t := range traces {
		rhat, _ := mcmc.RHat(t)
		worst = max(worst, rhat)
	}
	return worst, nil
}

func (b *bounces) move(s *domain.Section, x, mask []float64, rng *Stream) {
	for a, j := range b.coordinates {
		b.z[a] = x[j] - b.mean[a]
		b.start[a] = x[j]
	}
	blas64.Trmv(blas.NoTrans, b.root, vector(b.z))
	if b.travel(rng) {
		blas64.Trsv(blas.NoTrans, b.root, vector(b.z))
		for a, j := range b.coordinates { // rounding may cross the boundary
			x[j] = min(max(b.mean[a]+b.z[a], s.Lower[j]), s.Upper[j])
		}
		if !s.Contains(x, mask) {
			for a, j := range b.coordinates {
				x[j] = b.start[a]
			}
		}
	}
	b.sweep(s, x, rng.Rand)
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// travel is false with too many bounces.
func (b *bounces) travel(rng *Stream) bool {
	rng.Normals(b.v)
	blas64.Gemv(blas.NoTrans, 1, b.walls, vector(b.z), 0, vector(b.at))
	blas64.Gemv(blas.NoTrans, 1, b.walls, vector(b.v), 0, vector(b.speed))
	left := math.Pi / 2
	for range mostBounces {
		t, sin, cos, wall := b.first(left)
		rotate(b.z, b.v, sin, cos)
		rotate(b.at, b.speed, sin, cos)
		if wall < 0 {
			return true
		}
		left -= t
		back := -2 * b.speed[wall]
		m, c := len(b.z), len(b.at)
		floats.AddScaled(b.v, back, b.walls.Data[wall*m:wall*m+m])
		floats.AddScaled(b.speed, back, b.inner.Data[wall*c:wall*c+c])
		b.at[wall] = b.beta[wall]
	}
	return false
}

func rotate(x, v []float64, sin, cos float64) {
	for i, p := range x {
		x[i], v[i] = p*cos+v[i]*sin, v[i]*cos-p*sin
	}
}

// first returns the time of the next wall hit, its sine and cosine, and the wall; −1 if there is
// none before left. wᵀz(t) = R cos(t − φ) reaches β at t = φ − arccos(β/R).
func (b *bounces) first(left float64) (when, sin, cos float64, wall int) {
	when, wall = left, -1
	sin, cos = math.Sincos(when)
	for k, u := range b.at {
		speed, beta := b.speed[k], b.beta[k]
		if avoided(u, speed, beta, sin, cos) {
			continue
		}
		size := math.Hypot(u, speed)
		if size <= beta {
			continue
		}
		t := math.Atan2(speed, u) - math.Acos(min(max(beta/size, -1), 1))
		switch {
		case t >= 0:
		case speed > 0: // on the wall, beyond it by rounding
			t = 0
		default:
			t += 2 * math.Pi
		}
		if t < when {
			when, wall = t, k
			sin, cos = math.Sincos(when)
		}
	}
	return when, sin, cos, wall
}

// The particle certainly hits no wall until a time of at most π/2, without computing angles; false
// if rounding could decide.
func avoided(u, speed, beta, sin, cos float64) bool {
	const near = 1e-9
	square := u*u + speed*speed
	switch {
	case beta > 0 && square < beta*beta*(1-near): // R < β
		return true
	case speed < 0: // β ≥ R/10: φ ≥ −π and arccos(β/R) ≤ 1.47, so t > π/2
		return beta > 0 && beta*beta > 0.01*square
	}
	then := u*cos + speed*sin
	return speed*cos-u*sin > near*(math.Abs(u)+speed) && then < beta-near*(math.Abs(u)+speed+math.Abs(beta))
}

// sweep draws each coordinate from its conditional, a truncated normal.
func (b *bounces) sweep(s *domain.Section, x []float64, rng *rand.Rand) {
	m := len(b.coordinates)
	for a, j := range b.coordinates {
		q := b.precision[a*m : a*m+m]
		shift := 0.0
		for c, k := range b.coordinates {
			shift += q[c] * (x[k] - b.mean[c])
		}
		shift -= q[a] * (x[j] - b.mean[a])
		mean, sd := b.mean[a]-shift/q[a], 1/math.Sqrt(q[a])
		low, high := s.Interval(x, j)
		if !(low < high) { // a single point, by rounding
			continue
		}
		z := truncnorm.Transport(rng.NormFloat64(), (low-mean)/sd, (high-mean)/sd)
		x[j] = min(max(mean+sd*z, low), high)
	}
}
