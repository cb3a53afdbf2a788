package path

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
)

// PathConfig is the L1 path of the paper's graph estimation. Zero values mean
// the defaults named here; lengths in λ are per column (the loss is divided by
// d, so one range of λ serves tables of any width).
//
// Schedule "fixed" is the paper's: plain proximal steps, First and then Each at
// every λ, whatever they reach. "accelerated" is for estimators whose gradient has
// no noise: at every λ Spectral iterations, one at least, until P stands still. The default is
// accelerated where that can be, unless First, Each or Rate is given: these are
// the fixed schedule's.
type PathConfig struct {
	Config
	Schedule   string  `json:"schedule"`   // "accelerated" or "fixed"
	LambdaMax  float64 `json:"lambda_max"` // empties the graph; from the data, see LambdaMax
	LambdaMin  float64 `json:"lambda_min"` // makes it dense; LambdaMax/200, the paper's ratio
	Lambdas    int     `json:"lambdas"`    // how many, spaced evenly on a log scale; 100
	First      int     `json:"first"`      // fixed: iterations at LambdaMax; 200
	Each       int     `json:"each"`       // fixed: iterations at each λ; 10
	Most       int     `json:"most"`       // accelerated: iterations at each λ, at most; 300. A path ends where they do not suffice
	Standstill float64 `json:"standstill"` // accelerated: a λ is done when 50 plain steps would move nothing by as much; 0.015. With most cells missing, less is slower and finds edges worse (benchmarks/likelihood)
	Rate       float64 `json:"rate"`       // a plain step's size per column; 0.015, less for strongly dependent columns
	Threshold  float64 `json:"threshold"`  // |P_jk| above it is an edge, columns standardised; 0.002
	Floor      float64 `json:"floor"`      // the smallest eigenvalue that P may have; 0.001
	Rows       []int   `json:"rows"`       // of the table, to fit to; all
}

// Point is the path's state at one λ. Columns are as the path saw them, so
// standardised if the table was.
type Point struct {
	Lambda        float64
	Packed        []float64 // P, packed as graph.PackedIndex says
	Linear        []float64 // η = Pμ; nil where the mean is kept
	Edges         int
	Loss          float64 // reported loss (M), mean over rows, columns and the block, without the penalty
	Change        float64 // largest change of an element of P over the block
	EffectiveSize float64 // mean over the block; NaN without weights
	Lifts         int     // iterations at which P had to be kept positive definite
	Iterations    int
	Unfinished    bool // accelerated: the stopping rule was not met within the bound
}

// Block gathers what a Point reports.
type Block struct {
	Start []float64
	Size  float64
	Count int
	Loss  float64
	Lifts int
}

// natural says whether the path fits η = Pμ along: on a domain with a boundary, and of
// cells missing not at random, the observed means are not μ.
func (c PathConfig) natural() bool { return c.Domain.Bounded() || c.Missingness != nil }

// ErrLambdas says that there is no path between two λ.
var ErrLambdas = errors.New("the largest must not be under the smallest, and both positive")

