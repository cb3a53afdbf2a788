package debias

import (
	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
)

// outer is Σ_i g_i g_iᵀ of rows that come one after the other and are not kept: what errors by the
// rows need of them, where there are many more rows than parameters.
type outer struct {
	size, workers int
	block         []float64 // of rows that are not added yet
	waiting       int       // how many these are
	sum           []float64 // (size, size)
	err           error     // of a product
}

const outerRows = 512 // that are added at a time

func newOuter(size, workers int) *outer {
	return &outer{size: size, workers: workers, block: make([]float64, outerRows*size), sum: make([]float64, size*size)}
}

// next is where the next row's g is to be put.
func (o *outer) next() []float64 {
	if o.waiting == outerRows {
		o.add()
	}
	g := o.block[o.waiting*o.size:][:o.size]
	o.waiting++
	return g
}

// add adds the rows that wait.
func (o *outer) add() {
	rows, size := o.waiting, o.size
	if o.waiting = 0; rows == 0 || o.err != nil {
		return
	}
	o.err = blocks(o.workers, size, func(multiply graph.Product[float64], at, count int) {
		some := make([]float64, rows*count) // columns of the block
		for a := range rows {
			copy(some[a*count:][:count], o.block[a*size+at:])
		}
		product := make([]float64, count*size)
		multiply(true, false, count, size, rows, some, o.block[:rows*size], product)
		floats.Add(o.sum[at*size:][:count*size], product)
	})
}

// centre turns the sum into Σ_i (g_i − ḡ)(g_i − ḡ)ᵀ, given Σ_i g_i of n rows.
func (o *outer) centre(total []float64, n int) {
	o.add()
	for j, v := range total {
		floats.AddScaled(o.sum[j*o.size:][:o.size], -v/float64(n), total)
	}
}
