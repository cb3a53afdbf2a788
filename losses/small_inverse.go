package losses

import "math"

// largeBlock is the size from which on blocks go to LAPACK: of smaller ones its calls take
// longer than the arithmetic.
const largeBlock = 4

// factorSmall is LAPACK's potrf of the lower triangle of a (n, n), n < largeBlock, with the
// same order of operations. It is not ok where a is not positive definite.
func factorSmall(a []float64, n int) (ok bool) {
	for j := range n {
		row := a[j*n : j*n+n]
		pivot := row[j]
		if j > 0 {
			sum := 0.0
			for _, v := range row[:j] {
				sum += v * v
			}
			pivot -= sum
		}
		if !(pivot > 0) {
			return false
		}
		pivot = math.Sqrt(pivot)
		row[j] = pivot
		for i := j + 1; i < n; i++ {
			sum := 0.0
			for k := range j {
				sum += a[i*n+k] * row[k]
			}
			a[i*n+j] = (a[i*n+j] - sum) * (1 / pivot)
		}
	}
	return true
}

// invertSmall is LAPACK's potri after factorSmall: (LLᵀ)⁻¹ in the lower triangle.
func invertSmall(a []float64, n int) {
	for j := n - 1; j >= 0; j-- {
		a[j*n+j] = 1 / a[j*n+j]
		for i := n - 1; i > j; i-- {
			sum := 0.0
			for k := j + 1; k < i; k++ {
				sum += a[i*n+k] * a[k*n+j]
			}
			a[i*n+j] = -a[j*n+j] * (a[i*n+i]*a[i*n+j] + sum)
		}
	}
	for i := range n {
		own := a[i*n+i]
		for j := range i {
			sum := 0.0
			for k := i + 1; k < n; k++ {
				sum += a[k*n+j] * a[k*n+i]
			}
			a[i*n+j] = own*a[i*n+j] + sum
		}
		even, odd := 0.0, 0.0 // two lanes; the last of an odd number is of the second
		for k := i; k < n; k++ {
			square := a[k*n+i] * a[k*n+i]
			if (k-i)%2 == 0 && k < n-1 {
				even += square
			} else {
				odd += square
			}
		}
		a[i*n+i] = even + odd
	}
}
