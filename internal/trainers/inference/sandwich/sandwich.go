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
	"missingscore/internal/memory"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
)

const Kind = "robust"

// Problem is a finished fit; the engine's model is at the fitted parameters.
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

// Infer finds the root of the equation near the model's parameters and computes standard errors
// there. It leaves the model unchanged. With θ the parameters, β the columns' scales, U the mean of
// the rows' contributions ψ_i, φ_i the rows' influence on β̂, and q the quantities in the table's
// units,
//
//	cov q = M V Mᵀ/n,   M = ( −J_θA⁻¹, J_β − J_θA⁻¹B ),   A = ∂U/∂θ,  B = ∂U/∂β,  J = ∂q/∂(θ, β)
//
// where V is the second moments of (ψ_i, φ_i) (docs/theory/inference.md#eq-parameters).
func Infer(ctx context.Context, p Problem) (r *Result, err error) {
	m, ok := p.Engine.Model.(model.Identified)
	if !ok {
		return nil, errors.New("no standard errors: the model does not declare that its density determines its quantities")
	}
	start := values(m)
	defer func() {
		if set(m, start); engine.Diverged(err) {
			r, err = &Result{Warnings: refused("the equation is not finite near the fit. Allow the fit more passes, or take a smaller model")}, nil
		}
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
	root, why, err := e.root()
	if err != nil || why != "" {
		return &Result{Warnings: refused(why)}, err
	}
	return p.tell(e, q, root, was)
}

// elsewhere is the distance, in standard errors, of another root.
const elsewhere = 3

func refused(why string) []string {
	return []string{"no standard errors: " + why}
}

func (p Problem) tell(e *equation, q *quantities, r *root, was []float64) (*Result, error) {
	cov, err := p.covariance(e, q, r)
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
		u.Parameters = append(u.Parameters, fitted.Parameter{Name: c.name, Estimate: at[c.place], SE: se, Low: low, High: high})
		if d := math.Abs(at[c.place]-was[c.place]) / se; d > out.Away {
			out.Away = d
		}
	}
	if r.saddle && out.Away > elsewhere {
		return &Result{Warnings: refused(fmt.Sprintf("the equation's root is %.1f standard errors away from the fit. Allow the fit more passes, or take a smaller model", out.Away))}, nil
	}
	if out.Bias, err = e.bias(r); err != nil {
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

type Fit struct {
	Estimator estimator.Estimator
	Model     model.Model
	Kind      string // the model's name
	Objective losses.Objective
	Table     *data.Table
	Draws     int  // per row
	Law       bool // the missingness mechanism is given
	KeepUnits bool
}

// mostParameters limits the cost of differences of gradients.
const mostParameters = 2000

const leaveOut = "leave Spec.Inference out"

// Check refuses fits without standard errors, with an error of inference or stability.
func Check(c inference.Config, f Fit) error {
	if c.Stability != 0 {
		return setting.Errorf("stability", c.Stability, "it is for networks; leave it out")
	}
	_, identified := f.Model.(model.Identified)
	_, noisy := f.Objective.(losses.Noising)
	e, size, instead := f.Estimator, len(values(f.Model)), "variw"
	if e.Assumption() == losses.MAR {
		instead = "em-variw"
	}
	for _, r := range []struct {
		refused bool
		why     string
	}{
		{c.Kind != Kind, "for a fit it is none or robust; the other values are for networks"},
		{!identified, "the parameters of model " + f.Kind + " are not determined by its density and have no standard errors: it is for gaussian, quartic and mixture; " + leaveOut},
		{f.Law, "it does not support a given missingness mechanism; " + leaveOut},
		{f.KeepUnits, "it needs standardised columns; leave Spec.KeepUnits out"},
		{losses.Draws(f.Objective), "the random draws of the objective cannot be held fixed; take Spec.Objective.Kind auto"},
		{noisy, "the model describes rows with added noise; take Spec.Objective.Kind auto"},
		{e.Assumption() == losses.NoneHolds && !f.Table.Complete(), "method " + e.Name + " is biased, and intervals around its estimate would miss the truth; take Spec.Steps.Method em-full, or iw"},
		// The draws' density as a function of the parameters is unknown.
		{e.Draws() && !e.Source.Normal && !e.Weighting.Needs().Proposal, "the draws of method " + e.Name + " have no density, which weights need; take Spec.Steps.Method " + instead + ", or em-full"},
		{size > mostParameters, fmt.Sprintf("the model has %d parameters, and it is for %d at most; choose columns (ReadOptions.Columns)", size, mostParameters)},
	} {
		if r.refused {
			return setting.Errorf("inference", c.Kind, "%s", r.why)
		}
	}
	// Draws, proposals, and matrices of parameters and scales.
	t, r := f.Table, number(e, f.Table.N, f.Draws)
	drawn, wide := float64(t.N)*float64(r)*float64(t.D+1), float64(size+2*t.D)
	return memory.Check(8*(3*drawn+8*wide*wide), "leave Spec.Inference out, choose columns (ReadOptions.Columns) or fewer Spec.Steps.Draws",
		"standard errors of %d parameters from %d rows with %d draws each", size, t.N, r)
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
