// Package mixture has mixtures over numbers and levels: densities of observed cells, and draws of the others.
package mixture

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/stream"
)

// Mixture is a mixture over rows of numbers x and levels c, from 0,
//
//	q(x, c) = Σ_k w_k N(x; m_k, Σ_k) Π_l π_kl(c_l).
//
// Given computes marginal densities of observed cells, and exact conditional draws.
type Mixture struct {
	Levels []int // per column: number of levels; 0: numbers

	place   []int // per column: index among the numbers, or first index in Shares
	numbers int

	Weights     []float64   // (K)
	Means       [][]float64 // (K, numbers)
	Covariances [][]float64 // (K, numbers · numbers): Σ_k by rows
	Shares      [][]float64 // (K, levels of all columns): π_kl, column after column
}

// New returns k components N(0, I). levels are per column, 0 for numbers.
func New(k int, levels []int) *Mixture {
	m := &Mixture{Levels: levels, Weights: slices.Repeat([]float64{1 / float64(k)}, k)}
	var shares []float64
	for _, n := range levels {
		if n == 0 {
			m.place = append(m.place, m.numbers)
			m.numbers++
			continue
		}
		m.place = append(m.place, len(shares))
		shares = append(shares, slices.Repeat([]float64{1 / float64(n)}, n)...)
	}
	for c := range k {
		m.Means = append(m.Means, make([]float64, m.numbers))
		m.Covariances = append(m.Covariances, make([]float64, m.numbers*m.numbers))
		m.Shares = append(m.Shares, slices.Clone(shares))
		for at := range m.numbers {
			m.Covariances[c][at*m.numbers+at] = 1
		}
	}
	return m
}

// And returns the mixture with weight ½ on m and ½ on another mixture of the same columns.
func (m *Mixture) And(of *Mixture) *Mixture {
	both := *m
	both.Weights = slices.Concat(m.Weights, of.Weights)
	floats.Scale(0.5, both.Weights)
	both.Means, both.Covariances, both.Shares = slices.Concat(m.Means, of.Means), slices.Concat(m.Covariances, of.Covariances), slices.Concat(m.Shares, of.Shares)
	return &both
}

// Place returns the index of column j's mean in Means[k], or of its first level in Shares[k].
func (m *Mixture) Place(j int) int { return m.place[j] }

// Deviation returns the standard deviation σ_kj of a numeric column.
func (m *Mixture) Deviation(k, j int) float64 {
	return math.Sqrt(m.Covariances[k][m.place[j]*(m.numbers+1)])
}

func (m *Mixture) Dim() int { return len(m.Levels) }

// Given is a mixture for rows with the same observed cells. It is not safe for concurrent use.
type Given struct {
	m             *Mixture
	seen          []int // columns of observed numbers
	missing       []int // columns of missing numbers
	levels        []int // columns of observed levels
	others        []int // columns of missing levels
	components    []conditional
	gap, solved   []float64 // scratch, (seen)
	probabilities []float64 // scratch, (K)
}

// o are the observed numbers, u the missing ones.
type conditional struct {
	log  float64   // log w − ½ log |Σ_oo| − |o|/2 log 2π
	root []float64 // (o, o): lower triangular L, L Lᵀ = Σ_oo
	gain []float64 // (u, o): Σ_uo L⁻ᵀ
	left []float64 // (u, u): Σ_uu − Σ_uo Σ_oo⁻¹ Σ_ou
	draw []float64 // (u, u): lower triangular root of left
}

func (g *Given) Components() int { return len(g.components) }

