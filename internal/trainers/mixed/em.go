package mixed

import (
	"math"

	"missingscore/internal/data/mixture"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

type emStep struct {
	p *problem
	k int

	rows   []float64   // (K)
	count  [][]float64 // (K, numbers): rows with the number
	first  [][]float64 // (K, numbers): Σ r E[x]
	second [][]float64 // (K, numbers · numbers): Σ r E[x xᵀ]
	levels [][]float64 // (K, levels of all columns)
}

func newStep(p *problem, k int) *emStep {
	e := &emStep{p: p, k: k, rows: make([]float64, k)}
	for range k {
		e.count, e.first = append(e.count, make([]float64, p.numbers)), append(e.first, make([]float64, p.numbers))
		e.second, e.levels = append(e.second, make([]float64, p.numbers*p.numbers)), append(e.levels, make([]float64, len(p.start.Shares[0])))
	}
	return e
}

// r(i) (K) are row i's component probabilities.
func (e *emStep) add(g *mixture.Given, rows []int, r func(i int) []float64) {
	p, x, mass := e.p, make([]float64, e.p.numbers), make([]float64, e.k)
	for _, i := range rows {
		row := p.Values[i*p.D : (i+1)*p.D]
		for k, v := range r(i) {
			if v *= p.Weight(i); v < negligible {
				continue
			}
			mass[k] += v
			g.Means(k, row, x)
			floats.AddScaled(e.first[k], v, x)
			for at, value := range x {
				floats.AddScaled(e.second[k][at*p.numbers:(at+1)*p.numbers], v*value, x)
			}
			for j, seen := range p.Observed[i*p.D : (i+1)*p.D] {
				switch at := p.start.Place(j); {
				case !seen:
				case p.start.Levels[j] > 0:
					e.levels[k][at+int(row[j])] += v
				default:
					e.count[k][at] += v
				}
			}
		}
	}
	for k, v := range mass {
		e.rows[k] += v
		g.AddLeft(k, v, e.second[k])
	}
}

const negligible = 1e-14

// solve maximises the expected log posterior, with the prior at the previous mixture
// (docs/theory/models.md#eq-mixed-em).
func (e *emStep) solve(from *mixture.Mixture) *mixture.Mixture {
	prior, size := e.p.prior(from)
	p, d := e.p, e.p.numbers
	m := mixture.New(e.k, p.start.Levels)
	n := floats.Sum(e.rows)
	for k, rows := range e.rows {
		m.Weights[k] = (rows + 1/float64(e.k)) / (n + 1)
		floats.ScaleTo(m.Means[k], 1/(rows+priorMean), e.first[k])
		for a, x := range m.Means[k] {
			for b, y := range m.Means[k] {
				m.Covariances[k][a*d+b] = (size*prior[a*d+b] + e.second[k][a*d+b] - (rows+priorMean)*x*y) / (rows + size)
			}
			m.Covariances[k][a*d+a] = max(p.least[a]*p.least[a], m.Covariances[k][a*d+a])
		}
		for j := range p.D {
			n := p.start.Levels[j]
			if n == 0 {
				continue
			}
			at := p.start.Place(j)
			counts, shares := e.levels[k][at:at+n], m.Shares[k][at:at+n]
			for l := range shares {
				shares[l] = (counts[l] + priorSize*p.start.Shares[0][at+l]) / (floats.Sum(counts) + priorSize)
			}
		}
	}
	return m
}

// prior returns Ψ (numbers, numbers) and its weight of ν rows.
func (p *problem) prior(m *mixture.Mixture) (covariance []float64, rows float64) {
	k, n := float64(len(m.Weights)), float64(p.N)
	if k == 1 {
		return p.start.Covariances[0], priorRows
	}
	covariance = make([]float64, p.numbers*p.numbers)
	for c, w := range m.Weights {
		floats.AddScaled(covariance, w*n/(n+priorRows), m.Covariances[c])
	}
	floats.AddScaled(covariance, priorRows/(n+priorRows)*math.Pow(k, -2/max(1, float64(p.numbers))), p.start.Covariances[0])
	return covariance, priorRows + float64(p.numbers)
}

func (p *problem) logPrior(m, from *mixture.Mixture) (log float64) {
	prior, size := p.prior(from)
	for k, w := range m.Weights {
		log += math.Log(w) / float64(len(m.Weights))
		for l, share := range p.start.Shares[0] {
			log += priorSize * share * math.Log(m.Shares[k][l])
		}
		if p.numbers == 0 {
			continue
		}
		var root mat.Cholesky
		var inverse mat.SymDense
		if !root.Factorize(mat.NewSymDense(p.numbers, m.Covariances[k])) || root.InverseTo(&inverse) != nil {
			return math.Inf(-1)
		}
		mean := mat.NewVecDense(p.numbers, m.Means[k])
		log -= (size*root.LogDet() + priorMean*mat.Inner(mean, &inverse, mean)) / 2
		for a := range p.numbers {
			for b := range p.numbers {
				log -= size * prior[a*p.numbers+b] * inverse.At(a, b) / 2
			}
		}
	}
	return log
}

func (p *problem) expect(m *mixture.Mixture, rows []int) (*emStep, turn) {
	e, r, sum := newStep(p, len(m.Weights)), make([]float64, len(m.Weights)), 0.0
	for _, group := range p.Patterns(rows) {
		first := group[0]
		g := m.Given(p.Observed[first*p.D : (first+1)*p.D])
		e.add(g, group, func(i int) []float64 {
			sum += p.Weight(i) * g.Posterior(p.Values[i*p.D:(i+1)*p.D], r)
			return r
		})
	}
	n := floats.Sum(e.rows)
	return e, turn{sum / n, (sum + p.logPrior(m, m)) / n}
}
