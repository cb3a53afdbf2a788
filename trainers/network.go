package trainers

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/network"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/sparse"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/inference/bootstrap"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers/fitted"
)

// NetworkResult is an estimated network in the table's units.
type NetworkResult struct {
	Names      []string        // nodes
	Points     []regpath.Point // path, columns standardised
	Scores     []float64       // of the selection, by point; nil if it has none
	Chosen     int             // index of the chosen point
	Cut        bool            // the path stopped before the smallest λ (regpath.Config.Whole)
	Lambda     float64
	Penalty    regpath.Penalty // with the pilot's shrinkage
	Ordering   string          // description of Penalty
	Threshold  float64         // |P_jk| above it is an edge, columns standardised
	Precision  mat.Symmetric   // of the nodes given the covariates
	Mean       []float64
	Blocks     []data.Block  // columns of each node, K − 1 for a nominal one; nil: one each. Precision then has strengths for nominal columns (regpath.Run.NodePrecision)
	Whole      mat.Symmetric // precision of the columns of Blocks; nil without Blocks
	Covariates []string      // columns that are conditioned on and are no nodes
	Moments    string        // description of the second moments; "" if the method uses rows
	Choice     string        // note about the chosen edges; may be ""
	Adjacency  network.Adjacency
	Network    *network.Network
	Inference  *inference.Result    // nil without inference
	Stability  *bootstrap.Stability // nil without stability
}

func fitNetwork(ctx context.Context, p *Prepared, q engine.Problem, scale data.Scale, run Run) (*Result, error) {
	s := p.Spec
	setting.Default(&run.State.Path, &regpath.State{})
	n, err := regpath.New(q, s.Steps, *s.Network, run.State.Path)
	if err != nil {
		return nil, err
	}
	n.Test = testsOf(p, n)
	s.Steps, s.Network = n.Engine.Config, &n.Config
	if err := run.State.claim(q.Table, n.Engine, s); err != nil {
		return nil, err
	}
	scores, err := n.Estimate(ctx, func() error { return run.save(n.Engine) })
	if err := run.ended(ctx, n.Engine, err); err != nil {
		return nil, err
	}
	f := run.State.Path.Refine
	r := &Result{Spec: s, Estimator: n.Estimator, Loss: f.Loss, Size: f.Size, Converged: f.Converged, Verdict: n.Verdict()}
	r.Mixing, err = n.Engine.Mixing(ctx)
	if err := run.ended(ctx, n.Engine, err); err != nil {
		return nil, err
	}
	r.Warnings = slices.Concat(n.Warnings(), n.LeftOut(), engine.MixingWarnings(r.Mixing))
	columns := scale
	if p.wide {
		columns = data.Scale{}
		for j, b := range p.blocks { // utilities have their own units
			columns.Mean = append(columns.Mean, slices.Repeat(scale.Mean[j:j+1], b.Width)...)
			columns.Deviation = append(columns.Deviation, slices.Repeat(scale.Deviation[j:j+1], b.Width)...)
		}
	}
	precision := precisionOf(n, columns)
	if r.Network, err = newNetworkResult(n, scores, columns, precision); err != nil {
		return nil, err
	}
	if p.latent {
		if err := showLevels(r.Network.Network, p.Original, precision, p.blocks); err != nil {
			return nil, err
		}
	}
	if err := run.ended(ctx, n.Engine, infer(ctx, p, n, r, run)); err != nil {
		return nil, err
	}
	m, err := modelOf(n, precision, columns)
	if err != nil {
		return nil, err
	}
	r.Model = &fitted.Saved{Kind: DefaultModel, Model: m, Names: p.Table.Names, Transform: p.Transform.At(thresholds(p, n)), Domain: p.Domain, Scale: scale, Missingness: p.missingness}
	if p.wide {
		r.Model.Blocks = p.blocks
	}
	if p.latent {
		for _, b := range p.blocks {
			r.Model.Levels = append(r.Model.Levels, b.Levels)
		}
		r.Model.Levels = namedLevels(r.Model.Levels)
	}
	return r, nil
}

// thresholds is nil if there are no ordinal columns.
func thresholds(p *Prepared, n *regpath.Run) (cuts [][]float64) {
	if n.Moments() == nil {
		return nil
	}
	all := n.Moments().Cuts
	if !p.wide || all == nil {
		return all
	}
	for _, b := range p.blocks {
		cuts = append(cuts, all[b.First])
	}
	return cuts
}