// Given prepares the mixture for rows with observed cells (d).
func (m *Mixture) Given(observed []bool) *Given {
	g := &Given{m: m, probabilities: make([]float64, len(m.Weights))}
	for j, seen := range observed {
		switch {
		case m.Levels[j] > 0 && seen:
			g.levels = append(g.levels, j)
		case m.Levels[j] > 0:
			g.others = append(g.others, j)
		case seen:
			g.seen = append(g.seen, j)
		default:
			g.missing = append(g.missing, j)
		}
	}
	o, u := len(g.seen), len(g.missing)
	g.gap, g.solved = make([]float64, o), make([]float64, o)
	for k, w := range m.Weights {
		covariance := func(a, b int) float64 { return m.Covariances[k][m.place[a]*m.numbers+m.place[b]] }
		c := conditional{root: make([]float64, o*o), gain: make([]float64, u*o), left: make([]float64, u*u)}
		for i, a := range g.seen {
			for l, b := range g.seen {
				c.root[i*o+l] = covariance(a, b)
			}
		}
		c.log = math.Log(w) - float64(o)*logRoot2Pi - lower(c.root, o)
		for i, a := range g.missing {
			row := c.gain[i*o : (i+1)*o]
			for l, b := range g.seen {
				row[l] = covariance(a, b)
			}
			forward(c.root, row, row)
			for l, b := range g.missing[:i+1] {
				v := covariance(a, b) - floats.Dot(row, c.gain[l*o:(l+1)*o])
				c.left[i*u+l], c.left[l*u+i] = v, v
			}
		}
		c.draw = slices.Clone(c.left)
		lower(c.draw, u)
		g.components = append(g.components, c)
	}
	return g
}

// lower replaces a symmetric matrix by its lower triangular root and returns Σ log of its diagonal.
// A variance that is negative by rounding counts as 0.
func lower(a []float64, n int) (log float64) {
	for i := range n {
		row := a[i*n : (i+1)*n]
		for l := range i {
			row[l] = (row[l] - floats.Dot(row[:l], a[l*n:l*n+l])) / a[l*n+l]
			if a[l*n+l] == 0 {
				row[l] = 0
			}
		}
		row[i] = math.Sqrt(max(0, row[i]-floats.Dot(row[:i], row[:i])))
		log += math.Log(row[i])
		clear(row[i+1:])
	}
	return log
}

func forward(root, b, z []float64) {
	n := len(b)
	for i, v := range b {
		z[i] = (v - floats.Dot(root[i*n:i*n+i], z[:i])) / root[i*n+i]
	}
}

// Joint writes log w_k + log N + Σ log π of a row's observed cells to to (K), and returns their log density.
func (g *Given) Joint(row, to []float64) float64 {
	for k := range to {
		g.solve(k, row)
		to[k] = g.components[k].log - floats.Dot(g.solved, g.solved)/2
		for _, j := range g.levels {
			to[k] += math.Log(g.m.Shares[k][g.m.place[j]+int(row[j])])
		}
	}
	return floats.LogSumExp(to)
}

func (g *Given) solve(k int, row []float64) {
	for i, j := range g.seen {
		g.gap[i] = row[j] - g.m.Means[k][g.m.place[j]]
	}
	forward(g.components[k].root, g.gap, g.solved)
}

const logRoot2Pi = 0.9189385332046727 // log √(2π)

// Posterior writes the components' probabilities given the observed cells to to (K), and returns
// their log density.
func (g *Given) Posterior(row, to []float64) float64 {
	log := g.Joint(row, to)
	for k, v := range to {
		to[k] = math.Exp(v - log)
	}
	return log
}

// Score writes −Σ_k r_k (Σ_k,oo⁻¹ (x_o − m_k,o))_j to to (d); NaN for levels and missing cells.
func (g *Given) Score(row, to []float64) {
	g.Posterior(row, g.probabilities)
	for j := range to {
		to[j] = math.NaN()
	}
	for _, j := range g.seen {
		to[j] = 0
	}
	for k, r := range g.probabilities {
		g.solve(k, row)
		root, n := g.components[k].root, len(g.seen)
		for i := n - 1; i >= 0; i-- { // Lᵀ y = L⁻¹(x − m)
			v := g.solved[i]
			for l := i + 1; l < n; l++ {
				v -= root[l*n+i] * g.gap[l]
			}
			g.gap[i] = v / root[i*n+i]
			to[g.seen[i]] -= r * g.gap[i]
		}
	}
}

// Means writes the conditional means of all numbers in component k to to.
func (g *Given) Means(k int, row, to []float64) {
	g.solve(k, row)
	for _, j := range g.seen {
		to[g.m.place[j]] = row[j]
	}
	o := len(g.seen)
	for i, j := range g.missing {
		to[g.m.place[j]] = g.m.Means[k][g.m.place[j]] + floats.Dot(g.components[k].gain[i*o:(i+1)*o], g.solved)
	}
}

