package losses

import (
	"errors"
	"fmt"
	"slices"

	"missingscore/graph"
	"missingscore/graph/model"
)

// GaussianMarginal is the marginal loss (M) of a Gaussian with its expectations
// in closed form, no draws (docs/theory/gaussian.md#eq-gaussian-marginal): with
// Q = Σ_ΛΛ⁻¹ = P_oo − P_om P_mm⁻¹ P_mo,
//
//	ℓ_i = −2 tr Q + ‖Q(x_Λ − μ_Λ)‖²
//
// It reads the zero-filled rows, so r is 1, and the classical objective only.
// It fails where P is not positive definite on a row's missing block.
type GaussianMarginal struct{}

// ErrNotPositiveDefinite says that a conditional distribution does not exist.
var ErrNotPositiveDefinite = errors.New("the precision is not positive definite on the missing cells of a row")

func (GaussianMarginal) Name() string { return "gaussian-marginal" }
func (GaussianMarginal) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MCAR}
}

// Check implements Loss: it is of normal models that have the mean among their
// parameters, with the classical objective.
func (GaussianMarginal) Check(m model.Model, o Objective) error {
	n, ok := model.AsNormal(m)
	if !ok {
		return errors.New("the closed form is for normal models, and this is another")
	}
	if _, ok := o.(Plain); !ok {
		return errors.New("the closed form is for the classical objective")
	}
	if _, err := graph.Build(func(b *graph.Builder) { b.Output("mean", b.Scale(1, n.MeanNode(b))) }); err != nil {
		return fmt.Errorf("the closed form needs the mean: %w", err)
	}
	return nil
}

// Add implements Loss.
func (l GaussianMarginal) Add(b *graph.Builder, m model.Model, o Objective, rows Rows, _ Weighting) Result {
	g, ok := model.AsNormal(m)
	if !ok {
		b.Fail(l.Check(m, o))
	}
	k := newMarginalKernel(g.Dim(), b.Product())
	p := g.PrecisionNode(b)
	loss := b.Apply(graph.Op{Name: "gaussian marginal",
		Kernel:   k.run,
		Constant: []bool{false, false, true, true, true},
		Reverse: func(out, gr graph.Node) []graph.Node {
			d := g.Dim()
			return []graph.Node{gradientOf(b, "gaussian marginal'", 1, d, k.gradMu, out, gr), gradientOf(b, "gaussian marginal'", d, d, k.gradP, out, gr), nil, nil, nil}
		}}, g.MeanNode(b), p, rows.X, rows.Mask, rows.Weight)
	return Result{Surrogate: loss, Reported: loss}
}

// marginalKernel computes the loss and both gradients in one pass. Rows of one
// pattern share an inverse, which is that of the block with less work: Σ_oo
// (marginalObserved) or P_mm, in parts where P has zeros (marginalMissing).
type marginalKernel struct {
	d              int
	gradMu, gradP  []float64
	p              []float64 // of the last run
	inverted       bool      // it has been, to Σ, if it is definite
	definite       bool
	observed, gaps []int // of the pattern at hand
	order          []int // rows sorted by pattern

	byObserved marginalObserved
	byMissing  marginalMissing
}

func newMarginalKernel(d int, gemm graph.Product[float64]) *marginalKernel {
	k := &marginalKernel{d: d, gradMu: make([]float64, d), gradP: make([]float64, d*d), p: make([]float64, d*d)}
	k.byObserved = newMarginalObserved(d, gemm)
	k.byMissing = newMarginalMissing(d, gemm)
	return k
}

func (c *marginalKernel) run(out []float64, in [][]float64) error {
	d := c.d
	mu, p, x, mask, weight := in[0], in[1], in[2], in[3], in[4]
	if !slices.Equal(c.p, p) { // a step's batches have one P
		copy(c.p, p)
		c.inverted = false
		c.byMissing.prepare(c.p)
	}
	clear(c.gradMu)
	clear(c.gradP)
	c.byObserved.begin()
	c.byMissing.begin(len(weight))
	pattern := func(i int) []float64 { return mask[i*d : i*d+d] }
	c.order = c.order[:0]
	for i, w := range weight {
		if w != 0 {
			c.order = append(c.order, i)
		}
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return slices.Compare(pattern(i), pattern(j)) })

	total := 0.0
	for at := 0; at < len(c.order); {
		first, end := c.order[at], at
		for end < len(c.order) && slices.Equal(pattern(c.order[end]), pattern(first)) {
			end++
		}
		rows := c.order[at:end]
		at = end
		c.split(pattern(first))
		var loss float64
		var err error
		switch {
		case len(c.observed) == 0: // tells nothing
		case c.byMissing.of.exceeds(len(c.observed), len(c.gaps)) && c.sigma():
			loss, err = c.byObserved.add(c.observed, rows, x, mu, weight, c.gradMu)
		default:
			loss, err = c.byMissing.add(c.gaps, rows, x, mu, weight, mask)
		}
		if err != nil {
			return err
		}
		total += loss
	}
	c.byObserved.finish(c.gradP)
	out[0] = total + c.byMissing.finish(c.gradMu, c.gradP)
	return nil
}

// sigma makes Σ when it is first asked for; false says that P is not positive definite.
func (c *marginalKernel) sigma() bool {
	if !c.inverted {
		c.inverted, c.definite = true, c.byObserved.prepare(c.p)
	}
	return c.definite
}

func (c *marginalKernel) split(mask []float64) {
	c.observed, c.gaps = c.observed[:0], c.gaps[:0]
	for j, o := range mask {
		if o != 0 {
			c.observed = append(c.observed, j)
		} else {
			c.gaps = append(c.gaps, j)
		}
	}
}

// mirror copies the lower triangle of a (n, n) to the upper.
func mirror(a []float64, n int) {
	for i := range n {
		for j, v := range a[i*n : i*n+i] {
			a[j*n+i] = v
		}
	}
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

func all(d int) []int {
	at := make([]int, d)
	for j := range at {
		at[j] = j
	}
	return at
}
