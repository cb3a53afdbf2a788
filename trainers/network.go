package trainers

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/missingness"
	"missingscore/data/network"
	"missingscore/graph/model"
)

// NetworkConfig is the whole of a Gaussian graphical model from a table.
type NetworkConfig struct {
	PathConfig
	Select    Selection `json:"select"`
	Tolerance float64   `json:"tolerance"`  // of the refinement at the chosen λ, columns standardised; 0.003
	PathOnly  bool      `json:"path_only"`  // no refinement: the result is the path's point at the chosen λ
	KeepUnits bool      `json:"keep_units"` // do not standardise the columns

	Known *missingness.Model `json:"-"` // what is known of cells missing not at random, in the table's units; nil: missing completely at random
}

// NetworkResult is a fitted network in the table's own units.
type NetworkResult struct {
	Config    NetworkConfig // with every default filled in
	Estimator Estimator
	Names     []string
	Scale     data.Scale
	Points    []Point   // the path, columns standardised
	Scores    []float64 // of the selection, one a point; nil for none
	Chosen    int
	Lambda    float64
	Loss      float64 // reported loss (M), mean over rows and columns, at the result
	Precision *mat.SymDense
	Mean      []float64
	Adjacency network.Adjacency
	Network   *network.Network
	Converged bool
	Verdict   string   // one sentence
	Warnings  []string // what the user should know
}

// AutoMethod is the default for Gaussian models: full where nothing is
// missing, otherwise exact, which has neither an imputer's bias nor noise, but
// where probabilities of missing, known to be logistic, forbid it: variw there, for
// cells that hide where a fixed proposal seldom looks (benchmarks/missingness).
func AutoMethod(t *data.Table, known *missingness.Model) string {
	switch {
	case t.Missing() == 0:
		return "full"
	case known != nil && known.Logistic != nil:
		return "variw"
	}
	return "exact"
}

// EstimateNetwork standardises the columns and the domain with them, runs the L1
// path, chooses λ, and goes on at that λ until the precision stands still. On all
// of R^d the mean stays at the observed means: cells missing completely at random
// leave those unbiased. On a domain, and where cells are known to be missing not at
// random, it is estimated along, for there the observed means are not μ.
//
// s is a zero State, or one from a run that was cut; checkpoint (may be nil)
// gets the state after each block. When ctx is cancelled the state is saved and
// ctx's error returned. A DivergedError comes with the state of the last good step;
// iterations after the path that diverge leave the path's point as the result, not
// converged.
func EstimateNetwork(ctx context.Context, t *data.Table, c NetworkConfig, s *State, checkpoint func(*State) error) (*NetworkResult, error) {
	if c.Method == "" || c.Method == "auto" {
		c.Method = AutoMethod(t, c.Known)
	}
	if c.Tolerance == 0 {
		c.Tolerance = 0.003
	}
	if c.Select.Kind == "" {
		c.Select = Selection{Kind: "ebic", Gamma: DefaultGamma}
	}
	switch {
	case c.Select.Kind == "cv" && c.Select.Folds == 0:
		c.Select.Folds = DefaultFolds
	case c.Select.Kind == "stars" && c.Select.Beta == 0:
		c.Select.Beta = DefaultBeta
	}
	if c.Select.Kind == "cv" && c.Select.Folds > t.N {
		return nil, fmt.Errorf("cv=%d: the table has only %d rows", c.Select.Folds, t.N)
	}
	scale := data.Scale{Mean: make([]float64, t.D), Deviation: make([]float64, t.D)}
	for j := range scale.Deviation {
		scale.Deviation[j] = 1
	}
	work := t
	if !c.KeepUnits {
		work, scale = data.Standardise(t)
	}
	support, cut := c.Domain, c.Known.Support(c.Domain)
	if err := inside(t, cut); err != nil { // in the table's units, which the message shows
		return nil, err
	}
	c.Domain = cut.Standardised(scale.Mean, scale.Deviation)
	c.Missingness = model.MissingnessOf(c.Known.Standardised(scale.Mean, scale.Deviation))
	r, err := newPathRun(work, c.PathConfig, s, checkpoint, []any{c.Select, c.Tolerance, c.PathOnly})
	if err != nil {
		return nil, err
	}
	c.PathConfig = r.config
	c.Domain = support
	if err := r.path(ctx); err != nil {
		return nil, err
	}
	if err := c.Select.resample(ctx, work, r.config, &s.Resampled, r.save); err != nil {
		if ctx.Err() != nil {
			return nil, interrupted(ctx, r.save)
		}
		return nil, err
	}
	scores, chosen, err := c.Select.score(r)
	if err != nil {
		return nil, err
	}
	if c.PathOnly {
		r.take(chosen)
	} else if err := r.refine(ctx, chosen, c.Tolerance); err != nil {
		return nil, err
	}

	f := s.Refine
	final := adjacency(r.packed(), t.D, c.Threshold)
	res := &NetworkResult{
		Config: c, Estimator: r.method, Names: t.Names, Scale: scale, Points: s.Points, Scores: scores, Chosen: chosen,
		Lambda: r.lambdas[chosen], Loss: f.Loss, Precision: scale.Precision(r.model.Precision()),
		Mean: scale.Location(r.model.Mean()), Adjacency: final, Converged: f.Converged,
	}
	if res.Network, err = network.New(t.Names, res.Precision, final); err != nil {
		return nil, err
	}
	res.Verdict = r.verdict(f)
	res.Warnings = r.warnings(f, c.Select.judges())
	res.Warnings = append(res.Warnings, r.leftOut()...)
	res.Warnings = append(res.Warnings, apart(t, r.model)...)
	return res, nil
}

