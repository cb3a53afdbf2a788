package source

import (
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/simd"
)

// unrestricted draws the missing cells of rows that no domain cuts.
type unrestricted[T graph.Float] struct {
	deviations deviations
	gaps       simd.Gaps
	row        []T
	mean, sd   []T
	z          []T // of all draws of a row
}

// complete writes the rows r times each, their gaps drawn, and log densities.
func (f *unrestricted[T]) complete(b *data.Batch, x, logs []T, n normals, draw func([]T)) error {
	r, d := len(logs)/b.Size, b.D
	if f.z == nil {
		f.row, f.mean, f.sd, f.z = make([]T, d), make([]T, d), make([]T, d), make([]T, r*d)
	}
	clear(x[len(b.Rows)*r*d:]) // padding
	return n.each(b, &f.deviations, func(i int, mask, mean []float64) error {
		f.gaps.Set(mask)
		gaps, constant := len(f.gaps.At()), 0.0
		for _, j := range f.gaps.At() {
			constant -= f.deviations.log[j]
		}
		convert(f.row, b.X[i*d:i*d+d])
		if i == 0 || len(n.mean) > d {
			convert(f.mean, mean)
		}
		if i == 0 || n.scale != nil {
			convert(f.sd, f.deviations.sd)
		}
		draw(f.z[:r*gaps])
		log := logs[i*r : i*r+r]
		for k := range log {
			z := f.z[k*gaps : k*gaps+gaps]
			log[k] = T(constant) - simd.Dot(z, z)/2
		}
		simd.Scatter(x[i*r*d:(i+1)*r*d], f.row, f.mean, f.sd, f.z, &f.gaps)
		return nil
	})
}

func convert[T graph.Float](to []T, from []float64) {
	switch to := any(to).(type) {
	case []float32:
		simd.Narrow(to, from)
	case []float64:
		copy(to, from)
	}
}
