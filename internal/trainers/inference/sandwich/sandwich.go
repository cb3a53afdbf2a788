// Package sandwich computes standard errors of a fitted model's parameters
// (docs/theory/inference.md#parameters).
package sandwich

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
	"missingscore/trainers/fitted"
)

const Kind = "robust"

// Problem is a finished fit; the engine's model is model.Identified, at the fitted parameters.
type Problem struct {
	Engine *engine.Engine
	Scale  data.Scale // x = Mean + Deviation z; the engine's table is z
	Scaled bool       // Scale.Deviation was estimated from the observed cells
	Names  []string   // of the columns
	Level  float64    // of the intervals

	Objective func(*domain.Domain) (losses.Objective, error)
}

type Result struct {
	Uncertainty *fitted.Uncertainty // nil if Warnings give a reason
	Away        float64             // largest distance of a parameter from the root, in standard errors
	Bias        float64             // largest bias of self-normalised weights, in standard errors, estimated by halving the draws
	Warnings    []string
}

// mostCovariance is the largest number of parameters whose covariance is kept.
const mostCovariance = 30

// noErrors is a reason for a warning instead of standard errors.
type noErrors string

func (n noErrors) Error() string { return string(n) }

// elsewhere is the distance, in standard errors, of another root.
const elsewhere = 3

// Infer finds the root of the equation near the model's parameters and computes standard errors
// there. It leaves the model unchanged. With θ the parameters, β the columns' scales, U the mean of
// the rows' contributions ψ_i, φ_i the rows' influence on β̂, and q the quantities in the table's
// units,
//
//	cov q = M V Mᵀ/n,   M = ( −J_θA⁻¹, J_β − J_θA⁻¹B ),   A = ∂U/∂θ,  B = ∂U/∂β,  J = ∂q/∂(θ, β)
//
// where V is the second moments of (ψ_i, φ_i) (docs/theory/inference.md#eq-parameters).
func Infer(ctx context.Context, p Problem) (r *Result, err error) {
	m := p.Engine.Model.(model.Identified)
	start := values(m)
	defer func() {
		set(m, start)
		var none noErrors
		switch {
		case engine.Diverged(err):
			none = "the equation is not finite near the fit. Allow the fit more passes, or take a smaller model"
		case !errors.As(err, &none):
			return
		}
		r, err = &Result{Warnings: []string{"no standard errors: " + string(none)}}, nil
	}()
	q := &quantities{m, p.Scale}
	was, err := q.at(nil)
	if err != nil {
		return nil, err
	}
	free, err := q.free()
	if err != nil {
		return nil, err
	}
	h, err := hold(p.Engine)
	if err != nil {
		return nil, err
	}
	e := newEquation(ctx, p.Engine, p.Engine.Problem, h, free)
	root, err := e.root()
	if err != nil {
		return nil, err
	}
	cov, err := p.covariance(e, q, root)
	if err != nil {
		return nil, err
	}
	at, err := q.at(nil)
	if err != nil {
		return nil, err
	}
	u := &fitted.Uncertainty{Kind: Kind, Level: p.Level, Rests: p.rests(e)}
	out := &Result{Uncertainty: u}
	members := q.members(p.Names)
	for i, c := range members {
		se := math.Sqrt(max(cov.At(i, i), 0))
		low, high := interval(at[c.place], se, p.Level, c.within)
		u.Parameters = append(u.Parameters, fitted.Parameter{Name: c.name, Estimate: at[c.place], SE: known(se), Low: known(low), High: known(high)})
		if d := math.Abs(at[c.place]-was[c.place]) / se; d > out.Away {
			out.Away = d
		}
	}
	if root.saddle && out.Away > elsewhere {
		return nil, noErrors(fmt.Sprintf("the equation's root is %.1f standard errors away from the fit. Allow the fit more passes, or take a smaller model", out.Away))
	}
	if out.Bias, err = e.bias(root); err != nil {
		return nil, err
	}
	if len(members) <= mostCovariance {
		for i := range members {
			u.Covariance = append(u.Covariance, mat.Row(nil, i, cov))
		}
	}
	out.Warnings = append(out.Warnings, p.warnings(e, out)...)
	return out, nil
}

