// Package emglasso is the outside peer of score matching for Gaussian networks:
// likelihood under an L1 penalty, from a table with missing cells, by EM with the
// graphical lasso in the M-step (Städler and Bühlmann 2012, "Missing values: sparse
// inverse covariance estimation and an extension to sparse regression").
package emglasso

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/gaussian"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/trainers/gaussian/em"
)

// Options of a path.
type Options struct {
	Lambdas    int     `json:"lambdas"`    // how many, evenly on a log scale
	Ratio      float64 `json:"ratio"`      // largest over smallest λ
	Iterations int     `json:"iterations"` // of EM at each λ, at most
	Tolerance  float64 `json:"tolerance"`  // EM stops where no entry of P moves by more
}

// Check fails unless there are λs, falling, and EM may step and stop.
func (o Options) Check() error {
	if o.Lambdas < 2 || o.Iterations < 1 || !(o.Ratio > 1) || !(o.Tolerance > 0) {
		return fmt.Errorf("likelihood: %d λs over a ratio of %v, %d iterations, tolerance %v: at least 2, above 1, at least 1, above 0 are needed", o.Lambdas, o.Ratio, o.Iterations, o.Tolerance)
	}
	return nil
}

// Path maximises, for each λ of a decreasing sequence, the observed cells' likelihood
//
//	Σ_i log N(x_i,Λ; μ_Λ, (P⁻¹)_ΛΛ) / n − λ Σ_{j<k} |P_jk|
//
// over P and μ, each λ from the solution before, the columns as they are. The first λ
// is the largest covariance of two columns that pairs of observed cells show.
func Path(ctx context.Context, t *data.Table, o Options) ([]simulate.Gaussian, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	mean, top := start(t)
	p := mat.NewSymDense(t.D, nil)
	for j := range t.D {
		p.SetSym(j, j, 1)
	}
	var path []simulate.Gaussian
	for _, lambda := range floats.LogSpan(make([]float64, o.Lambdas), top, top/o.Ratio) {
		for range o.Iterations {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s, err := expect(t, mean, p)
			if err != nil {
				return nil, err
			}
			next := Glasso(s, lambda)
			moved := largestChange(p, next)
			if p = next; moved <= o.Tolerance {
				break
			}
		}
		path = append(path, simulate.Gaussian{Mean: slices.Clone(mean), Precision: p})
	}
	return path, nil
}

// Saturated maximises the observed cells' likelihood without a penalty,
//
//	Σ_i log N(x_i,Λ; μ_Λ, (P⁻¹)_ΛΛ),
//
// over P and μ by EM from independent columns: at most so many iterations, until no
// entry of P, relative to √(P_jj P_kk), moves by more than the tolerance. It fails where
// the rows are too few for a precision.
func Saturated(ctx context.Context, t *data.Table, iterations int, tolerance float64) (simulate.Gaussian, error) {
	mean, _ := start(t)
	p := mat.NewSymDense(t.D, nil)
	for j := range t.D {
		p.SetSym(j, j, 1)
	}
	for range iterations {
		if err := ctx.Err(); err != nil {
			return simulate.Gaussian{}, err
		}
		s, err := expect(t, mean, p)
		if err != nil {
			return simulate.Gaussian{}, err
		}
		var chol mat.Cholesky
		next := mat.NewSymDense(t.D, nil)
		if !chol.Factorize(s) || chol.InverseTo(next) != nil {
			return simulate.Gaussian{}, fmt.Errorf("likelihood: the expected covariance is singular: %d rows of %d columns are too few", t.N, t.D)
		}
		moved := 0.0
		for j := range t.D {
			for k := j; k < t.D; k++ {
				moved = math.Max(moved, math.Abs(next.At(j, k)-p.At(j, k))/math.Sqrt(next.At(j, j)*next.At(k, k)))
			}
		}
		if p = next; moved <= tolerance {
			break
		}
	}
	return simulate.Gaussian{Mean: mean, Precision: p}, nil
}

// Refit maximises the observed cells' likelihood, without a penalty, over μ and the P that
// are 0 where |g.Precision| is at most the threshold, by EM from g on. It is not ok where
// the likelihood has no maximum.
func Refit(ctx context.Context, t *data.Table, g simulate.Gaussian, threshold float64, o Options) (refit simulate.Gaussian, ok bool, err error) {
	mean := slices.Clone(g.Mean)
	packed := make([]float64, t.D*(t.D+1)/2)
	for j := range t.D {
		for k := j; k < t.D; k++ {
			if v := g.Precision.At(j, k); j == k || math.Abs(v) > threshold {
				packed[graph.PackedIndex(t.D, j, k)] = v
			}
		}
	}
	support, p := em.NewSupport(packed, t.D), g.Precision
	for range o.Iterations {
		if err := ctx.Err(); err != nil {
			return refit, false, err
		}
		s, err := expect(t, mean, p)
		if err != nil || !support.Minimise(packed, mat.DenseCopyOf(s).RawMatrix().Data) {
			return refit, false, nil
		}
		next := graph.Unpack(t.D, packed)
		moved := largestChange(p, next)
		if p = next; moved <= o.Tolerance {
			break
		}
	}
	return simulate.Gaussian{Mean: mean, Precision: p}, true, nil
}

