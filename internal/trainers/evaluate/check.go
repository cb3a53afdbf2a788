package evaluate

import (
	"fmt"
	"math/rand/v2"
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

// Gradients compares with central differences every gradient that a fit of m on a domain (nil for
// R^d) may use, on the first rows of t: score, diagonal and Hessian products of the model, its
// losses, and both imputer losses. It perturbs the parameters first and fills missing cells with
// fixed N(0, 1) draws.
func Gradients(t *data.Table, m model.Model, s *domain.Domain, rows int, seed uint64) (checks []Check, err error) {
	const draws, tolerance = 3, 1e-5 // draws per row
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
	objective, batch := losses.ObjectiveFor(s, domain.Weight{}), data.NewBatch(rows, t.D)
	batch.Fill(t, t.AllRows()[:rows], 1/float64(rows))
	if err := t.Inside(s); err != nil {
		return nil, err
	}
	from, err := source.NewProposal(source.Setting{Model: m, Draws: draws, ProposalSD: 1, Domain: s})
	if err != nil {
		return nil, err
	}
	x, log := make([]float64, rows*draws*t.D), make([]float64, rows*draws)
	if err := from.Complete(batch, x, log, new(stream.Stream).At(seed, stream.Impute)); err != nil {
		return nil, err
	}
	add := func(name string, d gradcheck.Difference) {
		checks = append(checks, Check{name, d.Compared, d.Error, d.Where, tolerance, d.Error < tolerance})
	}
	compare := func(name string, p *graph.Program, params []*graph.Param) error {
		d, err := gradcheck.Params(p, params, gradcheck.Step, func() (float64, error) { err := p.Run(); return p.Output(losses.OutputReported)[0], err })
		add(name, d)
		return err
	}
	density, err := derivatives(m, batch, x, draws, rng, add)
	if err != nil {
		return nil, err
	}
	type learnable struct {
		name      string
		loss      losses.Loss
		weighting losses.Weighting
		draws     int
	}
	list := []learnable{
		{"pseudo-loss (P), importance weights", losses.Marginal, losses.SelfNormalised, draws},
		{"direct Marg-IW loss", losses.Direct, losses.SelfNormalised, draws},
	}
	if !density { // score-only models support zeroed and full
		list = []learnable{{"ordinary score matching", losses.Complete, losses.Uniform, 1}}
	}
	if (losses.GaussianMarginal).Check(m, objective) == nil {
		list = append(list, learnable{"closed form of Marg-Exact", losses.GaussianMarginal, losses.Uniform, 1})
	}
	for _, l := range list {
		p, err := losses.New(graph.Float64, l.loss, l.weighting, m, objective, rows, l.draws)
		if err != nil {
			return nil, err
		}
		copy(p.Input(losses.InputX), batch.X)
		if l.draws > 1 {
			copy(p.Input(losses.InputX), x)
			copy(p.Input(losses.InputLogProposal), log)
		}
		losses.Bind(p, l.loss, objective, batch, rng)
		if err := compare(l.name, p, m.Params()); err != nil {
			return nil, err
		}
	}
	for _, kind := range []losses.ImputerLoss{losses.KL, losses.Fisher} {
		if !density {
			break
		}
		imputer := nets.NewNormalImputer(t.D, nets.NormalOptions{Hidden: 10}, stream.New(seed, stream.Initial, 1))
		p, err := losses.NewImputer(graph.Float64, kind, imputer, m, objective, s, rows)
		if err != nil {
			return nil, err
		}
		losses.BindImputer(p, s, batch)
		new(stream.Stream).At(seed, stream.Train).Normals(p.Input(losses.InputNoise))
		if err := compare("imputer loss "+kind.String(), p, imputer.Params()); err != nil {
			return nil, err
		}
	}
	return checks, nil
}

// derivatives checks the model's score, diagonal, and Hessian products in a random direction. It
// returns whether the model has a density.
func derivatives(m model.Model, batch *data.Batch, x []float64, draws int, rng *rand.Rand, add func(string, gradcheck.Difference)) (density bool, err error) {
	seen := m
	if p, ok := m.(model.MaskConditional); ok {
		var mask []float64 // per draw
		for row := range slices.Chunk(batch.Mask, m.Dim()) {
			mask = append(mask, slices.Repeat(row, draws)...)
		}
		seen = model.Observing(p, mask)
	}
	score, diagonal, err := gradcheck.Model(seen, x, gradcheck.Step)
	if err != nil {
		return false, err
	}
	density = score.Compared > 0
	if density {
		add("score of the model", score)
	}
	if diagonal.Compared > 0 {
		add("diagonal of the model", diagonal)
	}
	has, err := model.CapabilitiesOf(m)
	if err != nil || !has.HessianProduct {
		return density, err
	}
	along := make([]float64, len(x))
	for i := range along {
		along[i] = rng.NormFloat64()
	}
	product, err := gradcheck.HessianProduct(seen, x, along, gradcheck.Step)
	add("Hessian products of the model", product)
	return density, err
}
