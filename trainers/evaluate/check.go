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

// Gradients compares every gradient that a fit of m on a domain (nil for all of R^d)
// would use on the first rows of t with central differences: the model's score,
// diagonal and Hessian products, the pseudo-loss under self-normalised weights
// (also with the direct Marg-IW loss), the closed form if m is Gaussian and the
// domain has no boundary, and both imputer losses; for a score without a density what
// can be learned of it. Parameters are moved away from their start first; gaps are
// filled with N(0, 1) draws that stay fixed. A model with missingness (model.Joint) is
// seen at the rows' own patterns.
func Gradients(t *data.Table, m model.Model, s *domain.Domain, rows int, seed uint64) ([]Check, error) {
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
	c, err := newComparison(t, m, s, rows, seed)
	if err != nil {
		return nil, err
	}
	density, err := c.derivatives(rng)
	if err != nil {
		return nil, err
	}
	for _, l := range c.learnable(density) {
		if err := c.parameters(l, rng); err != nil {
			return nil, err
		}
	}
	if !density {
		return c.checks, nil
	}
	for _, kind := range []losses.ImputerLoss{losses.KL, losses.Fisher} {
		if err := c.imputer(kind, seed); err != nil {
			return nil, err
		}
	}
	return c.checks, nil
}

type comparison struct {
	model     model.Model
	domain    *domain.Domain
	objective losses.Objective
	rows, d   int
	batch     *data.Batch
	x, log    []float64 // completed rows (rows·comparedDraws, d), and log densities of what fills their gaps
	checks    []Check
}

const comparedDraws = 3 // of each row

// newComparison takes the first rows of t and fills their gaps.
func newComparison(t *data.Table, m model.Model, s *domain.Domain, rows int, seed uint64) (*comparison, error) {
	c := &comparison{model: m, domain: s, objective: losses.ObjectiveFor(s, domain.Weight{}), rows: rows, d: t.D, batch: data.NewBatch(rows, t.D),
		x: make([]float64, rows*comparedDraws*t.D), log: make([]float64, rows*comparedDraws)}
	index := make([]int, rows)
	for i := range index {
		index[i] = i
	}
	c.batch.Fill(t, index, 1/float64(rows))
	if err := t.Inside(s); err != nil {
		return nil, err
	}
	from, err := source.NewProposal(source.Setting{Model: m, Draws: comparedDraws, ProposalSD: 1, Domain: s})
	if err != nil {
		return nil, err
	}
	return c, from.Complete(c.batch, c.x, c.log, new(stream.Stream).At(seed, stream.Impute))
}

func (c *comparison) add(name string, d gradcheck.Difference) {
	const tolerance = 1e-5
	c.checks = append(c.checks, Check{name, d.Compared, d.Error, d.Where, tolerance, d.Error < tolerance})
}

// derivatives checks the model's score, its diagonal, and Hessian products in a random
// direction. It says whether the model has a density to compare its score with.
func (c *comparison) derivatives(rng *rand.Rand) (density bool, err error) {
	seen := c.model
	if p, ok := c.model.(model.MaskConditional); ok {
		var mask []float64 // of each draw
		for i := range c.rows {
			mask = append(mask, slices.Repeat(c.batch.Mask[i*c.d:(i+1)*c.d], comparedDraws)...)
		}
		seen = model.Observing(p, mask)
	}
	score, diagonal, err := gradcheck.Model(seen, c.x, gradcheck.Step)
	if err != nil {
		return false, err
	}
	density = score.Compared > 0
	if density {
		c.add("score of the model", score)
	}
	if diagonal.Compared > 0 {
		c.add("diagonal of the model", diagonal)
	}
	has, err := model.CapabilitiesOf(c.model)
	if err != nil || !has.HessianProduct {
		return density, err
	}
	along := make([]float64, len(c.x))
	for i := range along {
		along[i] = rng.NormFloat64()
	}
	product, err := gradcheck.HessianProduct(seen, c.x, along, gradcheck.Step)
	if err != nil {
		return false, err
	}
	c.add("Hessian products of the model", product)
	return density, nil
}

// learnable is a loss that a fit may minimise, with its name and how many draws of each
// row it takes.
type learnable struct {
	name      string
	loss      losses.Loss
	weighting losses.Weighting
	draws     int
}

// learnable are the losses that a fit of the model may minimise.
func (c *comparison) learnable(density bool) []learnable {
	list := []learnable{
		{"pseudo-loss (P), importance weights", losses.Marginal{}, losses.SelfNormalised{}, comparedDraws},
		{"direct Marg-IW loss", losses.Direct{}, losses.SelfNormalised{}, comparedDraws},
	}
	if !density { // MissDiff's form, which zeroed and full can learn
		list = []learnable{{"ordinary score matching", losses.Complete{}, losses.Uniform{}, 1}}
	}
	if (losses.GaussianMarginal{}).Check(c.model, c.objective) == nil {
		list = append(list, learnable{"closed form of Marg-Exact", losses.GaussianMarginal{}, losses.Uniform{}, 1})
	}
	return list
}

func (c *comparison) parameters(l learnable, rng *rand.Rand) error {
	p, err := losses.New(graph.Float64, l.loss, l.weighting, c.model, c.objective, c.rows, l.draws)
	if err != nil {
		return err
	}
	if l.draws > 1 {
		copy(p.Input(losses.InputX), c.x)
		copy(p.Input(losses.InputLogProposal), c.log)
	} else {
		copy(p.Input(losses.InputX), c.batch.X)
	}
	losses.Bind(p, l.loss, c.objective, c.batch, rng)
	d, err := gradcheck.Params(p, c.model.Params(), gradcheck.Step, reported(p))
	if err != nil {
		return err
	}
	c.add(l.name, d)
	return nil
}

func (c *comparison) imputer(kind losses.ImputerLoss, seed uint64) error {
	imp := nets.NewNormalImputer(c.d, nets.NormalOptions{Hidden: 10}, stream.New(seed, stream.Initial, 1))
	p, err := losses.NewImputer(graph.Float64, kind, imp, c.model, c.objective, c.domain, c.rows)
	if err != nil {
		return err
	}
	losses.BindImputer(p, c.domain, c.batch)
	noise := stream.New(seed, stream.Train)
	for i := range p.Input(losses.InputNoise) {
		p.Input(losses.InputNoise)[i] = noise.NormFloat64()
	}
	d, err := gradcheck.Params(p, imp.Params(), gradcheck.Step, reported(p))
	if err != nil {
		return err
	}
	c.add("imputer loss "+kind.String(), d)
	return nil
}

func reported(p *graph.Program) func() (float64, error) {
	return func() (float64, error) { err := p.Run(); return p.Output(losses.OutputReported)[0], err }
}
