package mcem

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Form is the loss of completed rows as a quadratic form, mean over table rows:
//
//	½ψ(θ) = ½ Σ_j g_j s_j² + g_j D_j + ∂_jg_j s_j = ½ θᵀΓθ − γᵀθ,   s = η − Px,  D = −diag P
//
// with s_j = z_jᵀθ, z_j = 1 at η_j and −x_k at P_jk, so
//
//	Γ = mean of Σ_j g_j z_j z_jᵀ,   γ = mean of Σ_j g_j e_jj − ∂_jg_j z_j
//
// Γ is stored as a moment matrix (d+1, d+1) per column. ψ has the units of 1/x².
type Form struct {
	d       int
	moments []blas64.Symmetric // of (1, −x) weighted by g_j, upper triangle
	linear  []float64          // γ
}

func (c *Rows) Form() (*Form, error) {
	d := c.d
	w := d + 1
	size := d*w*w + d*(d+3)/2
	sum, err := c.summed(size, func(into []float64, from, to int) { c.addForm(into, from, to) })
	if err != nil {
		return nil, err
	}
	f := &Form{d: d, linear: sum[d*w*w:]}
	for j := range d {
		f.moments = append(f.moments, blas64.Symmetric{Uplo: blas.Upper, N: w, Stride: w, Data: sum[j*w*w : (j+1)*w*w]})
	}
	return f, nil
}

func (c *Rows) addForm(into []float64, from, to int) {
	d, n := c.d, float64(c.Count())
	w, first, last := d+1, c.first[from], c.first[to]
	linear := into[d*w*w:]
	weights := make([]float64, 0, last-first)
	for i := from; i < to; i++ {
		for range c.first[i+1] - c.first[i] {
			weights = append(weights, 1/(n*float64(c.first[i+1]-c.first[i])))
		}
	}
	scaled := blas64.General{Rows: last - first, Cols: w, Stride: w, Data: make([]float64, (last-first)*w)}
	for j := range d {
		for a, weight := range weights {
			k := first + a
			g, slope, row := c.g[k*d+j], c.slope[k*d+j], scaled.Data[a*w:(a+1)*w]
			root := math.Sqrt(g * weight)
			row[0] = root
			linear[j] -= weight * slope
			linear[place(d, j, j)] += weight * g
			for l, x := range c.x[k*d : (k+1)*d] {
				row[l+1] = -root * x
				linear[place(d, j, l)] += weight * slope * x
			}
		}
		blas64.Syrk(blas.Trans, 1, scaled, 1, blas64.Symmetric{Uplo: blas.Upper, N: w, Stride: w, Data: into[j*w*w : (j+1)*w*w]})
	}
}

func (f *Form) curvature(s *Support) *mat.SymDense {
	gamma := mat.NewSymDense(s.Size(), nil)
	for j, members := range s.columns {
		m := f.moments[j]
		for a, p := range members {
			for _, q := range members[a:] {
				low, high := min(p.k, q.k)+1, max(p.k, q.k)+1
				gamma.SetSym(p.number, q.number, gamma.At(p.number, q.number)+m.Data[low*m.Stride+high])
			}
		}
	}
	return gamma
}

// minimum returns the θ of least loss on a support, its ψ and the factor of Γ; ok is false if Γ is
// singular.
func (f *Form) minimum(s *Support) (theta []float64, loss float64, factor *mat.Cholesky, ok bool) {
	factor = new(mat.Cholesky)
	if !factor.Factorize(f.curvature(s)) {
		return nil, 0, nil, false
	}
	linear := mat.NewVecDense(s.Size(), s.of(f.linear))
	var solved mat.VecDense
	if factor.SolveVecTo(&solved, linear) != nil {
		return nil, 0, nil, false
	}
	return s.spread(solved.RawVector().Data), -mat.Dot(linear, &solved), factor, true
}

func (f *Form) Loss(theta []float64) float64 {
	all := Everything(f.d)
	members := mat.NewVecDense(all.Size(), all.of(theta))
	return mat.Inner(members, f.curvature(all), members) - 2*mat.Dot(members, mat.NewVecDense(all.Size(), all.of(f.linear)))
}

// gradients returns the gradients of ½ψ at θ by the members of s for the completed rows of table
// rows from … to − 1:
//
//	Σ_j (g_j s_j + ∂_jg_j) z_j − g_j e_jj
func (c *Rows) gradients(s *Support, theta []float64, from, to int) *mat.Dense {
	d, first, n := c.d, c.first[from], c.first[to]-c.first[from]
	var px mat.Dense
	px.Mul(mat.NewDense(n, d, c.x[first*d:(first+n)*d]), precision(d, theta))
	u := mat.NewDense(n, s.Size(), nil)
	for k := range n {
		at := (first + k) * d
		x, g, slope := c.x[at:at+d], c.g[at:at+d], c.slope[at:at+d]
		theirs, into := px.RawRowView(k), u.RawRowView(k)
		for j, members := range s.columns {
			v := g[j]*(theta[j]-theirs[j]) + slope[j]
			for _, m := range members {
				switch m.k {
				case -1:
					into[m.number] += v
				case j:
					into[m.number] -= v*x[j] + g[j]
				default:
					into[m.number] -= v * x[m.k]
				}
			}
		}
	}
	return u
}