func (p Problem) covariance(e *equation, q *quantities, r *root) (*mat.SymDense, error) {
	s, err := p.newScaleEffect(e)
	if err != nil {
		return nil, err
	}
	v, err := e.spread(s)
	if err != nil {
		return nil, err
	}
	members := q.members(nil)
	slopes := func(at []*float64, unit []float64) (*mat.Dense, error) { // of the members
		all, err := jacobian(at, func() ([]float64, error) { return q.at(unit) })
		if err != nil {
			return nil, err
		}
		out := mat.NewDense(len(members), len(at), nil)
		for i, member := range members {
			out.SetRow(i, all.RawRowView(member.place))
		}
		return out, nil
	}
	theta, err := slopes(e.at, nil)
	if err != nil {
		return nil, err
	}
	var turned, half, full mat.Dense
	if err := r.factor.SolveTo(&turned, true, theta.T()); err != nil { // (J_θA⁻¹)ᵀ
		return nil, fmt.Errorf("solving for the parameters' errors: %w", err)
	}
	whole := mat.DenseCopyOf(turned.T())
	whole.Scale(-1, whole)
	if s.size() > 0 {
		unit, at := units(s.size())
		right, err := slopes(at, unit)
		if err != nil {
			return nil, err
		}
		var moved, both mat.Dense
		moved.Mul(whole, s.slope)
		right.Add(right, &moved)
		both.Augment(whole, right)
		whole = &both
	}
	half.Mul(whole, v)
	full.Mul(&half, whole.T())
	rows := len(members)
	cov := mat.NewSymDense(rows, nil)
	for a := range rows {
		for b := a; b < rows; b++ {
			cov.SetSym(a, b, (full.At(a, b)+full.At(b, a))/2/float64(e.n))
		}
	}
	return cov, nil
}

func values(m model.Model) (all []float64) {
	for _, q := range m.Params() {
		all = append(all, q.Value...)
	}
	return all
}

func set(m model.Model, all []float64) {
	for _, q := range m.Params() {
		all = all[copy(q.Value, all):]
	}
}

func (p Problem) rests(e *equation) string {
	text := "robust standard errors (sandwich)"
	if e.held.filled {
		text += fmt.Sprintf(", %d fixed draws per row", e.held.r)
	}
	switch p.Engine.Estimator.Assumption() {
	case losses.MAR:
		text += "; cells missing at random"
	case losses.MCAR:
		if !p.Engine.Table.Complete() {
			text += "; cells missing completely at random"
		}
	}
	if _, ok := p.Engine.Model.(mixture); ok {
		text += "; the order of components is arbitrary"
	}
	return text
}

type mixture interface{ Distribution() simulate.Mixture }

const (
	far        = 1.0  // standard errors from the root
	fewRows    = 5    // rows per parameter
	biased     = 0.3  // standard errors by which twice as many draws move a parameter
	componentN = 10   // rows per component
	narrow     = 1e-2 // standard deviation of a component relative to the column's
)

func (p Problem) warnings(e *equation, r *Result) (out []string) {
	if r.Away > far {
		out = append(out, fmt.Sprintf("the model's parameters are up to %.1f standard errors from the reported estimates: the fit ended before it reached them. Change Spec.Descent.Validation, Spec.Descent.Epochs, Spec.Descent.Rate or Spec.Steps.Draws", r.Away))
	}
	if r.Bias > biased {
		out = append(out, fmt.Sprintf("the weights of the draws bias the estimates by about %.1f standard errors, which the intervals ignore; take more Spec.Steps.Draws", r.Bias))
	}
	if n, k := e.n, len(e.free); n < fewRows*k {
		out = append(out, fmt.Sprintf("intervals of parameters need more rows: there are %d rows for %d parameters, and %d rows per parameter are needed", n, k, fewRows))
	}
	m, ok := p.Engine.Model.(mixture)
	if !ok {
		return out
	}
	of, n := m.Distribution(), float64(p.Engine.Table.N)
	for k, w := range of.Weights { // components at the boundary
		switch least := slices.Min(of.Deviations[k]); {
		case n*w < componentN:
			out = append(out, fmt.Sprintf("component %d has the weight of %.1f rows: ignore its standard errors; take fewer components (Spec.Model.Options)", k+1, n*w))
		case least < narrow:
			out = append(out, fmt.Sprintf("component %d has shrunk to %.2g of a column's standard deviation: ignore its standard errors; take fewer components (Spec.Model.Options)", k+1, least))
		}
	}
	return out
}