// precisionOf is in the table's units; nominal columns have their utilities. Sparse for methods of
// one matrix.
func precisionOf(n *regpath.Run, scale data.Scale) mat.Symmetric {
	if n.Blocks() != nil {
		p := unwhitened(graph.Unpack(n.Table.D, n.Model().Packed.Value), n.Moments(), n.Table.Blocks)
		scale.PrecisionInPlace(p)
		return p
	}
	if !n.Estimator.OfMatrix() {
		p := n.Model().Precision()
		scale.PrecisionInPlace(p)
		return p
	}
	p := sparse.FromPacked(n.Model().Packed.Value, n.Table.D)
	for j, unit := range scale.Deviation {
		p.Diagonal[j] = p.Diagonal[j] / unit / unit
	}
	for i, at := range p.At {
		p.Value[i] = p.Value[i] / scale.Deviation[at[0]] / scale.Deviation[at[1]]
	}
	return p.Symmetric()
}

// modelOf is in the table's units, in the path's model if possible.
func modelOf(n *regpath.Run, precision mat.Symmetric, scale data.Scale) (*model.Gaussian, error) {
	m, mean := n.Model(), scale.Location(n.Model().Mean())
	switch {
	case !n.Estimator.OfMatrix():
		m = model.NewGaussian(n.Table.D, model.CholeskyFactor)
	case m.Parameterisation() != model.FreeSymmetric:
		m = model.NewGaussian(n.Table.D, model.FreeSymmetric)
	}
	if err := m.SetPrecision(precision); err != nil {
		return nil, err
	}
	m.SetMean(mean)
	return m, nil
}

func newNetworkResult(n *regpath.Run, scores []float64, scale data.Scale, whole mat.Symmetric) (*NetworkResult, error) {
	m, chosen := n.Model(), n.State.Refine.Index
	mean := scale.Location(m.Mean())
	r := &NetworkResult{
		Scores: scores, Chosen: chosen, Lambda: n.State.Points[chosen].Lambda, Threshold: n.Config.Threshold, Penalty: n.Penalty(), Ordering: n.Ordering(), Choice: n.Choice(), Moments: n.MatrixWords(),
		Cut: n.CutByChoice(), Adjacency: regpath.Adjacency(n.NodePrecision(m.Packed.Value), len(n.Nodes()), n.Config.Threshold), Covariates: n.Config.Covariates,
	}
	r.Names, r.Mean, r.Precision = n.NodeNames(), mean, whole
	if r.Covariates != nil || n.Blocks() != nil {
		r.Mean = nil
		for _, j := range n.Nodes() {
			r.Mean = append(r.Mean, mean[j])
		}
	}
	switch {
	case n.Blocks() != nil:
		var columns []int
		for _, b := range n.Blocks() {
			for k := range b.Width {
				columns = append(columns, b.First+k)
			}
		}
		r.Precision, r.Whole, r.Blocks = nodePrecision(n, scale), sparse.BlockOf(whole, columns), n.Blocks()
	case r.Covariates != nil:
		r.Precision = sparse.BlockOf(whole, n.Nodes())
	}
	for _, p := range n.State.Points {
		r.Points = append(r.Points, n.Point(p))
	}
	var err error
	r.Network, err = network.New(r.Names, r.Precision, r.Adjacency)
	if tests := n.State.Tests; err == nil && tests.Pairs != nil {
		r.Network.TakeEstimates(tests.Pairs)
	}
	return r, err
}

func testsOf(p *Prepared, n *regpath.Run) func(context.Context) (regpath.Tests, error) {
	return func(ctx context.Context) (regpath.Tests, error) {
		c := inference.Config{Kind: testKind(p), Level: p.Spec.Inference.Level}
		setting.Default(&c.Level, inference.DefaultLevel)
		r, err := inference.Infer(ctx, inference.Problem{Config: c, Path: n, GapTests: p.gapTests})
		if err != nil {
			return regpath.Tests{}, err
		}
		return regpath.Tests{Pairs: r.Pairs, Rests: r.Rests, Warnings: r.Warnings}, nil
	}
}

// infer adds inference and stability; for a shard it only computes the resamples.
func infer(ctx context.Context, p *Prepared, n *regpath.Run, r *Result, run Run) (err error) {
	c, tests := p.Spec.Inference, n.State.Tests
	if !c.Asked() && c.Stability == 0 {
		return nil
	}
	setting.Default(&run.State.Inference, &inference.State{})
	q := inference.Problem{Config: c, Path: n, GapTests: p.gapTests, Again: again(p, n), State: run.State.Inference, Shard: run.Shard,
		Save: func() error { return run.save(n.Engine) }}
	var found *inference.Result
	switch {
	case tests.Pairs != nil && c.Kind == testKind(p): // the tests that chose the edges
		found = &inference.Result{Pairs: tests.Pairs, Rests: tests.Rests, Warnings: tests.Warnings}
	case tests.Pairs != nil:
		r.Warnings = append(r.Warnings, tests.Warnings...)
		fallthrough
	case c.Asked():
		if found, err = inference.Infer(ctx, q); err != nil {
			return err
		}
	}
	if found != nil {
		r.Warnings = append(r.Warnings, found.Warnings...)
		r.Network.Inference = found
		r.Network.Network.SetUncertainty(r.Network.Precision, found.Pairs)
		if found.Doubt != "" { // too many resamples failed
			r.Converged, r.Verdict = false, "NOT reliable: "+found.Doubt+". The network: "+r.Verdict
		}
	}
	if c.Stability == 0 {
		return nil
	}
	s, err := bootstrap.CaseDropping(ctx, q)
	if err != nil || s == nil {
		return err
	}
	r.Warnings = append(r.Warnings, s.Warnings...)
	r.Network.Stability = s
	return nil
}

