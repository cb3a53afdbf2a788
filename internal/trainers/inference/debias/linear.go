package debias

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"missingscore/graph"
	"missingscore/internal/panics"
)

type worker struct {
	multiply graph.Product[float64]
	memory   []float64
}

func (w *worker) room(n int) []float64 {
	if cap(w.memory) < n {
		w.memory = make([]float64, n)
	}
	return w.memory[:n]
}

// Results of each do not depend on scheduling.
func each(workers, tasks int, do func(w *worker, task int) error) error {
	return panics.Each(context.Background(), workers, tasks, func() (func(context.Context, int) error, error) {
		multiply, err := graph.NewProduct()
		w := &worker{multiply: multiply}
		return func(_ context.Context, task int) error { return do(w, task) }, err
	}, nil)
}

const blockWidth = 96

func blocks(workers, start, end int, do func(w *worker, at, count int)) error {
	return each(workers, (end-start+blockWidth-1)/blockWidth, func(w *worker, task int) error {
		at := start + task*blockWidth
		do(w, at, min(blockWidth, end-at))
		return nil
	})
}

// triangle is the lower triangle of a symmetric H or, after factorise, its Cholesky factor L, in
// blocks of columns for OpenBLAS (graph.Product).
type triangle struct {
	n, workers int
	panels     []panel
}

type panel struct {
	first, width int
	cells        []float64 // rows from first on (n − first, width); undefined above the diagonal
	own          []float64 // of a factor: the inverse of the diagonal block, lower triangular (width, width)
}

func newTriangle(n, workers int) *triangle {
	m := &triangle{n: n, workers: workers}
	for first := 0; first < n; first += blockWidth {
		width := min(blockWidth, n-first)
		m.panels = append(m.panels, panel{first: first, width: width, cells: make([]float64, (n-first)*width)})
	}
	return m
}

func (m *triangle) at(i, j int) *float64 {
	if i < j {
		i, j = j, i
	}
	p := &m.panels[j/blockWidth]
	return &p.cells[(i-p.first)*p.width+j-p.first]
}

func (p *panel) rows(at, count int) []float64 {
	return p.cells[(at-p.first)*p.width : (at-p.first+count)*p.width]
}

func (m *triangle) addScaled(w float64, x *triangle) {
	for k, p := range m.panels {
		floats.AddScaled(p.cells, w, x.panels[k].cells)
	}
}

func (m *triangle) addProduct(x, y []float64, k int) error {
	return each(m.workers, len(m.panels), func(w *worker, task int) error {
		p := &m.panels[task]
		for at := p.first; at < m.n; at += blockWidth {
			count := min(blockWidth, m.n-at)
			product := w.room(count * p.width)
			w.multiply(false, true, count, p.width, k, x[at*k:(at+count)*k], y[p.first*k:(p.first+p.width)*k], product)
			floats.Add(p.rows(at, count), product)
		}
		return nil
	})
}

// factorise fails with ErrSingular if H is not positive definite.
func (m *triangle) factorise() error {
	for k := range m.panels {
		p := &m.panels[k]
		err := blocks(m.workers, p.first, m.n, func(w *worker, at, count int) {
			product := w.room(count * p.width)
			for _, q := range m.panels[:k] { // LLᵀ of the previous panels
				w.multiply(false, true, count, p.width, q.width, q.rows(at, count), q.rows(p.first, p.width), product)
				floats.Sub(p.rows(at, count), product)
			}
		})
		if err != nil {
			return err
		}
		if !p.invert() {
			return errSingular
		}
		err = blocks(m.workers, p.first+p.width, m.n, func(w *worker, at, count int) {
			product := w.room(count * p.width)
			w.multiply(false, true, count, p.width, p.width, p.rows(at, count), p.own, product)
			copy(p.rows(at, count), product)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *panel) invert() (ok bool) {
	w := p.width
	p.own = make([]float64, w*w)
	for a := range w {
		copy(p.own[a*w:a*w+a+1], p.cells[a*w:])
	}
	t, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: w, Stride: w, Data: p.own})
	return ok && lapack64.Trtri(t) && !floats.HasNaN(p.own)
}

// forward sets b (n, k) to L⁻¹b; rows of b above from must be zero.
func (m *triangle) forward(w *worker, b []float64, k, from int) {
	for _, p := range m.panels {
		end := p.first + p.width
		if end <= from {
			continue
		}
		solved := w.room(m.n * k)
		w.multiply(false, false, p.width, k, p.width, p.own, b[p.first*k:end*k], solved[:p.width*k])
		copy(b[p.first*k:], solved[:p.width*k])
		if rows := m.n - end; rows > 0 {
			w.multiply(false, false, rows, k, p.width, p.rows(end, rows), b[p.first*k:end*k], solved[:rows*k])
			floats.Sub(b[end*k:], solved[:rows*k])
		}
	}
}

// backward sets b to L⁻ᵀb.
func (m *triangle) backward(w *worker, b []float64, k int) {
	for i := len(m.panels) - 1; i >= 0; i-- {
		p := &m.panels[i]
		end := p.first + p.width
		product := w.room(p.width * k)
		if rows := m.n - end; rows > 0 {
			w.multiply(true, false, p.width, k, rows, p.rows(end, rows), b[end*k:], product)
			floats.Sub(b[p.first*k:end*k], product)
		}
		w.multiply(true, false, p.width, k, p.width, p.own, b[p.first*k:end*k], product)
		copy(b[p.first*k:], product)
	}
}

func (m *triangle) solve(b []float64) (x []float64, err error) {
	x = append(x, b...)
	return x, each(1, 1, func(w *worker, _ int) error {
		m.forward(w, x, 1, 0)
		m.backward(w, x, 1)
		return nil
	})
}