// largestChange is that of an entry.
func largestChange(from, to *mat.SymDense) (moved float64) {
	for j := range from.SymmetricDim() {
		for k := j; k < from.SymmetricDim(); k++ {
			moved = math.Max(moved, math.Abs(to.At(j, k)-from.At(j, k)))
		}
	}
	return moved
}

// start gives the observed means and the largest |covariance| over pairs.
func start(t *data.Table) (mean []float64, top float64) {
	mean = make([]float64, t.D)
	count := make([]float64, t.D)
	for i, seen := range t.Observed {
		if seen {
			mean[i%t.D] += t.Values[i]
			count[i%t.D]++
		}
	}
	floats.Div(mean, count)
	for j := range t.D {
		for k := range j {
			sum, n := 0.0, 0.0
			for i := 0; i < len(t.Values); i += t.D {
				if t.Observed[i+j] && t.Observed[i+k] {
					sum += (t.Values[i+j] - mean[j]) * (t.Values[i+k] - mean[k])
					n++
				}
			}
			if n > 0 {
				top = math.Max(top, math.Abs(sum/n))
			}
		}
	}
	return mean, top
}

// expect is the E-step: the expected covariance about the mean of the completed rows, to which it
// moves mean.
func expect(t *data.Table, mean []float64, p *mat.SymDense) (*mat.SymDense, error) {
	d := t.D
	b := data.NewBatch(t.N, d)
	b.Fill(t, t.AllRows(), 1)
	e := gaussian.NewExpectation(d, gaussian.Gonum)
	var eta mat.VecDense
	eta.MulVec(p, mat.NewVecDense(d, mean))
	if err := e.Over(eta.RawVector().Data, mat.DenseCopyOf(p).RawMatrix().Data, b.X, b.Mask, b.Weight, gaussian.FindPatterns(b.Mask, b.Weight)); err != nil {
		return nil, fmt.Errorf("likelihood: %w", err)
	}
	s, n := mat.NewSymDense(d, nil), e.Number
	for j := range d {
		for k := range j + 1 {
			s.SetSym(k, j, e.Second[j*d+k]/n-e.Sum[j]/n*e.Sum[k]/n)
		}
	}
	floats.AddScaled(mean, 1/n, e.Sum)
	return s, nil
}

const (
	glassoTolerance = 1e-6 // of W, against the mean |S_jk|
	glassoSweeps    = 200
)

// Glasso is the graphical lasso with the diagonal free,
//
//	argmax log det P − tr(SP) − 2λ Σ_{j<k} |P_jk|,
//
// by block coordinate descent on W = P⁻¹, a lasso for each column (Friedman, Hastie and
// Tibshirani 2008). S must be positive definite.
func Glasso(s *mat.SymDense, lambda float64) *mat.SymDense {
	d := s.SymmetricDim()
	w := mat.DenseCopyOf(s)
	beta := mat.NewDense(d, d, nil) // row j: the lasso of column j; its entry j stays 0
	scale := 0.0
	for j := range d {
		for k := range j {
			scale += math.Abs(s.At(j, k))
		}
	}
	column, slack := make([]float64, d), make([]float64, d)
	for range glassoSweeps {
		moved := 0.0
		for j := range d {
			for k := range d {
				column[k] = s.At(j, k)
			}
			lasso(w, column, slack, j, lambda, beta.RawRowView(j))
			for k := range d {
				if k != j {
					v := column[k] - slack[k]
					moved += math.Abs(v - w.At(j, k))
					w.Set(j, k, v)
					w.Set(k, j, v)
				}
			}
		}
		if moved <= glassoTolerance*scale {
			break
		}
	}
	p := mat.NewSymDense(d, nil)
	for j := range d {
		p.SetSym(j, j, 1/(w.At(j, j)-floats.Dot(w.RawRowView(j), beta.RawRowView(j))))
	}
	for j := range d {
		for k := range j { // the two columns' values agree at the solution
			p.SetSym(j, k, -(beta.At(j, k)*p.At(j, j)+beta.At(k, j)*p.At(k, k))/2)
		}
	}
	return p
}

// lasso minimises ½ bᵀW b − s_jᵀ b + λ|b|₁ over the other columns, from b on, and
// leaves s_j − W b in slack.
func lasso(w *mat.Dense, s, slack []float64, j int, lambda float64, b []float64) {
	copy(slack, s)
	for k, x := range b {
		if x != 0 {
			floats.AddScaled(slack, -x, w.RawRowView(k))
		}
	}
	for range glassoSweeps {
		moved := 0.0
		for k, x := range b {
			if k == j {
				continue
			}
			row := w.RawRowView(k)
			gradient := slack[k] + row[k]*x
			next := 0.0
			if size := math.Abs(gradient) - lambda; size > 0 {
				next = math.Copysign(size, gradient) / row[k]
			}
			if next != x {
				floats.AddScaled(slack, x-next, row)
				moved = max(moved, math.Abs(next-x)*row[k])
				b[k] = next
			}
		}
		if moved <= glassoTolerance*lambda {
			return
		}
	}
}
