package sandwich

import (
	"fmt"
	"math"

	"missingscore/graph/model"
	"missingscore/losses"
)

// rests says what the numbers rest on.
func (p Problem) rests(e *equation) string {
	text := "errors by the rows (sandwich)"
	if e.held.filled {
		text += fmt.Sprintf(", %d draws of each row held fixed", e.held.r)
	}
	switch p.Engine.Estimator.Assumption() {
	case losses.MAR:
		text += "; cells missing at random"
	case losses.MCAR:
		if !p.Engine.Table.Complete() {
			text += "; cells missing completely at random"
		}
	}
	if _, ok := p.Engine.Model.(*model.Mixture); ok {
		text += "; components in the order of the model, which has no meaning of its own"
	}
	return text
}

const (
	far        = 1.0  // standard errors from the root
	fewRows    = 5    // for a parameter
	biased     = 0.3  // standard errors that twice as many draws would move a parameter by
	componentN = 10   // rows of a component
	narrow     = 1e-2 // deviation of a component, in those of the column
)

// warnings say where the numbers are not to be trusted.
func (p Problem) warnings(e *equation, r *Result) (out []string) {
	if r.Away > far {
		out = append(out, fmt.Sprintf("the model's parameters are up to %.1f standard errors from the root of the method's equation, which estimates and intervals are of: the fit ended elsewhere, by held-out rows (--validation), after its passes (--epochs, --rate), or by its fewer --draws", r.Away))
	}
	if r.Bias > biased {
		out = append(out, fmt.Sprintf("the weights of the draws bias the estimates by about %.1f standard errors, which intervals do not have in them; take more --draws", r.Bias))
	}
	if n, k := e.n, len(e.free); n < fewRows*k {
		out = append(out, fmt.Sprintf("intervals of parameters are for tables with more rows: %d rows for %d parameters, %d for each are needed", n, k, fewRows))
	}
	if m, ok := p.Engine.Model.(*model.Mixture); ok {
		out = append(out, p.boundary(m)...)
	}
	return out
}

// boundary warns of components at the edge of what there can be.
func (p Problem) boundary(m *model.Mixture) (out []string) {
	of, n := m.Distribution(), float64(p.Engine.Table.N)
	for k, w := range of.Weights {
		least := math.Inf(1)
		for _, s := range of.Deviations[k] {
			least = math.Min(least, s)
		}
		switch {
		case n*w < componentN:
			out = append(out, fmt.Sprintf("component %d has the weight of %.1f rows: its errors mean nothing; take fewer components (--model-options)", k+1, n*w))
		case least < narrow:
			out = append(out, fmt.Sprintf("component %d has shrunk to %.2g of a column's deviation: at that edge its errors mean nothing; take fewer components (--model-options)", k+1, least))
		}
	}
	return out
}
