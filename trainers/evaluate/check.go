package evaluate

import (
	"fmt"
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/source"
)

// Check is one comparison of Gradients.
type Check struct {
	Name      string  `json:"check"`
	Compared  int     `json:"compared"`
	Error     float64 `json:"error"` // largest relative difference
	Where     string  `json:"where"`
	Tolerance float64 `json:"tolerance"`
	OK        bool    `json:"ok"`
}

// Gradients compares every gradient that a fit of m on a domain (nil for all of R^d)
// would use on the first rows of t with central differences: the model's score,
// diagonal and Hessian products, the pseudo-loss under self-normalised weights
// (also with the direct Marg-IW loss), the closed form if m is Gaussian and the
// domain has no boundary, and both imputer losses; for a score without a density what
// can be learned of it. Parameters are moved away from their start first; gaps are
// filled with N(0, 1) draws that stay fixed. A model with missingness (model.Joint) is
// seen at the rows' own patterns.
func Gradients(t *data.Table, m model.Model, s *domain.Domain, rows int, seed uint64) ([]Check, error) {
	const r, tolerance = 3, 1e-5
	rows = min(rows, t.N)
	if rows < 1 {
		return nil, fmt.Errorf("%d rows: at least one is needed", rows)
	}
	rng := stream.New(seed, stream.Initial)
	for _, p := range m.Params() {
		for i := range p.Value {
			p.Value[i] += 0.1 * (rng.Float64() - 0.5)
		}
	}
	batch := data.NewBatch(rows, t.D)
	index := make([]int, rows)
	for i := range index {
		index[i] = i
	}
	batch.Fill(t, index, 1/float64(rows))
	x, log := make([]float64, rows*r*t.D), make([]float64, rows*r)
	if err := t.Inside(s); err != nil {
		return nil, err
	}
	from, err := source.NewProposal(source.Setting{Model: m, Draws: r, ProposalSD: 1, Domain: s})
	if err != nil {
		return nil, err
	}
	if err := from.Complete(batch, x, log, new(stream.Stream).At(seed, stream.Impute)); err != nil {
		return nil, err
	}
	objective := losses.ObjectiveFor(s, domain.Weight{})

	var out []Check
	add := func(name string, d gradcheck.Difference) {
		out = append(out, Check{name, d.Compared, d.Error, d.Where, tolerance, d.Error < tolerance})
	}
	seen := m
	if p, ok := m.(model.MaskConditional); ok {
		var mask []float64 // of each draw
		for i := range rows {
			mask = append(mask, slices.Repeat(batch.Mask[i*t.D:(i+1)*t.D], r)...)
		}
		seen = model.Observing(p, mask)
	}
	score, diagonal, err := gradcheck.Model(seen, x, gradcheck.Step)
	if err != nil {
		return nil, err
	}
	density := score.Compared > 0
	if density {
		add("score of the model", score)
	}
	add("diagonal of the model", diagonal)
	along := make([]float64, len(x))
	for i := range along {
		along[i] = rng.NormFloat64()
	}
	product, err := gradcheck.HessianProduct(seen, x, along, gradcheck.Step)
	if err != nil {
		return nil, err
	}
	add("Hessian products of the model", product)

	program := func(l losses.Loss, r int) (*graph.Program, error) {
		p, err := losses.New(graph.Float64, l, m, objective, rows, r)
		if err != nil {
			return nil, err
		}
		if r > 1 {
			copy(p.Input(losses.InputX), x)
			copy(p.Input(losses.InputLogProposal), log)
		} else {
			copy(p.Input(losses.InputX), batch.X)
		}
		losses.Bind(p, l, objective, batch, rng)
		return p, nil
	}
	reported := func(p *graph.Program) func() (float64, error) {
		return func() (float64, error) { err := p.Run(); return p.Output(losses.OutputReported)[0], err }
	}
	type check struct {
		name string
		loss losses.Loss
		r    int
	}
	checks := []check{
		{"pseudo-loss (P), importance weights", losses.Pseudo{Weighting: losses.SelfNormalised}, r},
		{"direct Marg-IW loss", losses.Direct{Weighting: losses.SelfNormalised}, r},
	}
	if !density { // MissDiff's form, which zeroed and full can learn
		checks = checks[:0]
		checks = append(checks, check{"ordinary score matching", losses.Complete{}, 1})
	}
	if g, ok := m.(*model.Gaussian); ok && g.Parameterisation() != model.Natural && !s.Bounded() {
		checks = append(checks, check{"closed form of Marg-Exact", losses.GaussianMarginal{}, 1})
	}
	for _, c := range checks {
		p, err := program(c.loss, c.r)
		if err != nil {
			return nil, err
		}
		d, err := gradcheck.Params(p, m.Params(), gradcheck.Step, reported(p))
		if err != nil {
			return nil, err
		}
		add(c.name, d)
	}
	kinds := []losses.ImputerLoss{losses.KL, losses.Fisher}
	if !density {
		kinds = nil
	}
	for _, kind := range kinds {
		imp := nets.NewImputer(t.D, nets.Options{Hidden: 10}, stream.New(seed, stream.Initial, 1))
		p, err := losses.NewImputer(graph.Float64, kind, imp, m, objective, s, rows)
		if err != nil {
			return nil, err
		}
		losses.BindImputer(p, s, batch)
		noise := stream.New(seed, stream.Train)
		for i := range p.Input(losses.InputNoise) {
			p.Input(losses.InputNoise)[i] = noise.NormFloat64()
		}
		d, err := gradcheck.Params(p, imp.Params(), gradcheck.Step, reported(p))
		if err != nil {
			return nil, err
		}
		add("imputer loss "+kind.String(), d)
	}
	return out, nil
}