// Adjacencies are the networks along the path, one a point.
func (r *NetworkResult) Adjacencies() []network.Adjacency {
	var out []network.Adjacency
	for _, p := range r.Points {
		out = append(out, adjacency(p.Packed, len(r.Names), r.Config.Threshold))
	}
	return out
}

// Rates compares the networks along the path with a true one. It fails where
// the truth has no edge or no non-edge.
func (r *NetworkResult) Rates(truth network.Adjacency) ([]network.Rate, error) {
	var rates []network.Rate
	for _, a := range r.Adjacencies() {
		rate, err := network.Compare(truth, a)
		if err != nil {
			return nil, err
		}
		rates = append(rates, rate)
	}
	return rates, nil
}

func (r *pathRun) verdict(f Refine) string {
	remedy := "use another method or a larger λ"
	if r.method.Draws {
		remedy = "use more draws, another method or a larger λ"
	}
	moves := fmt.Sprintf("entries of the standardised precision move by %.2g per %d iterations (root mean square, noise of draws taken out)", f.Movement, refineBlock)
	held := refineBlock
	if r.accelerated() {
		moves = fmt.Sprintf("entries of the standardised precision would move by at most %.2g in %d plain proximal steps", f.Movement, refineBlock)
		held = f.Iterations
	}
	switch {
	case !f.Started:
		return "not refined: the result is the path's point at the chosen λ"
	case f.Failure != "":
		return fmt.Sprintf("NOT converged: after the path %s; the result is the path's point at the chosen λ; %s", f.Failure, remedy)
	case f.Converged:
		return fmt.Sprintf("converged: after %d more iterations at the chosen λ the %s", f.Iterations, moves)
	case f.Lifts > 0:
		return fmt.Sprintf("NOT converged: the precision ran towards a matrix that is not positive definite and was held back in %d of the last %d iterations; %s", f.Lifts, held, remedy)
	}
	return fmt.Sprintf("NOT converged: after %d more iterations at the chosen λ the %s", f.Iterations, moves)
}

func (r *pathRun) warnings(f Refine, selective bool) (out []string) {
	points := r.state.Points
	pairs := r.table.D * (r.table.D - 1) / 2
	if n := points[0].Edges; n > 0 {
		out = append(out, fmt.Sprintf("the path starts with %d of %d edges instead of none: raise the largest λ", n, pairs))
	}
	if r.gaveUp() {
		out = append(out, fmt.Sprintf("the path ends at λ = %.3g, number %d of %d: %d iterations did not reach the minimum there", points[len(points)-1].Lambda, len(points), len(r.lambdas), r.config.Most))
	} else if n := points[len(points)-1].Edges; float64(n) < denseShare*float64(pairs) {
		out = append(out, fmt.Sprintf("the path ends with %d of %d edges, not with a dense network: lower the smallest λ", n, pairs))
	}
	if selective && !r.gaveUp() && f.Index == len(points)-1 && len(points) > 1 && points[f.Index].Edges < pairs {
		out = append(out, "the chosen λ is the smallest of the path: lower it to see whether a denser network is better")
	}
	if selective && points[f.Index].Edges == 0 {
		out = append(out, "the criterion finds no edge: with many missing cells it may be too strict; try a smaller γ, or choose a density, and look at the path")
	}
	lifts, blocks := 0, 0
	for _, p := range points {
		lifts += p.Lifts
		if p.Lifts > 0 {
			blocks++
		}
	}
	if lifts > 0 {
		out = append(out, fmt.Sprintf("the precision had to be kept positive definite (off-diagonal elements shrunk) in %d of %d iterations, at %d of %d λ", lifts, r.iterations(), blocks, len(points)))
	}
	return append(out, r.degenerate(f.Size)...)
}

// degenerate warns of a small effective sample size.
func (e *engine) degenerate(size float64) []string {
	if !e.method.Draws || math.IsNaN(size) || size >= smallSize || e.config.Draws == 1 || len(e.gaps) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the importance weights are degenerate: of %d draws a row only %.1f count (effective sample size); use var or exact, or another proposal", e.config.Draws, size)}
}

// leftOut warns of observed cells that the objective cannot use.
func (e *engine) leftOut() []string {
	lost, cells := e.config.Weight.LeftOut(e.table.Observed, e.config.Domain)
	if lost == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d observed cells are left out of the objective: a half-space ties them to missing cells that have bounds of their own", lost, cells)}
}

// apart warns of columns that no row shows together: observed rows say nothing of
// their element of a Gaussian's precision, wherever a fit leaves it.
func apart(t *data.Table, m model.Model) []string {
	if _, gaussian := m.(*model.Gaussian); !gaussian {
		return nil
	}
	_, together, _ := secondMoments(t)
	var pairs []string
	for j := range t.D {
		for k := j + 1; k < t.D; k++ {
			if together.At(j, k) == 0 {
				pairs = append(pairs, t.Names[j]+" and "+t.Names[k])
			}
		}
	}
	switch n := len(pairs) - namedPairs; {
	case len(pairs) == 0:
		return nil
	case len(pairs) == 1:
		return []string{pairs[0] + " are never observed in the same row: their partial correlation is not determined by the data"}
	case n > 0:
		pairs = append(pairs[:namedPairs], fmt.Sprintf("%d more pairs of columns", n))
	}
	return []string{strings.Join(pairs, "; ") + " are never observed in the same row: their partial correlations are not determined by the data"}
}

const (
	namedPairs = 4   // of columns never observed together; more are counted
	denseShare = 0.8 // of all pairs: less is not a dense end of a path
	smallSize  = 2.0 // effective draws: fewer carry no average
)
