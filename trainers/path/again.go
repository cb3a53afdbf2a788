package path

import (
	"math"
	"slices"
)

// Again makes this, before it begins, one of many estimates from resamples of a table: it
// comes to the same network in less time. By EM iterations it starts
// at each λ where the two before point to (predict); where EBIC goes by the likelihood of
// refits, these end at a gain of againGain. Iterations after the path are as ever. Rows that are
// drawn several times are worked on once, where gradients have no noise.
func (r *Run) Again() {
	r.again = true
	if r.Config.Schedule != Fixed {
		r.countRepeats()
	}
	if r.Config.Schedule == EM {
		r.schedule = newTurns(r)
	}
}

// countRepeats takes equal neighbours among the rows for one that counts as often.
func (r *Run) countRepeats() {
	t, distinct := r.Table, r.rows[:0]
	r.Counts = make([]float64, t.N)
	same := func(i, j int) bool {
		return slices.Equal(t.Observed[i*t.D:(i+1)*t.D], t.Observed[j*t.D:(j+1)*t.D]) && slices.Equal(t.Values[i*t.D:(i+1)*t.D], t.Values[j*t.D:(j+1)*t.D])
	}
	for _, i := range r.rows {
		if n := len(distinct); n > 0 && same(distinct[n-1], i) {
			r.Counts[distinct[n-1]] += t.Weight(i)
			continue
		}
		distinct = append(distinct, i)
		r.Counts[i] = t.Weight(i)
	}
	r.rows = distinct
}

// total is how many rows are fitted to, repeated ones as often as they are there; with weights
// the sum of theirs.
func (r *Run) total() (sum float64) {
	if r.Counts == nil {
		return float64(len(r.rows))
	}
	for _, i := range r.rows {
		sum += r.Counts[i]
	}
	if r.Table.Weights == nil {
		return math.Round(sum)
	}
	return sum
}

// againGain is of log likelihood by a turn: the turns after it would gain a tenth of it or so.
const againGain = 0.1

// AgainBatch is how many rows such an estimate works on together where draws do not depend on
// it: a step whose rows are those of the one before goes on from how they were sorted.
const AgainBatch = 4096

// predict puts the model where the iterations at λ_k start: straight on from the two λ
// before,
//
//	θ_{k−1} + (λ_{k−1} − λ_k)/(λ_{k−2} − λ_{k−1}) (θ_{k−1} − θ_{k−2})
//
// for while no edge joins or leaves, the minimum for given moments is linear in λ. It stays
// at θ_{k−1} where P would not be positive definite.
func (r *Run) predict(k int) {
	if !r.again || k < 2 {
		return
	}
	a, b := r.State.Points[k-2], r.State.Points[k-1]
	by := (b.Lambda - r.lambdas[k]) / (a.Lambda - b.Lambda)
	ahead := func(to, a, b []float64) {
		for i := range b {
			to[i] = b[i] + by*(b[i]-a[i])
		}
	}
	ahead(r.packed(), a.Precision(r.Table.D), b.Precision(r.Table.D))
	ahead(r.model.Location.Value, a.Linear, b.Linear)
	if !r.posdef.Inside(r.model) {
		r.setPoint(k - 1)
	}
}