func (c PathConfig) withDefaults(t *data.Table) (PathConfig, error) {
	_, method, err := c.Config.withDefaults(t.N, losses.ObjectiveFor(c.Domain, c.Weight))
	if err != nil {
		return c, err
	}
	if c.Schedule == "" {
		c.Schedule = "fixed"
		if method.Deterministic && c.First == 0 && c.Each == 0 && c.Rate == 0 {
			c.Schedule = "accelerated"
		}
	}
	switch {
	case c.Schedule == "fixed" && (c.Most != 0 || c.Standstill != 0):
		return c, fmt.Errorf("most %d, standstill %v: these are for the accelerated schedule, the fixed one has first and each", c.Most, c.Standstill)
	case c.Schedule == "fixed":
		setDefault(&c.First, 200)
		setDefault(&c.Each, 10)
	case c.Schedule != "accelerated":
		return c, fmt.Errorf("schedule %q: it is accelerated or fixed", c.Schedule)
	case !method.Deterministic:
		return c, fmt.Errorf("schedule accelerated: the gradients of method %s are noisy, use fixed", method.Name)
	case c.First != 0 || c.Each != 0:
		return c, fmt.Errorf("first %d, each %d: these are for the fixed schedule, the accelerated one has most", c.First, c.Each)
	default:
		setDefault(&c.Most, 300)
		setDefault(&c.Standstill, 0.015)
		setDefault(&c.Batch, 250) // only a share of the work: large ones repeat less
	}
	setDefault(&c.Rate, min(0.015, stableRate(t)/max(1, c.Weight.Cap)))
	setDefault(&c.Threshold, 0.002)
	setDefault(&c.Floor, 1e-3)
	setDefault(&c.Lambdas, 100)
	if t.D < 2 {
		return c, errors.New("a network needs at least two columns")
	}
	if c.LambdaMax == 0 {
		c.LambdaMax = LambdaMax(t, c.Domain, c.Weight)
		if c.Missingness != nil {
			c.LambdaMax *= 1.3 // the score of φ is left aside there
		}
	}
	if c.LambdaMin == 0 {
		c.LambdaMin = c.LambdaMax / 200
	}
	if !(c.LambdaMin > 0) || c.LambdaMax < c.LambdaMin || math.IsInf(c.LambdaMax, 0) {
		return c, fmt.Errorf("λ from %.4g to %.4g: %w", c.LambdaMax, c.LambdaMin, ErrLambdas)
	}
	if c.Lambdas < 1 || c.First < 0 || c.Each+c.Most < 1 || c.Rate < 0 || c.Standstill < 0 || c.Threshold < 0 || c.Floor < 0 {
		return c, fmt.Errorf("λs %d, first %d, each %d, most %d, rate %v, standstill %v, threshold %v, floor %v: none may be negative, and at least one λ and one iteration each",
			c.Lambdas, c.First, c.Each, c.Most, c.Rate, c.Standstill, c.Threshold, c.Floor)
	}
	return c, nil
}

// secondMoments are Σ_i x_ij x_ik over rows with both observed, their number,
// and the means v_j of x_j².
func secondMoments(t *data.Table) (cross, count *mat.SymDense, v []float64) {
	cross, count, v = mat.NewSymDense(t.D, nil), mat.NewSymDense(t.D, nil), make([]float64, t.D)
	for i := range t.N {
		row, seen := t.Values[i*t.D:(i+1)*t.D], t.Observed[i*t.D:(i+1)*t.D]
		for j := range t.D {
			if !seen[j] {
				continue
			}
			for k := j; k < t.D; k++ {
				if seen[k] {
					cross.SetSym(j, k, cross.At(j, k)+row[j]*row[k])
					count.SetSym(j, k, count.At(j, k)+1)
				}
			}
		}
	}
	for j := range v {
		v[j] = cross.At(j, j) / count.At(j, j)
	}
	return cross, count, v
}

