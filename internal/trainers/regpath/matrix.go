package regpath

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/panics"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/gaussian/sparse"
	"missingscore/losses"
)

// matrix is the schedule of losses.OfMatrix: coordinate descent over the active pairs
// (sparse.Lasso) on one matrix of second moments.
type matrix struct {
	*problem
	loss      losses.OfMatrix
	of        *pairmoments.Moments // nil: not computed yet
	lasso     sparse.Lasso
	at        *sparse.Matrix // P at the last λ. The model has it when the result is known
	once      sync.Once
	knownRoot mat.Dense // E^½ of Moments.Known
	chosen    []bool    // pairs of the result, including zeros
}

func (m *matrix) take(ctx context.Context) (err error) {
	workers := m.Engine.Config.Workers
	if m.of, err = m.loss.Matrix(ctx, m.Table, m.rows, m.Counts, workers, true); err != nil {
		return err
	}
	m.lasso = sparse.Lasso{D: m.Table.D, S: m.of.S, Workers: workers, Tolerance: m.Config.StopTol, Sweeps: m.Config.MaxIter}
	if m.covariates.blocks != nil {
		m.lasso.Blocks = m.Table.Blocks
	}
	return nil
}

// scale converts from the descent's loss, ½ tr(PSP) − tr P, to the path's, tr(PSP) − 2 tr P per
// column.
func (m *matrix) scale() float64 { return float64(m.Table.D) / 2 }

// span returns the largest λ, 5 % above the λ of the empty network, and its ratio to the smallest.
func (m *matrix) span() (top, ratio float64) {
	size := m.nullGradient()
	if m.covariates.blocks != nil {
		top = m.covariates.largest(size)
	} else {
		eachPair(m.Table.D, func(_, j, k int) { top = max(top, size(j, k)) })
	}
	top = 1.05 * top / m.scale()
	return top, crowdedRatio(m.Table.D, m.of.Pairs, size, top*m.scale())
}

func (m *matrix) nullGradient() (size func(j, k int) float64) {
	if m.covariates.free != nil {
		if derivative, ok := m.covariates.nullGradient(m.Table.D, m.of.S); ok {
			return func(j, k int) float64 { return math.Abs(derivative(j, k)) }
		}
	}
	p := m.start().Diagonal
	return func(j, k int) float64 { return math.Abs(m.of.Element(j, k)) * (p[j] + p[k]) }
}

func (m *matrix) start() *sparse.Matrix {
	p := sparse.Identity(m.Table.D)
	for j := range p.Diagonal {
		p.Diagonal[j] = 1 / m.of.Element(j, j)
	}
	return p
}

func (m *matrix) iterate(ctx context.Context, k int) (Point, error) {
	p, before, screen := m.start(), sparse.Identity(m.Table.D), 1.0
	if k > 0 {
		before, screen = &m.State.Points[k-1].P, 2-m.lambdas[k-1]/m.lambdas[k]
		p = before.Clone()
	}
	lambda := m.lambdas[k] * m.scale()
	m.lasso.Weights = m.weights
	outcome, err := m.lasso.Minimise(ctx, p, lambda, screen*lambda)
	if err != nil {
		return Point{}, err
	}
	m.at = p
	m.placeMean(p)
	m.State.Iteration += outcome.Sweeps
	at := Point{Lambda: m.lambdas[k], P: *p, Edges: m.edgesOf(p), Change: p.Distance(before), Iterations: outcome.Sweeps,
		Loss: m.lossAt(p), EffectiveSize: math.NaN(), Unfinished: !outcome.Done, Stuck: !outcome.Done}
	m.tell("path", "λ", k+1, len(m.lambdas), at.Lambda, at.Loss, at.Edges)
	if m.fitsMean() {
		at.Linear = slices.Clone(m.model.Location.Value)
	}
	return at, ctx.Err()
}

func (m *matrix) edgesOf(p *sparse.Matrix) (n int) {
	if m.covariates.blocks != nil {
		return count(m.nodeEdges(Point{P: *p}.Packed()))
	}
	free := m.covariates.free
	Point{P: *p}.EachEdge(m.Config.Threshold, func(j, k int) {
		if free == nil || !free[graph.PackedIndex(p.D, j, k)] {
			n++
		}
	})
	return n
}

