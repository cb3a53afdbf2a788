package speed

import (
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/estimator"
)

// checkTolerance is the largest difference of gradients, relative to the largest element, in
// float64.
const checkTolerance = 1e-10

type peerSetting struct {
	Setting
	X       []float64 `json:"x"` // 0 for missing cells
	Mask    []float64 `json:"mask"`
	Penalty float64   `json:"penalty"`
	Score   string    `json:"score"`
	Chunk   int       `json:"chunk"`
}

// forPeer returns the first variant, with the λ in the middle of the path.
func forPeer(s Setting, t *data.Table) peerSetting {
	b := wholeBatch(t)
	lambdas := penalties(t)
	return peerSetting{Setting: s, X: b.X, Mask: b.Mask, Penalty: lambdas[len(lambdas)/2], Score: "fed", Chunk: s.N}
}

func (q peerSetting) String() string { return fmt.Sprintf("%s in chunks of %d", q.Score, q.Chunk) }

// mostClosedForm is the size of the peer's arrays of one matrix per row (128 MB).
const mostClosedForm = 1 << 24

// variants differ in how the peer computes the score, and in rows per chunk.
func (q peerSetting) variants() (all []peerSetting, err error) {
	e, err := estimator.ByName(q.Method)
	if err != nil {
		return nil, err
	}
	for _, q.Score = range []string{"fed", "autograd"} {
		for _, q.Chunk = range slices.Compact([]int{q.N, q.Batch}) {
			if (q.Score == "fed" || e.Trains()) && (q.Method != "exact" || q.Chunk == q.Batch || q.Chunk*q.D*q.D <= mostClosedForm) {
				all = append(all, q)
			}
		}
	}
	return all, nil
}

func wholeBatch(t *data.Table) *data.Batch {
	b := data.NewBatch(t.N, t.D)
	b.Fill(t, t.AllRows(), 1/float64(t.N))
	return b
}

type point struct {
	Matrix       []float64   `json:"matrix"` // P, or its factor with a logarithmic diagonal
	Mean         []float64   `json:"mu"`
	Imputer      [][]float64 `json:"imputer"`
	ImputerNoise []float64   `json:"imputer_noise"`
	Noise        []float64   `json:"noise"`
}

// Of a loss (Matrix, Mean) and an imputer step.
type gradients struct {
	Matrix  []float64   `json:"matrix"`
	Mean    []float64   `json:"mu"`
	Imputer [][]float64 `json:"imputer"`
}

func checked() []Setting {
	all, _ := settings(Experiments, peerMethods, []int{7}, []graph.DType{graph.Float64})
	for i := range all {
		all[i].N, all[i].Batch, all[i].Draws = 40, 20, 4
	}
	return all
}

// It fails above checkTolerance.
func check(w io.Writer, peer *side, settings []Setting) error {
	worst := 0.0
	for _, s := range settings {
		t, err := s.Table()
		if err != nil {
			return err
		}
		at, ours, err := ourGradients(s, wholeBatch(t))
		if err != nil {
			return err
		}
		variants, err := forPeer(s, t).variants()
		if err != nil {
			return err
		}
		for _, q := range variants {
			var theirs gradients
			if err := peer.start(q); err != nil {
				return err
			}
			if err := peer.question("check", at, &theirs); err != nil {
				return err
			}
			apart := max(difference(ours.Matrix, theirs.Matrix), difference(ours.Mean, theirs.Mean))
			for i, g := range ours.Imputer {
				apart = max(apart, difference(g, theirs.Imputer[i]))
			}
			fmt.Fprintf(w, "%-8s %-7s %-26v gradients differ by %.1e of the largest element\n", s.Experiment, s.Method, q, apart)
			worst = max(worst, apart)
		}
	}
	if !(worst < checkTolerance) {
		return fmt.Errorf("the peer's gradients differ from ours by %.1e, more than %.0e", worst, checkTolerance)
	}
	return nil
}

// difference returns max |a_i − b_i| / max |a_i|; +Inf if the lengths differ.
func difference(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	size, worst := 0.0, 0.0
	for i, v := range a {
		size, worst = max(size, math.Abs(v)), max(worst, math.Abs(v-b[i]))
	}
	if size == 0 {
		return worst
	}
	return worst / size
}

