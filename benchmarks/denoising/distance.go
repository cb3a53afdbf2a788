package denoising

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// energyDistance is that of Székely and Rizzo (2013, "Energy statistics") between the
// distributions of two samples,
//
//	2 mean‖x − y‖ − mean‖x − x'‖ − mean‖y − y'‖
//
// means over all pairs, rows with themselves included: never negative, 0 if the samples
// are the same.
func energyDistance(x, y mat.Matrix) float64 {
	return 2*meanDistance(x, y) - meanDistance(x, x) - meanDistance(y, y)
}

func meanDistance(x, y mat.Matrix) float64 {
	n, d := x.Dims()
	m, _ := y.Dims()
	rows := func(of mat.Matrix, n int) []float64 {
		out := make([]float64, 0, n*d)
		for i := range n {
			for j := range d {
				out = append(out, of.At(i, j))
			}
		}
		return out
	}
	u, v := rows(x, n), rows(y, m)
	sum := 0.0
	for i := 0; i < len(u); i += d {
		for k := 0; k < len(v); k += d {
			square := 0.0
			for j := range d {
				gap := u[i+j] - v[k+j]
				square += gap * gap
			}
			sum += math.Sqrt(square)
		}
	}
	return sum / float64(n*m)
}

// distances are what two samples differ by.
type distances struct {
	ks, worst   float64 // Kolmogorov–Smirnov's, mean over columns and the largest
	pairs       float64 // energy distance of two columns, mean over pairs
	whole       float64 // energy distance of the rows
	correlation float64 // |difference|, mean over pairs
}

func compare(x, y *mat.Dense) distances {
	_, d := x.Dims()
	var o distances
	var cx, cy mat.SymDense
	stat.CorrelationMatrix(&cx, x, nil)
	stat.CorrelationMatrix(&cy, y, nil)
	pairs := float64(d * (d - 1) / 2)
	for j := range d {
		ks := stat.KolmogorovSmirnov(slices.Sorted(slices.Values(mat.Col(nil, j, x))), nil, slices.Sorted(slices.Values(mat.Col(nil, j, y))), nil)
		o.ks += ks / float64(d)
		o.worst = max(o.worst, ks)
		for k := range j {
			o.correlation += math.Abs(cx.At(j, k)-cy.At(j, k)) / pairs
			o.pairs += energyDistance(two(x, j, k), two(y, j, k)) / pairs
		}
	}
	o.whole = energyDistance(x, y)
	return o
}

// two are columns j and k.
func two(x *mat.Dense, j, k int) *mat.Dense {
	n, _ := x.Dims()
	out := mat.NewDense(n, 2, nil)
	out.SetCol(0, mat.Col(nil, j, x))
	out.SetCol(1, mat.Col(nil, k, x))
	return out
}
