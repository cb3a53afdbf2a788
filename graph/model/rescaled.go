package model

import (
	"fmt"

	"missingscore/data/domain"
	"missingscore/graph"
)

// Rescaled is the model of x_j = mean_j + deviation_j z_j for a model of z, with its parts:
//
//	s_j(x) = s_j(z)/dev_j,  D_j(x) = D_j(z)/dev_j²,  H(x)v = (H(z)(v/dev))/dev
//
// and log q(x) = log q(z) up to a constant. Deviations must be positive.
type Rescaled struct {
	Model
	Mean, Deviation []float64
}

func (m Rescaled) Support() *domain.Domain {
	shift, inverse := make([]float64, len(m.Mean)), make([]float64, len(m.Deviation))
	for j, s := range m.Deviation {
		shift[j], inverse[j] = -m.Mean[j]/s, 1/s
	}
	return SupportOf(m.Model).Standardised(shift, inverse)
}

func (m Rescaled) Evaluate(b *graph.Builder, x graph.Node) Evaluation {
	n, d := graph.Shape(x)
	if len(m.Mean) != d || len(m.Deviation) != d {
		b.Fail(fmt.Errorf("%d means and %d standard deviations for %d columns", len(m.Mean), len(m.Deviation), d))
	}
	shift, inverse := make([]float64, d), make([]float64, d)
	for j, s := range m.Deviation {
		if !(s > 0) {
			b.Fail(fmt.Errorf("the standard deviation of column %d is %v: it must be positive", j+1, s))
		}
		shift[j], inverse[j] = -m.Mean[j], 1/s
	}
	row := b.Constant(1, d, inverse)
	scale := b.Rows(row, n)
	of := m.Model.Evaluate(b, b.Prod(b.AddRow(x, b.Constant(1, d, shift)), scale))
	t := Evaluation{LogDensity: of.LogDensity, ConstantHessian: of.ConstantHessian}
	if of.Score != nil {
		t.Score = b.Prod(of.Score, scale)
	}
	if of.Diagonal != nil {
		t.Diagonal = b.Prod(of.Diagonal, b.Map(graph.Square, scale))
	}
	if of.HessianProduct != nil {
		t.HessianProduct = func(v graph.Node) graph.Node {
			rows, _ := graph.Shape(v)
			scale := b.Rows(row, rows)
			return b.Prod(of.HessianProduct(b.Prod(v, scale)), scale)
		}
	}
	return t
}