func ourGradients(s Setting, b *data.Batch) (at point, g gradients, err error) {
	rng := stream.New(1, stream.Initial)
	normals := func(n int, sd float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = sd * rng.NormFloat64()
		}
		return x
	}
	var m model.Model
	var packed *graph.Param
	if s.Experiment == "quartic" {
		q := model.NewQuartic(s.D)
		m, packed = q, q.Packed
	} else {
		kind := model.CholeskyFactor
		if s.Experiment == "star" {
			kind = model.FreeSymmetric
		}
		q := model.NewGaussian(s.D, kind)
		copy(q.Location.Value, normals(s.D, 0.3))
		m, packed, at.Mean = q, q.Packed, q.Location.Value
	}
	for i, v := range normals(len(packed.Value), 0.3/float64(s.D)) {
		packed.Value[i] += v
	}
	at.Matrix = unpacked(packed.Value, s.D, s.Experiment == "star")

	e, err := estimator.ByName(s.Method)
	if err != nil {
		return at, g, err
	}
	if !e.Draws() {
		s.Draws = 1
	}
	at.Noise = normals(b.Size*s.Draws*s.D, 1)
	by := proposal{mean: make([]float64, b.Size*s.D)}
	if e.Trains() {
		imputer := nets.NewNormalImputer(s.D, nets.NormalOptions{InitialLogS: 0.2}, rng)
		at.ImputerNoise = normals(b.Size*s.D, 1)
		for _, p := range imputer.Params() {
			at.Imputer = append(at.Imputer, p.Value)
		}
		if by, g.Imputer, err = imputerGradients(imputer, m, at.ImputerNoise, b, s.D); err != nil {
			return at, g, err
		}
	}
	p, err := lossAt(s, e, m, b, at.Noise, by)
	if err != nil {
		return at, g, err
	}
	g.Matrix = unpacked(p.Grad(packed), s.D, s.Experiment == "star")
	if s.Experiment == "normal" { // a path does not fit the mean
		g.Mean = p.Grad(m.Params()[0])
	}
	return at, g, nil
}

type proposal struct {
	mean  []float64
	logSD float64
}

func imputerGradients(imputer nets.NormalConditional, m model.Model, noise []float64, b *data.Batch, d int) (by proposal, g [][]float64, err error) {
	train, err := losses.NewImputer(graph.Float64, losses.KL, imputer, m, losses.Classical, nil, b.Size)
	if err != nil {
		return by, nil, err
	}
	losses.BindImputer(train, nil, b)
	copy(train.Input(losses.InputNoise), noise)
	if err := train.Run(); err != nil {
		return by, nil, err
	}
	for _, p := range imputer.Params() {
		g = append(g, train.Grad(p))
	}
	forward, err := losses.NewForward(graph.Float64, imputer, d, b.Size)
	if err != nil {
		return by, nil, err
	}
	copy(forward.Input(losses.InputX), b.X)
	err = forward.Run()
	return proposal{forward.Output(losses.OutputMean), 0.2}, g, err
}

func lossAt(s Setting, e estimator.Estimator, m model.Model, b *data.Batch, noise []float64, by proposal) (*graph.Program, error) {
	p, err := losses.New(graph.Float64, e.Loss, e.Weighting, m, losses.Classical, b.Size, s.Draws)
	if err != nil {
		return nil, err
	}
	x, log := p.Input(losses.InputX), p.Input(losses.InputLogProposal)
	for i, eps := range noise {
		row, j := i/(s.Draws*s.D), i%s.D
		cell := row*s.D + j
		x[i] = b.X[cell]
		if b.Mask[cell] == 0 && e.Draws() {
			x[i] = by.mean[cell] + math.Exp(by.logSD)*eps
			log[i/s.D] -= by.logSD + 0.5*eps*eps
		}
	}
	losses.Bind(p, e.Loss, losses.Classical, b, nil)
	return p, p.Run()
}

// unpacked returns a symmetric or lower triangular matrix, (d, d) row-major.
func unpacked(packed []float64, d int, symmetric bool) []float64 {
	m := make([]float64, d*d)
	for j := range d {
		for k := j; k < d; k++ {
			m[k*d+j] = packed[graph.PackedIndex(d, j, k)]
			if symmetric {
				m[j*d+k] = m[k*d+j]
			}
		}
	}
	return m
}

// penalties returns λ · d of a default path: 200 iterations at the largest λ, then 10 at each of
// 100 λ.
func penalties(t *data.Table) (all []float64) {
	top := float64(t.D) * harness.LambdaMax(t)
	all = slices.Repeat([]float64{top}, 200)
	for _, p := range floats.LogSpan(make([]float64, 100), top, top/200) {
		all = append(all, slices.Repeat([]float64{p}, 10)...)
	}
	return all
}
