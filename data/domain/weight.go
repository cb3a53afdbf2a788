package domain

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Weight chooses the weight function g_Λ of truncated score matching
// (docs/theory/truncated.md#eq-weight-g), which vanishes on the boundary of the projection X_Λ of
// the domain onto the observed coordinates.
//
// The zero value is the default, one g_j per coordinate. With δ_j the distance of x_j to its own
// bounds and δ_h the distance of x_Λ to a half-space of observed coordinates,
//
//	g_j = min(cap, δ_j) · Π_{h: a_hj ≠ 0} min(1, δ_h/cap) · min(1, 4/Σ_h ‖a_h‖²‖v_h‖²)
//
// With Scalar, the paper's form, all coordinates share min(cap, the smallest distance) in place of
// the first two factors. The last factor damps the tangential score (Tangent), whose variance grows
// with ‖v‖. On the positive orthant, with Cap = c, g_j = min(x_j, c): genscore's "min_pow" with power 1.
type Weight struct {
	Scalar bool    `json:"scalar"` // one g for all coordinates of a row
	Cap    float64 `json:"cap"`    // where g stops growing, in the units of x; 0 means 1
	// NoTangent omits the tangential correction, as the paper does.
	NoTangent bool `json:"no_tangent"`
}

// Tangent holds, for each half-space h that is cut, the shortest vector v_h on a row's missing
// coordinates without box bounds with a_kᵀv_h = 1 for k = h and 0 for other half-spaces cut. Along
// t_j = e_j − Σ_h a_hj v_h, x_Λ changes by e_j and the range of the missing cells stays.
type Tangent struct {
	V    [][]float64 // (half-spaces, d)
	Lost []bool      // (d): observed coordinates for which no such t_j exists
}

// At fills g and ∂_j g_j (d) for a row, zero where missing, and the tangent. Lost coordinates have
// g = 0 and leave the objective.
func (w Weight) At(s *Domain, x, mask, g, slope []float64, t *Tangent) {
	cap := w.Cap
	if cap == 0 {
		cap = 1
	}
	s.tangent(mask, t, w.NoTangent)
	if w.Scalar {
		w.scalar(s, x, mask, g, slope, t, cap)
		return
	}
	for j, m := range mask {
		g[j], slope[j] = 0, 0
		if m == 0 || t.Lost[j] {
			continue
		}
		g[j] = cap
		if low := x[j] - s.Lower[j]; low < g[j] {
			g[j], slope[j] = low, 1
		}
		if high := s.Upper[j] - x[j]; high < g[j] {
			g[j], slope[j] = high, -1
		}
	}
	for _, h := range s.Half {
		distance, size, ok := s.distance(h, x, mask, w.NoTangent)
		if !ok {
			continue
		}
		for j, a := range h.A {
			if a == 0 || mask[j] == 0 {
				continue
			}
			f, df := distance/cap, -a/(size*cap)
			if f >= 1 {
				f, df = 1, 0
			}
			g[j], slope[j] = g[j]*f, slope[j]*f+g[j]*df
		}
	}
	c := t.damping(s)
	for j := range g {
		g[j] *= c
		slope[j] *= c
	}
}

func (w Weight) scalar(s *Domain, x, mask, g, slope []float64, t *Tangent, cap float64) {
	least := cap
	clear(slope)
	nearest := func(distance float64, f func()) {
		if distance < least {
			least = distance
			clear(slope)
			f()
		}
	}
	for j, m := range mask {
		if m != 0 {
			nearest(x[j]-s.Lower[j], func() { slope[j] = 1 })
			nearest(s.Upper[j]-x[j], func() { slope[j] = -1 })
		}
	}
	for _, h := range s.Half {
		if distance, size, ok := s.distance(h, x, mask, w.NoTangent); ok {
			nearest(distance, func() {
				for j, a := range h.A {
					slope[j] = -a / size
				}
			})
		}
	}
	c := t.damping(s)
	for j, m := range mask {
		if m == 0 || t.Lost[j] {
			g[j], slope[j] = 0, 0
		} else {
			g[j], slope[j] = c*least, c*slope[j]
		}
	}
}

