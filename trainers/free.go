package trainers

import (
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/simd"
)

// free draws the missing cells of rows that no domain cuts.
type free[T graph.Float] struct {
	deviations deviations
	gaps       []int
	mean, sd   []T // of the gaps
	z          []T // of all their draws
}

// complete draws the gaps of rows that x has already, and gives log densities.
func (f *free[T]) complete(b *data.Batch, x, logs []T, n normals, draw func([]T)) error {
	r := len(logs) / b.Size
	return n.each(b, &f.deviations, func(i int, mask, mean []float64) error {
		f.row(x[i*r*b.D:(i+1)*r*b.D], logs[i*r:(i+1)*r], mask, mean, draw)
		return nil
	})
}

func (f *free[T]) row(x, logs []T, mask, mean []float64, draw func([]T)) {
	d, r := len(mask), len(logs)
	if len(f.z) < r*d {
		f.gaps, f.mean, f.sd, f.z = make([]int, d), make([]T, d), make([]T, d), make([]T, r*d)
	}
	n, constant := 0, 0.0
	for j, m := range mask { // a branch on random gaps costs more than all the rest
		f.gaps[n] = j
		one := 0
		if m == 0 {
			one = 1
		}
		n += one
	}
	gaps, means, sds := f.gaps[:n], f.mean[:n], f.sd[:n]
	for t, j := range gaps {
		means[t], sds[t] = T(mean[j]), T(f.deviations.sd[j])
		constant -= f.deviations.log[j]
	}
	z := f.z[:r*n]
	draw(z)
	for k := range logs {
		row, z := x[k*d:k*d+d], z[k*n:k*n+n]
		logs[k] = T(constant) - simd.Dot(z, z)/2
		for t, v := range z {
			row[gaps[t]] = means[t] + sds[t]*v
		}
	}
}