func (m *matrix) release() {
	if m.Table.D > DenseColumns {
		m.of.S, m.lasso = nil, sparse.Lasso{}
		runtime.GC()
	}
}

func (m *matrix) placeMean(p *sparse.Matrix) {
	if m.of.Mean != nil {
		p.ToPacked(m.packed())
		m.model.SetMean(m.of.Mean)
	}
}

func (m *matrix) lossAt(p *sparse.Matrix) float64 { return p.Loss(m.of.Element) / m.scale() }

func (m *matrix) settle(ctx context.Context, lambda float64) error {
	f := &m.State.Refine
	m.lasso.Tolerance, m.lasso.Sweeps = min(m.Config.StopTol, 1e-2*m.Config.Tolerance/refineBlock), m.Config.RefineIter
	p, o, definite, err := m.last(ctx, lambda*m.scale())
	if err != nil {
		return err
	}
	if f.Done = true; !p.Finite() {
		m.release()
		return m.giveUp("the moments of pairs of columns have no minimum on these edges")
	}
	if !definite {
		f.Projections++
	}
	f.Iterations, f.Movement, f.Loss, f.Size = o.Sweeps, refineBlock*o.Moved, m.lossAt(p), math.NaN()
	m.release()
	p.ToPacked(m.packed())
	m.placeMean(p)
	f.Converged = definite && f.Movement < m.Config.Tolerance
	m.tell("refine", "sweep", f.Iterations, f.Iterations, m.State.Points[f.Index].Lambda, f.Loss, m.edgesOf(p))
	return m.save()
}

// last returns the minimum at λ or, without a penalty, on the chosen edges for the least shrunk
// moments with a positive definite solution.
func (m *matrix) last(ctx context.Context, lambda float64) (p *sparse.Matrix, o sparse.Outcome, definite bool, err error) {
	f := &m.State.Refine
	if !f.Refit {
		p, f.Shrunk = m.State.Points[f.Index].P.Clone(), m.of.Shrunk
		if o, err = m.lasso.Minimise(ctx, p, lambda, lambda); err == nil && p.Finite() {
			definite, err = p.KeepDefinite(ctx, m.Config.Floor)
		}
		return p, o, definite, err
	}
	start := m.joined()
	for _, alpha := range m.of.Levels() {
		m.of.ShrinkTo(alpha)
		f.Shrunk, p = alpha, start.Clone()
		if o, err = m.lasso.Fit(ctx, p); err != nil {
			return p, o, false, err
		}
		if !o.Done || !p.Finite() {
			continue
		}
		if definite, err = p.KeepDefinite(ctx, m.Config.Floor); err != nil || definite {
			return p, o, definite, err
		}
	}
	return p, o, false, nil
}

func (m *matrix) joined() *sparse.Matrix {
	d, at := m.Table.D, m.State.Points[m.State.Refine.Index]
	p := &sparse.Matrix{D: d, Diagonal: slices.Clone(at.P.Diagonal)}
	eachPair(d, func(i, j, k int) {
		if m.chosen[i] {
			p.At, p.Value = append(p.At, [2]int32{int32(j), int32(k)}), append(p.Value, at.P.Element(j, k))
		}
	})
	return p
}

func (m *matrix) heldOut(ctx context.Context, rows []int) (func() float64, error) {
	of, err := m.loss.Matrix(ctx, m.Table, rows, m.Counts, m.Engine.Config.Workers, false)
	if err != nil {
		return nil, err
	}
	element := sync.OnceValue(func() func(j, k int) float64 { // after the path's moments
		if m.covariates.blocks != nil {
			return rewhitened(of, m.of, m.Table.Blocks).At
		}
		return of.Element
	})
	return func() float64 { return m.at.Loss(element()) / m.scale() }, nil
}