// again re-estimates on other rows with the same penalty. Constant columns, new pairs without
// common rows and unconverged fits are failures.
func again(p *Prepared, n *regpath.Run) inference.Again {
	apart := p.Table.NeverTogether()
	s, c := p.Spec, *p.Spec.Network
	c.Penalty = n.Penalty()
	s.Inference, s.Objective = inference.Config{}, ObjectiveSpec{}
	if c.Select.ByTests() {
		s.Inference.Kind = testKind(p)
	}
	s.Steps.Workers, s.Steps.Observe = 1, nil
	return func(ctx context.Context, rows []int, seed uint64) (inference.Fit, error) {
		n, err := fitRows(ctx, p, rows, seed, s, c, apart)
		switch {
		case ctx.Err() != nil:
			return inference.Fit{}, ctx.Err()
		case err != nil:
			return inference.Fit{Done: true, Failed: err.Error()}, nil
		}
		return inference.FitOf(n), nil
	}
}

func fitRows(ctx context.Context, p *Prepared, rows []int, seed uint64, s Spec, c regpath.Config, apart [][2]int) (*regpath.Run, error) {
	t, err := p.Original.Rows(rows)
	if err != nil {
		return nil, err
	}
	s.Network, s.Steps.Seed = &c, seed
	if s.Missingness != nil && s.Missingness.Estimated {
		s.Missingness = mcar.Law(t)
	}
	q, err := Prepare(t, s)
	if err != nil {
		return nil, err
	}
	for _, pair := range q.Table.NeverTogether() {
		if !slices.Contains(apart, pair) {
			return nil, errors.New(diagnose.PairsText(q.Table, [][2]int{pair}) + " are never observed in the same row")
		}
	}
	n, err := q.Again(ctx)
	if err != nil {
		return nil, err
	}
	f := n.State.Refine
	switch {
	case n.State.Points[f.Index].Unfinished:
		return nil, fmt.Errorf("at the chosen λ = %.3g the fit did not converge", n.State.Points[f.Index].Lambda)
	case !f.Converged && !n.Config.PathOnly:
		return nil, errors.New(n.Verdict())
	}
	return n, nil
}

// Edges returns the edges, strongest first.
func (r *NetworkResult) Edges() []network.Edge { return r.Network.Edges }

// Adjacencies returns the network of each point of the path.
func (r *NetworkResult) Adjacencies() []network.Adjacency {
	var out []network.Adjacency
	for _, p := range r.Points {
		out = append(out, p.Adjacency(r.Threshold))
	}
	return out
}

// Rates compares the path's networks with the true one. It fails if truth has no edge or no
// non-edge, or if the path was cut.
func (r *NetworkResult) Rates(truth network.Adjacency) ([]network.Rate, error) {
	if r.Cut {
		return nil, errors.New("the path stopped early, but rates need the whole path; set regpath.Config.Whole")
	}
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

// WritePath writes path.csv: a line per λ, with rates if not nil. NaN is written as an empty field.
func (r *NetworkResult) WritePath(w io.Writer, rates []network.Rate) error {
	lines := [][]string{{"lambda", "edges", "loss", "score", "change", "effective_sample_size", "pd_projections", "iterations", "finished"}}
	if rates != nil {
		lines[0] = append(lines[0], "tpr", "fpr")
	}
	for i, p := range r.Points {
		score := math.NaN()
		if r.Scores != nil {
			score = r.Scores[i]
		}
		record := []string{data.FormatNumber(p.Lambda), strconv.Itoa(p.Edges), data.FormatNumber(p.Loss), data.FormatNumber(score), data.FormatNumber(p.Change), data.FormatNumber(p.EffectiveSize), strconv.Itoa(p.Projections), strconv.Itoa(p.Iterations), strconv.FormatBool(!p.Unfinished)}
		if rates != nil {
			record = append(record, data.FormatNumber(rates[i].TPR), data.FormatNumber(rates[i].FPR))
		}
		lines = append(lines, record)
	}
	return csv.NewWriter(w).WriteAll(lines)
}
