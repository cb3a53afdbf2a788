package losses

import (
	"errors"

	"missingscore/graph"
	"missingscore/graph/model"
)

// Complete takes a completed row as if it had been observed so: the loss is
// Σ_i a_i Σ_k sg(w_ik) (R + Σ_j c_j S_j²), for the classical objective
// Σ_{j∈Λ} 2D_j + s_j². With one imputation and
//
//   - nothing missing, it is ordinary score matching;
//   - zeros for the missing cells, it is Zeroed score matching (paper, appendix
//     "Zeroed Score Matching and MissDiff");
//   - self-normalised weights, it is the EM of Uehara et al. 2020 (fractional
//     imputation): weights at the current θ, detached, neither covariance term nor E[s]².
type Complete struct {
	Weighting Weighting
	// AllCoordinates sums over every j, also the imputed ones, with g at the
	// completed row: the literal full-data EM (em-full), several times worse in trials.
	AllCoordinates bool
}

// Add implements Loss.
func (l Complete) Add(b *graph.Builder, m model.Model, o Objective, rows Rows) Result {
	t := rows.terms(b, m)
	w := b.Detach(l.Weighting.weights(b, rows, t))
	of := rows
	if l.AllCoordinates {
		if rows.Noise != nil {
			b.Fail(errors.New("em-full takes imputed cells for observed ones, but no noise was added to them: use em"))
		}
		r, d := graph.Shape(rows.X)
		of = Rows{R: 1, X: rows.X, Mask: b.Input(inputAll, r, d)} // each completed row is a table row
	}
	p := o.Parts(b, of, t)
	row := b.Add(p.Linear, b.GroupSquares(p.Quadratic, p.Score, of.R))
	loss := b.Sum(b.Prod(b.GroupRepeat(rows.Weight, rows.R), b.Prod(w, row)))
	return Result{Surrogate: loss, Reported: loss, Weights: w}
}