// AddLeft adds v times the conditional covariance of the numbers in component k to to.
func (g *Given) AddLeft(k int, v float64, to []float64) {
	u, left := len(g.missing), g.components[k].left
	for i, a := range g.missing {
		for l, b := range g.missing {
			to[g.m.place[a]*g.m.numbers+g.m.place[b]] += v * left[i*u+l]
		}
	}
}

// Complete draws a row's missing cells given its observed ones, in place.
func (g *Given) Complete(row []float64, rng *rand.Rand) {
	m := g.m
	g.Posterior(row, g.probabilities)
	k := stream.Pick(rng, g.probabilities)
	for _, j := range g.others {
		row[j] = float64(stream.Pick(rng, m.Shares[k][m.place[j]:m.place[j]+m.Levels[j]]))
	}
	g.solve(k, row)
	o, u, c := len(g.seen), len(g.missing), g.components[k]
	z := make([]float64, u)
	for i, j := range g.missing {
		z[i] = rng.NormFloat64()
		row[j] = m.Means[k][m.place[j]] + floats.Dot(c.gain[i*o:(i+1)*o], g.solved) + floats.Dot(c.draw[i*u:i*u+i+1], z[:i+1])
	}
}

// Expect sets a row's missing numbers to their conditional means, levels to the most probable one.
func (g *Given) Expect(row []float64) {
	m := g.m
	g.Posterior(row, g.probabilities)
	numbers, means := make([]float64, m.numbers), make([]float64, m.numbers)
	for k, r := range g.probabilities {
		g.Means(k, row, means)
		floats.AddScaled(numbers, r, means)
	}
	for _, j := range g.missing {
		row[j] = numbers[m.place[j]]
	}
	for _, j := range g.others {
		shares := make([]float64, m.Levels[j])
		for k, r := range g.probabilities {
			floats.AddScaled(shares, r, m.Shares[k][m.place[j]:m.place[j]+len(shares)])
		}
		row[j] = float64(floats.MaxIdx(shares))
	}
}

// ByPattern returns a function that caches Given per pattern. It is not safe for concurrent use.
func (m *Mixture) ByPattern() func(observed []bool) *Given {
	known := map[string]*Given{}
	var key []byte
	return func(observed []bool) *Given {
		key = key[:0]
		for _, seen := range observed {
			key = append(key, '0')
			if seen {
				key[len(key)-1] = '1'
			}
		}
		g := known[string(key)]
		if g == nil {
			g = m.Given(observed)
			known[string(key)] = g
		}
		return g
	}
}

// Draw returns n rows (n, d).
func (m *Mixture) Draw(n int, rng *rand.Rand) []float64 {
	d := m.Dim()
	values, g := make([]float64, n*d), m.Given(make([]bool, d))
	for i := 0; i < len(values); i += d {
		g.Complete(values[i:i+d], rng)
	}
	return values
}

// Check fails unless weights and shares sum to 1 and covariances are positive definite.
func (m *Mixture) Check() error {
	if !shares(m.Weights) {
		return errors.New("weights must not be negative and must sum to 1")
	}
	for k, v := range m.Covariances {
		if m.numbers > 0 && !new(mat.Cholesky).Factorize(mat.NewSymDense(m.numbers, slices.Clone(v))) {
			return fmt.Errorf("covariances: component %d is not positive definite", k+1)
		}
	}
	for k, of := range m.Shares {
		for j, n := range m.Levels {
			if n > 0 && !shares(of[m.place[j]:m.place[j]+n]) {
				return fmt.Errorf("shares: component %d, column %d: shares must not be negative and must sum to 1", k+1, j+1)
			}
		}
	}
	return nil
}

func shares(p []float64) bool { return floats.Min(p) >= 0 && math.Abs(floats.Sum(p)-1) < 1e-6 }

// Rescale ignores columns with levels.
func (m *Mixture) Rescale(mean, deviation []float64) error {
	for j, n := range m.Levels {
		if n > 0 {
			continue
		}
		for k := range m.Means {
			m.Means[k][m.place[j]] = mean[j] + deviation[j]*m.Means[k][m.place[j]]
			for l, levels := range m.Levels {
				if levels == 0 {
					m.Covariances[k][m.place[j]*m.numbers+m.place[l]] *= deviation[j] * deviation[l]
				}
			}
		}
	}
	return nil
}
