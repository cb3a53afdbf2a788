// Moments measures what it costs to take the moments of rows that never end: rows of a normal
// distribution are drawn some at a time, and none is kept (benchmarks/moments/README.md).
//
//	go run ./benchmarks/moments -rows 10000000 -d 20 -missing 0.05
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/moments"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// setting is what is drawn.
type setting struct {
	rows, d int
	missing float64
	pairs   bool
}

// blockRows are drawn, and added, at a time.
const blockRows = 4096

// measured is what it took.
type measured struct {
	draw, add time.Duration
	patterns  int
	bytes     int // of the file
}

func main() {
	var s setting
	flag.IntVar(&s.rows, "rows", 10_000_000, "rows")
	flag.IntVar(&s.d, "d", 20, "columns")
	flag.Float64Var(&s.missing, "missing", 0, "share of the cells that are missing")
	flag.BoolVar(&s.pairs, "pairs", false, "moments of pairs of columns alone")
	flag.Parse()
	if err := s.report(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// report measures and says what it took.
func (s setting) report(w io.Writer) error {
	m, err := s.measure()
	if err != nil {
		return err
	}
	million := float64(s.rows) / 1e6
	_, err = fmt.Fprintf(w, "%d rows of %d columns, %g %% missing: drawn in %.3g s, moments in %.3g s for each 10⁶ rows, on one core; %d patterns of gaps, a file of %d bytes\n",
		s.rows, s.d, 100*s.missing, m.draw.Seconds()/million, m.add.Seconds()/million, m.patterns, m.bytes)
	return err
}

// measure draws the rows and takes their moments.
func (s setting) measure() (out measured, err error) {
	rng := stream.New(1, stream.Simulate)
	truth, err := simulate.Normal(s.d, rng)
	if err != nil {
		return out, err
	}
	draws, err := newDraws(truth.Precision)
	if err != nil {
		return out, err
	}
	var names []string
	for j := range s.d {
		names = append(names, fmt.Sprintf("x%d", j+1))
	}
	m, err := moments.New(names, moments.Options{Pairs: s.pairs})
	if err != nil {
		return out, err
	}
	values, observed := make([]float64, blockRows*s.d), make([]bool, blockRows*s.d)
	for left := s.rows; left > 0; left -= blockRows {
		n := min(left, blockRows) * s.d
		start := time.Now()
		draws.fill(values[:n], rng)
		for i := range n {
			observed[i] = s.missing == 0 || rng.Float64() >= s.missing
		}
		drawn := time.Now()
		if err := m.Add(values[:n], observed[:n]); err != nil {
			return out, err
		}
		out.draw, out.add = out.draw+drawn.Sub(start), out.add+time.Since(drawn)
	}
	start := time.Now()
	text := m.Encode()
	out.add += time.Since(start)
	out.patterns, out.bytes = m.Patterns(), len(text)
	return out, nil
}

// draws are rows of N(0, P⁻¹).
type draws struct{ lower *mat.Dense } // L of LLᵀ = P⁻¹

func newDraws(p mat.Symmetric) (*draws, error) {
	var of, back mat.Cholesky
	var sigma mat.SymDense
	if !of.Factorize(p) {
		return nil, fmt.Errorf("the precision is not positive definite")
	}
	if err := of.InverseTo(&sigma); err != nil {
		return nil, err
	}
	if !back.Factorize(&sigma) {
		return nil, fmt.Errorf("the covariance is not positive definite")
	}
	var l mat.TriDense
	back.LTo(&l)
	return &draws{lower: mat.DenseCopyOf(&l)}, nil
}

// fill draws rows, d numbers each.
func (d *draws) fill(values []float64, rng *rand.Rand) {
	k, _ := d.lower.Dims()
	noise := make([]float64, len(values))
	for i := range noise {
		noise[i] = rng.NormFloat64()
	}
	mat.NewDense(len(values)/k, k, values).Mul(mat.NewDense(len(noise)/k, k, noise), d.lower.T())
}