// rewhitened returns W V⁻¹ S V⁻ᵀ W', block by block, V the whitening of the other rows.
func rewhitened(of, by *pairmoments.Moments, blocks []data.Block) *mat.Dense {
	change := mat.NewDense(of.D, of.D, nil)
	for a, b := range blocks {
		if of.Whitening[a] == nil {
			change.Set(b.First, b.First, 1)
			continue
		}
		var part mat.Dense // W V⁻¹ is the transpose of V⁻ᵀ W'
		w, v := mat.NewDense(b.Width, b.Width, by.Whitening[a]), mat.NewDense(b.Width, b.Width, of.Whitening[a])
		_ = part.Solve(v.T(), w.T()) // positive definite covariance
		change.Slice(b.First, b.First+b.Width, b.First, b.First+b.Width).(*mat.Dense).Copy(part.T())
	}
	var out mat.Dense
	out.Product(change, mat.NewDense(of.D, of.D, of.S), change.T())
	return &out
}

// likelihoodColumns is the number of columns up to which networks are scored by the likelihood.
const likelihoodColumns = 300

// likelihoods computes the missing log-likelihoods of the networks of points in parallel from the
// moments without shrinkage, n the mean number of common rows
// (docs/theory/pairwise.md#eq-pairwise-ebic). With P̂ from covariance selection
//
//	log L = n (log det P̂ − d) / 2
//
// and above likelihoodColumns the pseudo-likelihood, with σ_j² the residual variance of a column
// given its neighbours,
//
//	log L = −n Σ_j log σ_j² / 4
//
// using the moments with the least shrinkage for which σ_j² is at least 1/n of the column's moment
// (pairmoments.Moments.Levels).
func (m *matrix) likelihoods(ctx context.Context, points []int) error {
	state, by := &m.State.Refitted, m.pseudoLikelihood
	if m.Table.D <= likelihoodColumns {
		by = m.likelihood
	}
	missing := slices.DeleteFunc(slices.Clone(points), func(i int) bool { return state.Done[i] })
	return panics.Collect(ctx, m.Engine.Config.Workers, missing, func(_ context.Context, i int) (float64, error) {
		return by(m.adjacency(m.State.Points[i], true)), nil
	}, func(i int, likelihood float64) error {
		state.Done[i], state.Likelihood[i] = true, likelihood
		m.tell("ebic", "network", count(state.Done), len(state.Done), 0, math.NaN(), 0)
		return nil
	})
}

func (m *matrix) likelihood(a network.Adjacency) float64 {
	d := m.Table.D
	packed, raw := make([]float64, d*(d+1)/2), make([]float64, d*d)
	for j := range d {
		for k := range d {
			if raw[j*d+k] = m.of.At(0, j, k); j == k || j < k && a.Has(j, k) {
				packed[graph.PackedIndex(d, j, k)] = 1
			}
		}
	}
	var c mat.Cholesky
	if !em.NewSupport(packed, d).Minimise(packed, raw) || !c.Factorize(graph.Unpack(d, packed)) {
		return math.NaN()
	}
	if m.of.Known != nil {
		return m.knownLikelihood(&c, raw)
	}
	return m.of.Pairs / 2 * (c.LogDet() - float64(d))
}

// root returns E^½, computed once.
func (m *matrix) root() *mat.Dense {
	m.once.Do(func() {
		d := m.Table.D
		var e mat.EigenSym
		var vectors mat.Dense
		e.Factorize(mat.NewSymDense(d, m.of.Known), true)
		e.VectorsTo(&vectors)
		values := e.Values(nil)
		for k, v := range values {
			values[k] = math.Sqrt(max(v, 0))
		}
		m.knownRoot.Product(&vectors, mat.NewDiagDense(d, values), vectors.T())
	})
	return &m.knownRoot
}

