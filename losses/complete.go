package losses

import (
	"errors"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
)

// Complete treats a completed row as observed, at the observed coordinates: the loss is Σ_i a_i
// Σ_k sg(w_ik) (R + Σ_j c_j S_j²), for the classical objective Σ_{j∈Λ} 2D_j + s_j². With one
// imputation and
//
//   - no missing cells, it is ordinary score matching;
//   - zeros for the missing cells, it is Zeroed score matching (paper, appendix "Zeroed Score
//     Matching and MissDiff");
//   - self-normalised weights, it is the EM of Uehara et al. 2020 (fractional imputation): weights
//     at the current θ, detached, without the covariance and E[s]² terms.
var Complete Loss = complete{}

type complete struct{}

func (complete) Name() string                       { return "complete" }
func (complete) Needs() LossNeeds                   { return LossNeeds{Assumes: MCAR} }
func (complete) Check(model.Model, Objective) error { return nil }

func (complete) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, weighting Weighting) Result {
	return completed(b, m, o, rows, rows, weighting)
}

// CompleteData is the complete-data equation: Complete summed over all coordinates j, including
// imputed ones, with g at the completed row (docs/theory/complete-data.md#eq-complete-data). With
// a fixed proposal it is the full-data EM (em-full), which needs a proposal close to the rows.
var CompleteData Loss = completeData{}

type completeData struct{}

func (completeData) Name() string { return "complete-data" }
func (completeData) Needs() LossNeeds {
	return LossNeeds{CompletedRows: true, Assumes: MAR, Mean: true, Equation: true}
}

func (completeData) Check(_ model.Model, o Objective) error {
	if _, ok := o.(Noising); ok {
		return errors.New("it treats imputed cells as observed, but no noise was added to them: use em")
	}
	return nil
}

func (completeData) CheckDomain(s *domain.Domain) error {
	if s.Censored() {
		return errors.New("it treats imputed cells as observed, but censored cells lie beyond the detection limits: use em")
	}
	return nil
}

func (completeData) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, weighting Weighting) Result {
	return completed(b, m, o, rows, rows.completed(b), weighting)
}

func completed(b *graph.Builder, m model.Model, o Objective, rows, of Rows, weighting Weighting) Result {
	t := rows.Evaluate(b, m)
	w := graph.Detach(b, weightsOf(b, weighting, rows, t))
	p := partsOf(b, o, of, t)
	row := b.Add(p.Linear, graph.GroupSquares(b, p.Quadratic, p.Score, of.R))
	loss := b.Sum(b.Prod(b.GroupRepeat(rows.Weight, rows.R), b.Prod(w, row)))
	return Result{Surrogate: loss, Reported: loss, Weights: w}
}