// distance returns the distance of x_Λ to a half-space with a boundary in the projection, and the
// length of its normal there.
func (s *Domain) distance(h HalfSpace, x, mask []float64, noTangent bool) (distance, size float64, ok bool) {
	low, _, cut := s.reach(h, x, mask)
	if cut && (!noTangent || math.IsInf(low, -1)) {
		return 0, 0, false
	}
	for j, a := range h.A {
		if mask[j] != 0 {
			size += a * a
		}
	}
	size = math.Sqrt(size)
	return max(0, h.B-low) / size, size, size > 0
}

// damping is min(1, 4/Σ_h ‖a_h‖²‖v_h‖²).
func (t *Tangent) damping(s *Domain) float64 {
	stretch := 0.0
	for k, h := range s.Half {
		stretch += floats.Dot(h.A, h.A) * floats.Dot(t.V[k], t.V[k])
	}
	return min(1, 4/max(stretch, 4))
}

func (s *Domain) tangent(mask []float64, t *Tangent, none bool) {
	if d := len(s.Lower); len(t.Lost) != d || len(t.V) != len(s.Half) {
		t.Lost, t.V = make([]bool, d), nil
		for range s.Half {
			t.V = append(t.V, make([]float64, d))
		}
	}
	clear(t.Lost)
	involved := make([]int, 0, 4) // half-spaces with a missing coordinate
	for k, h := range s.Half {
		clear(t.V[k])
		for j, a := range h.A {
			if a != 0 && mask[j] == 0 {
				involved = append(involved, k)
				break
			}
		}
	}
	if none || len(involved) == 0 || t.dual(s, involved, mask) {
		return
	}
	for _, k := range involved {
		for j, a := range s.Half[k].A {
			t.Lost[j] = t.Lost[j] || a != 0 && mask[j] != 0
		}
	}
}

// freeNormal is a_kj if coordinate j is missing and without box bounds, else 0.
func (s *Domain) freeNormal(k, j int, mask []float64) float64 {
	if mask[j] != 0 || s.BoundedColumn(j) {
		return 0
	}
	return s.Half[k].A[j]
}

// dual fills v of the half-spaces involved, (AAᵀ)⁻¹A with the free normals as rows of A. It reports
// whether these are linearly independent.
func (t *Tangent) dual(s *Domain, involved []int, mask []float64) bool {
	inner := func(k, l int) (sum float64) {
		for j := range mask {
			sum += s.freeNormal(k, j, mask) * s.freeNormal(l, j, mask)
		}
		return sum
	}
	if k := involved[0]; len(involved) == 1 { // the common case, without allocation
		size := inner(k, k)
		for j := range mask {
			if size > 0 {
				t.V[k][j] = s.freeNormal(k, j, mask) / size
			}
		}
		return size > 0
	}
	gram := mat.NewSymDense(len(involved), nil)
	for a, k := range involved {
		for b := a; b < len(involved); b++ {
			gram.SetSym(a, b, inner(k, involved[b]))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) || chol.Cond() > 1e12 {
		return false
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		panic(err) // the condition number is checked
	}
	for a, k := range involved {
		for b, l := range involved {
			for j := range mask {
				t.V[k][j] += inverse.At(a, b) * s.freeNormal(l, j, mask)
			}
		}
	}
	return true
}

// LeftOut counts the observed cells of a table without a tangent, and all observed cells.
func (w Weight) LeftOut(observed []bool, s *Domain) (lost, cells int) {
	if !s.Bounded() || len(s.Half) == 0 || w.NoTangent {
		return 0, 0
	}
	d := len(s.Lower)
	mask := make([]float64, d)
	var t Tangent
	for i := 0; i < len(observed); i += d {
		for j := range mask {
			mask[j] = 0
			if observed[i+j] {
				mask[j] = 1
				cells++
			}
		}
		s.tangent(mask, &t, false)
		for _, l := range t.Lost {
			if l {
				lost++
			}
		}
	}
	return lost, cells
}