// knownLikelihood returns the log-likelihood of latent numbers with correlations R of which the
// cells determine the part E (pairmoments.Moments.Known), as if measured with an error of variance
// I − E (docs/theory/ordinal.md#eq-known):
//
//	log L = −n/2 (log det Σ̃ + tr(Σ̃⁻¹R̃)),   Σ̃ = E^½ Σ̂ E^½ + I − E,   R̃ = E^½ R E^½ + I − E
//
// Σ̂ has the unit diagonal of R. NaN if Σ̃ is not positive definite.
func (m *matrix) knownLikelihood(precision *mat.Cholesky, raw []float64) float64 {
	d := m.Table.D
	var sigma mat.SymDense
	if precision.InverseTo(&sigma) != nil {
		return math.NaN()
	}
	known := mat.NewSymDense(d, m.of.Known)
	root := m.root()
	measured := func(at func(j, k int) float64) *mat.SymDense {
		unit, out := mat.NewDense(d, d, nil), mat.NewSymDense(d, nil)
		for j := range d {
			for k := range d {
				unit.Set(j, k, at(j, k)/math.Sqrt(raw[j*d+j]*raw[k*d+k]))
			}
		}
		var product mat.Dense
		product.Product(root, unit, root)
		for j := range d {
			for k := j; k < d; k++ {
				out.SetSym(j, k, product.At(j, k)-known.At(j, k))
			}
			out.SetSym(j, j, out.At(j, j)+1)
		}
		return out
	}
	var c mat.Cholesky
	var both mat.Dense
	if !c.Factorize(measured(sigma.At)) || c.SolveTo(&both, measured(func(j, k int) float64 { return raw[j*d+k] })) != nil {
		return math.NaN()
	}
	return -m.of.Pairs / 2 * (c.LogDet() + mat.Trace(&both))
}

func (m *matrix) pseudoLikelihood(a network.Adjacency) float64 {
	sum := 0.0
	for j, at := range a.Neighbours() {
		v, ok := m.residual(j, at)
		if !ok {
			return math.NaN()
		}
		sum += math.Log(v)
	}
	return -m.of.Pairs / 4 * sum
}

func (m *matrix) residual(j int, others []int) (v float64, ok bool) {
	for _, alpha := range m.of.Levels() {
		v, ok = sparse.Residual(func(j, k int) float64 { return m.of.At(alpha, j, k) }, j, others)
		if ok = ok && v*m.of.Pairs >= m.of.At(0, j, j); ok {
			return v, true
		}
	}
	return 0, false
}

// fewRows is the number of common rows of a pair below which there is a warning.
const fewRows = 10

func (m *matrix) warnings() (out []string) {
	if m.of.Unsettled {
		other := ", or take Spec.Steps.Method pairwise"
		if m.covariates.blocks != nil {
			other = ""
		}
		out = append(out, "stochastic EM had not converged, so latent correlations are less certain than stated; leave out columns that nearly repeat others or have a rare category"+other)
	}
	if m.of.Least < fewRows {
		out = append(out, fmt.Sprintf("one pair of columns has only %g rows in common, so its results are uncertain; leave out columns with few values by ReadOptions.Exclude", m.of.Least))
	}
	return out
}

func (m *matrix) words() string {
	what, more := "second moments of pairs of columns", "em-exact"
	if m.of.Words != "" {
		return m.of.Words
	}
	if m.Table.Cuts != nil {
		what, more = "latent normal: polychoric and polyserial correlations, moments of pairs of numbers", "em-latent"
	}
	words := fmt.Sprintf("%s, over rows that have both: %.4g rows on average, at least %g", what, m.of.Pairs, m.of.Least)
	if m.of.Shrunk == 0 {
		return words + "; they are positive semidefinite"
	}
	were := "they were positive semidefinite"
	if m.of.Lowest < 0 {
		were = fmt.Sprintf("they were not positive semidefinite (smallest eigenvalue of the correlations %.3g)", m.of.Lowest)
	}
	words += fmt.Sprintf("; %s; the path shrinks all correlations by %.3g %%, at most by %.2g", were, 100*m.of.Shrunk, m.of.Moved)
	switch f := m.State.Refine; {
	case !f.Refit || f.Failure != "":
	case f.Shrunk == 0:
		words += "; sizes of edges use the moments without shrinkage"
	default:
		words += fmt.Sprintf("; sizes of edges use correlations shrunk by %.3g %%, the least for a positive definite precision", 100*f.Shrunk)
	}
	return words + "; " + more + " is more precise and also valid under missing at random"
}
