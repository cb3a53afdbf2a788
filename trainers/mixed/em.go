package mixed

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph/model"
)

// step is an EM iteration: sums of the components' probabilities, and the mixture that they give.
type emStep struct {
	p *problem
	k int

	rows   []float64   // (K)
	count  [][]float64 // (K, numbers): rows that have the number
	first  [][]float64 // (K, numbers): Σ r x
	second [][]float64 // (K, numbers): Σ r x²
	levels [][]float64 // (K, levels of all columns)
}

func newStep(p *problem, k int) *emStep {
	e := &emStep{p: p, k: k, rows: make([]float64, k)}
	for range k {
		e.count, e.first = append(e.count, make([]float64, p.numbers)), append(e.first, make([]float64, p.numbers))
		e.second, e.levels = append(e.second, make([]float64, p.numbers)), append(e.levels, make([]float64, len(p.start.Shares[0])))
	}
	return e
}

// add counts row i with the components' probabilities r (K).
func (e *emStep) add(i int, r []float64) {
	row := e.p.rows[i]
	for k, v := range r {
		if v *= row.weight; v < negligible {
			continue
		}
		e.rows[k] += v
		count, first, second, levels := e.count[k], e.first[k], e.second[k], e.levels[k]
		for c, at := range row.numbers {
			x := row.values[c]
			count[at] += v
			first[at] += v * x
			second[at] += v * x * x
		}
		for _, at := range row.levels {
			levels[at] += v
		}
	}
}

// negligible is a probability that adds nothing to a sum over rows.
const negligible = 1e-14

// solve is the mixture of greatest posterior density given the sums (docs/theory/models.md#eq-mixed-em).
// Missing cells are in none of them, which is right under MAR.
func (e *emStep) solve() *model.Mixed {
	p := e.p
	all := make([]int, p.D)
	for j := range all {
		all[j] = p.start.Levels(j)
	}
	m := model.NewMixed(e.k, all)
	prior, n := priorVariance(e.k, p.numbers), floats.Sum(e.rows)
	for k := range e.k {
		m.Weights[k] = (e.rows[k] + 1/float64(e.k)) / (n + 1)
		for at, count := range e.count[k] {
			mean := e.first[k][at] / (count + priorMean)
			squares := e.second[k][at] - mean*e.first[k][at] // Σ r (x − mean)² + 0.01 mean²
			m.Means[k][at] = mean
			m.Deviations[k][at] = max(p.least[at], math.Sqrt((priorRows*prior+max(0, squares))/(count+priorRows)))
		}
		for j, n := range all {
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

func priorVariance(k, numbers int) float64 {
	return math.Pow(float64(k), -2/max(1, float64(numbers)))
}

// logPrior is the log density of the prior at m, up to a constant.
func (p *problem) logPrior(m *model.Mixed) (log float64) {
	prior := priorVariance(len(m.Weights), p.numbers)
	for k, w := range m.Weights {
		log += math.Log(w) / float64(len(m.Weights))
		for at, mean := range m.Means[k] {
			v := m.Deviations[k][at] * m.Deviations[k][at]
			log -= (priorRows*math.Log(v) + (priorRows*prior+priorMean*mean*mean)/v) / 2
		}
		for l, share := range p.start.Shares[0] {
			log += priorSize * share * math.Log(m.Shares[k][l])
		}
	}
	return log
}

// turn is one iteration from m.
func (e *emStep) turn(m *model.Mixed, rows []int) (next *model.Mixed, at Turn) {
	clear(e.rows)
	for k := range e.k {
		clear(e.count[k])
		clear(e.first[k])
		clear(e.second[k])
		clear(e.levels[k])
	}
	l := logsOf(m)
	r, sum := make([]float64, e.k), 0.0
	for _, i := range rows {
		log := l.joint(&e.p.rows[i], r)
		sum += e.p.rows[i].weight * log
		for k, v := range r {
			r[k] = math.Exp(v - log)
		}
		e.add(i, r)
	}
	n := floats.Sum(e.rows)
	return e.solve(), Turn{sum / n, (sum + e.p.logPrior(m)) / n}
}

// logs are a mixture's logarithms, taken once an iteration.
type logs struct {
	m       *model.Mixed
	weight  []float64   // (K)
	normal  [][]float64 // (K, numbers): −log σ − ½ log 2π
	inverse [][]float64 // (K, numbers): 1/σ
	share   [][]float64 // (K, levels of all columns)
}

func logsOf(m *model.Mixed) *logs {
	l := &logs{m: m}
	for k, w := range m.Weights {
		l.weight = append(l.weight, math.Log(w))
		var normal, inverse, share []float64
		for _, sd := range m.Deviations[k] {
			normal, inverse = append(normal, -math.Log(sd)-math.Log(2*math.Pi)/2), append(inverse, 1/sd)
		}
		for _, v := range m.Shares[k] {
			share = append(share, math.Log(v))
		}
		l.normal, l.inverse, l.share = append(l.normal, normal), append(l.inverse, inverse), append(l.share, share)
	}
	return l
}

// joint is model.Mixed.Joint for a row.
func (l *logs) joint(row *cells, to []float64) float64 {
	for k := range to {
		log := l.weight[k]
		means, inverse, normal, share := l.m.Means[k], l.inverse[k], l.normal[k], l.share[k]
		for c, at := range row.numbers {
			z := (row.values[c] - means[at]) * inverse[at]
			log += normal[at] - z*z/2
		}
		for _, at := range row.levels {
			log += share[at]
		}
		to[k] = log
	}
	return floats.LogSumExp(to)
}
