package debias

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/internal/panics"
)

// each runs tasks 0 to tasks−1 on up to workers goroutines, each with a product of its own. The
// result does not depend on scheduling.
func each(workers, tasks int, do func(multiply graph.Product[float64], task int) error) error {
	return panics.Each(context.Background(), workers, tasks, func() (func(context.Context, int) error, error) {
		multiply, err := graph.NewProduct()
		return func(_ context.Context, task int) error { return do(multiply, task) }, err
	}, nil)
}

// blockWidth is the number of rows or columns of a block, of the order that matrix products are fast
// at.
const blockWidth = 96

// blocks runs do for each block of the rows.
func blocks(workers, rows int, do func(multiply graph.Product[float64], at, count int)) error {
	return each(workers, (rows+blockWidth-1)/blockWidth, func(multiply graph.Product[float64], task int) error {
		at := task * blockWidth
		do(multiply, at, min(blockWidth, rows-at))
		return nil
	})
}

// factor is the Cholesky factor L of a symmetric matrix H = LLᵀ of thousands of rows. It works
// by blocks of columns, so that nearly all of it is products of graph.Product, which are many
// times as fast as a factorisation by gonum where there is an OpenBLAS.
type factor struct {
	n, workers int
	panels     []panel
}

// panel is a block of columns of L, from its diagonal down.
type panel struct {
	first, width int
	below        []float64 // L under the diagonal block, (rows, width)
	own          []float64 // the inverse of the diagonal block, lower triangular (width, width)
}

// factorise fails by ErrSingular where h is not positive definite.
func factorise(h *mat.SymDense, workers int) (*factor, error) {
	f := &factor{n: h.SymmetricDim(), workers: workers}
	left := mat.DenseCopyOf(h).RawMatrix().Data // what is left of the lower triangle
	for first := 0; first < f.n; first += blockWidth {
		p := panel{first: first, width: min(blockWidth, f.n-first)}
		if !p.invert(left, f.n) {
			return nil, ErrSingular
		}
		if err := f.reduce(&p, left); err != nil {
			return nil, err
		}
		f.panels = append(f.panels, p)
	}
	return f, nil
}

// invert sets the panel's own block.
func (p *panel) invert(left []float64, n int) (ok bool) {
	w := p.width
	p.own = make([]float64, w*w)
	for a := range w {
		copy(p.own[a*w:a*w+a+1], left[(p.first+a)*n+p.first:])
	}
	t, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: w, Stride: w, Data: p.own})
	return ok && lapack64.Trtri(t) && !floats.HasNaN(p.own)
}

// reduce sets the panel's L under its block, and takes LLᵀ from what is left.
func (f *factor) reduce(p *panel, left []float64) error {
	start, w := p.first+p.width, p.width
	rows := f.n - start
	if rows == 0 {
		return nil
	}
	p.below = make([]float64, rows*w)
	err := blocks(f.workers, rows, func(multiply graph.Product[float64], at, count int) {
		from := make([]float64, count*w)
		for a := range count {
			copy(from[a*w:a*w+w], left[(start+at+a)*f.n+p.first:])
		}
		multiply(false, true, count, w, w, from, p.own, p.below[at*w:(at+count)*w])
	})
	if err != nil {
		return err
	}
	return blocks(f.workers, rows, func(multiply graph.Product[float64], at, count int) {
		columns := at + count // of these rows, up to the diagonal
		product := make([]float64, count*columns)
		multiply(false, true, count, columns, w, p.below[at*w:(at+count)*w], p.below[:columns*w], product)
		for a := range count {
			to := (start+at+a)*f.n + start
			floats.Sub(left[to:to+columns], product[a*columns:(a+1)*columns])
		}
	})
}

// forward replaces b (n, k) by L⁻¹b; its rows above from, which is that of a panel, are zero.
func (f *factor) forward(multiply graph.Product[float64], b []float64, k, from int) {
	for _, p := range f.panels {
		if p.first+p.width <= from {
			continue
		}
		solved := make([]float64, p.width*k)
		multiply(false, false, p.width, k, p.width, p.own, b[p.first*k:(p.first+p.width)*k], solved)
		copy(b[p.first*k:], solved)
		if rows := f.n - p.first - p.width; rows > 0 {
			product := make([]float64, rows*k)
			multiply(false, false, rows, k, p.width, p.below, solved, product)
			floats.Sub(b[(p.first+p.width)*k:], product)
		}
	}
}

// backward replaces b (n, k) by L⁻ᵀb.
func (f *factor) backward(multiply graph.Product[float64], b []float64, k int) {
	for i := len(f.panels) - 1; i >= 0; i-- {
		p := f.panels[i]
		at, end := p.first*k, (p.first+p.width)*k
		product := make([]float64, p.width*k)
		if rows := f.n - p.first - p.width; rows > 0 {
			multiply(true, false, p.width, k, rows, p.below, b[end:], product)
			floats.Sub(b[at:end], product)
		}
		multiply(true, false, p.width, k, p.width, p.own, b[at:end], product)
		copy(b[at:end], product)
	}
}

// solve is H⁻¹b of one b.
func (f *factor) solve(b []float64) ([]float64, error) {
	multiply, err := graph.NewProduct()
	if err != nil {
		return nil, err
	}
	x := append([]float64{}, b...)
	f.forward(multiply, x, 1, 0)
	f.backward(multiply, x, 1)
	return x, nil
}
