package posterior

import "math"

// factor is L of a symmetric positive definite matrix A = LLᵀ, lower triangular. It is used
// for matrices of a few rows, one for each pattern of gaps and component, where a call of
// LAPACK takes longer than the factor itself.
type factor struct {
	n      int
	l      []float64 // (n, n)
	logDet float64   // log det L
}

// of factors the rows and columns at of a matrix (d, d). It is not ok where these are not
// positive definite.
func (f *factor) of(a []float64, d int, at []int) (ok bool) {
	n := len(at)
	if cap(f.l) < n*n {
		f.l = make([]float64, d*d)
	}
	f.n, f.l, f.logDet = n, f.l[:n*n], 0
	product := 1.0
	for i, row := range at {
		own := f.l[i*n : i*n+n]
		for j := range i + 1 {
			above := f.l[j*n : j*n+n]
			sum := a[row*d+at[j]]
			for k, v := range above[:j] {
				sum -= own[k] * v
			}
			if j < i {
				own[j] = sum / above[j]
				continue
			}
			if !(sum > 0) {
				return false
			}
			own[i] = math.Sqrt(sum)
			if product *= own[i]; i%8 == 7 || i == n-1 { // a logarithm takes longer than the row
				f.logDet += math.Log(product)
				product = 1
			}
		}
	}
	return true
}

// forward replaces v by L⁻¹v.
func (f *factor) forward(v []float64) {
	for i := range f.n {
		row := f.l[i*f.n : i*f.n+f.n]
		sum := v[i]
		for k, x := range v[:i] {
			sum -= row[k] * x
		}
		v[i] = sum / row[i]
	}
}

// backward replaces v by L⁻ᵀv.
func (f *factor) backward(v []float64) {
	for i := f.n - 1; i >= 0; i-- {
		v[i] /= f.l[i*f.n+i]
		for k := range i {
			v[k] -= f.l[i*f.n+k] * v[i]
		}
	}
}

// times replaces v by Lv.
func (f *factor) times(v []float64) {
	for i := f.n - 1; i >= 0; i-- {
		sum := 0.0
		for k, x := range f.l[i*f.n : i*f.n+i+1] {
			sum += x * v[k]
		}
		v[i] = sum
	}
}