// stableRate is a step below the stability limit 2/L of gradient descent. The
// loss of complete rows has curvature L ≤ 4 λ_max(S) by packed P, S the second
// moments, here from pairs.
func stableRate(t *data.Table) float64 {
	cross, count, _ := secondMoments(t)
	for j := range t.D {
		for k := j; k < t.D; k++ {
			if n := count.At(j, k); n > 0 {
				cross.SetSym(j, k, cross.At(j, k)/n)
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(cross, false) {
		return math.Inf(1)
	}
	return 1 / (4 * e.Values(nil)[t.D-1])
}

// lambdaGrid goes down from max to min.
func (c PathConfig) lambdaGrid() []float64 {
	if c.Lambdas == 1 {
		return []float64{c.LambdaMax}
	}
	return floats.LogSpan(make([]float64, c.Lambdas), c.LambdaMax, c.LambdaMin)
}

// pathRun is a Gaussian network being fitted along the path.
type pathRun struct {
	*engine
	holder
	config     PathConfig
	model      *model.Gaussian
	state      *State
	checkpoint func(*State) error
	rows       []int
	lambdas    []float64
	steps      []int        // fixed schedule: steps[k] iterations have been made when λ_k is done
	space      space        // accelerated
	passed     func() error // called when a λ is done, if set
}

func newPathRun(t *data.Table, c PathConfig, s *State, checkpoint func(*State) error, identity any) (*pathRun, error) {
	c, err := c.withDefaults(t)
	if err != nil {
		return nil, err
	}
	kind := model.FreeSymmetric
	if c.natural() {
		kind = model.Natural
	}
	m := model.NewGaussian(t.D, kind)
	m.Location.Fixed = !c.natural()
	e, err := newEngine(t, m, losses.ObjectiveFor(c.Domain, c.Weight), c.Config)
	if err != nil {
		return nil, err
	}
	c.Config = e.config
	r := &pathRun{engine: e, holder: holder{floor: c.Floor}, config: c, model: m, state: s, checkpoint: checkpoint, lambdas: c.lambdaGrid(), space: newSpace(m)}
	if r.rows = slices.Clone(c.Rows); c.Rows == nil {
		for i := range t.N {
			r.rows = append(r.rows, i)
		}
	}
	chosen := make([]bool, t.N)
	for _, i := range r.rows {
		chosen[i] = true
	}
	e.gaps = slices.DeleteFunc(e.gaps, func(i int) bool { return !chosen[i] })
	slices.SortStableFunc(r.rows, func(i, j int) int { // one pattern's rows share work
		for k := range t.D {
			if a, b := t.Observed[i*t.D+k], t.Observed[j*t.D+k]; a != b {
				if a {
					return -1
				}
				return 1
			}
		}
		return 0
	})
	total := c.First
	for range r.lambdas {
		total += c.Each
		r.steps = append(r.steps, total)
	}
	identified, err := fingerprint(t, []any{c, identity})
	if err != nil {
		return nil, err
	}
	if s.Version == 0 {
		*s = State{Version: stateVersion, Fingerprint: identified}
		e.capture(s)
		return r, nil
	}
	if s.Fingerprint != identified {
		return nil, ErrOtherRun
	}
	e.restore(s)
	return r, nil
}

func (r *pathRun) packed() []float64 { return r.model.Packed.Value }

func (r *pathRun) accelerated() bool { return r.config.Schedule == "accelerated" }

// iterations of the path, so far or, for the fixed schedule, in all.
func (r *pathRun) iterations() (sum int) {
	if !r.accelerated() {
		return r.steps[len(r.steps)-1]
	}
	for _, p := range r.state.Points {
		sum += p.Iterations
	}
	return sum
}

// save captures the state and hands it to the checkpoint.
func (r *pathRun) save() error {
	r.capture(r.state)
	if r.checkpoint == nil {
		return nil
	}
	return r.checkpoint(r.state)
}

// advance makes one proximal step at λ. When the context is done it saves the
// state, which is then that between two steps, and returns the context's error.
func (r *pathRun) advance(ctx context.Context, lambda float64) (stepResult, error) {
	d := r.table.D
	s, err := r.step(ctx, r.state.Iteration, r.rows, 1/float64(len(r.rows)*d))
	if err != nil {
		if ctx.Err() != nil {
			return s, interrupted(ctx, r.save)
		}
		return s, err
	}
	b := &r.state.Block
	if b.Start == nil {
		*b = Block{Start: slices.Clone(r.packed())}
	}
	Proximal{Rate: r.config.Rate * float64(d), Lambda: lambda}.Step(r.packed(), s.Grads[1], d)
	if r.config.natural() {
		floats.AddScaled(r.model.Location.Value, -r.config.Rate*float64(d), s.Grads[0])
	}
	if !finite(r.packed()...) || !finite(r.model.Location.Value...) {
		copy(r.packed(), b.Start)
		return s, &DivergedError{r.state.Iteration, "precision"}
	}
	if r.hold(r.model) {
		r.state.Lifts++
		b.Lifts++
	}
	b.Size += s.EffectiveSize
	b.Loss += s.Loss
	b.Count++
	r.state.Iteration++
	return s, nil
}

// closeBlock turns the finished block into a point.
func (r *pathRun) closeBlock(lambda float64) Point {
	b := r.state.Block
	r.state.Block = Block{}
	var linear []float64
	if r.config.natural() {
		linear = slices.Clone(r.model.Location.Value)
	}
	p := Point{
		Lambda: lambda, Packed: slices.Clone(r.packed()), Linear: linear, Edges: r.edges(),
		Change: floats.Distance(b.Start, r.packed(), math.Inf(1)), Lifts: b.Lifts, Iterations: b.Count,
	}
	if r.accelerated() {
		p.Loss, p.EffectiveSize = r.state.Spectral.Loss, math.NaN()
		p.Unfinished = !r.stands(lambda, r.config.Standstill)
	} else {
		p.Loss, p.EffectiveSize = b.Loss/float64(b.Count), b.Size/float64(b.Count)
	}
	return p
}

func (r *pathRun) edges() int { return adjacency(r.packed(), r.table.D, r.config.Threshold).Count() }

// adjacency is the network of a packed precision: |P_jk| above the threshold.
func adjacency(packed []float64, d int, threshold float64) network.Adjacency {
	a := network.Adjacency{D: d}
	for j := range d {
		for k := j + 1; k < d; k++ {
			a.Edge = append(a.Edge, math.Abs(packed[graph.PackedIndex(d, j, k)]) > threshold)
		}
	}
	return a
}

// path runs what is left of the path.
func (r *pathRun) path(ctx context.Context) error {
	block := r.fixedBlock
	if r.accelerated() {
		block = r.acceleratedBlock
	}
	for k := len(r.state.Points); k < len(r.lambdas) && !r.gaveUp(); k++ {
		if err := block(ctx, k); err != nil {
			return err
		}
		r.state.Points = append(r.state.Points, r.closeBlock(r.lambdas[k]))
		if r.passed != nil {
			if err := r.passed(); err != nil {
				return err
			}
		}
		if err := r.save(); err != nil {
			return err
		}
	}
	return nil
}

// gaveUp tells whether the minimum was out of reach at the last λ: then it is at
// smaller ones, too, and the path ends.
func (r *pathRun) gaveUp() bool {
	n := len(r.state.Points)
	return n > 0 && r.state.Points[n-1].Unfinished
}

// fixedBlock makes what is left of the iterations at λ_k.
func (r *pathRun) fixedBlock(ctx context.Context, k int) error {
	for r.state.Iteration < r.steps[k] {
		last, err := r.advance(ctx, r.lambdas[k])
		if err != nil {
			return err
		}
		r.observe(Progress{Stage: "path", Unit: "iteration", Iteration: r.state.Iteration, Total: r.iterations(), Lambda: r.lambdas[k],
			Edges: r.edges(), Loss: last.Loss, EffectiveSize: last.EffectiveSize})
	}
	return nil
}

// acceleratedBlock goes to the minimum at λ_k, or as far as Most iterations lead.
func (r *pathRun) acceleratedBlock(ctx context.Context, k int) error {
	lambda := r.lambdas[k]
	if err := r.open(lambda); err != nil {
		return err
	}
	observe := func(done int) {
		r.observe(Progress{Stage: "path", Unit: "λ", Iteration: done, Total: len(r.lambdas), Lambda: lambda,
			Edges: r.edges(), Loss: r.state.Spectral.Loss, EffectiveSize: math.NaN()})
	}
	for n := &r.state.Block.Count; *n == 0 || *n < r.config.Most && !r.stands(lambda, r.config.Standstill); {
		if err := r.accelerate(ctx, lambda); err != nil {
			return err
		}
		observe(k)
	}
	observe(k + 1)
	return nil
}

// PartialCorrelation of columns j < k of d at this point, −P_jk/√(P_jj P_kk).
func (p Point) PartialCorrelation(d, j, k int) float64 {
	at := func(j, k int) float64 { return p.Packed[graph.PackedIndex(d, j, k)] }
	if at(j, k) == 0 {
		return 0 // not −0
	}
	return -at(j, k) / math.Sqrt(at(j, j)*at(k, k))
}
