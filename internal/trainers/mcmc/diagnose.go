package mcmc

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Result is a finished run, in the model's units.
type Result struct {
	Last   []float64 // (chains, d): the chains' last states, independent draws
	Kept   []float64 // (chains·Keep, d), nil unless Options.Keep is set: by chain, then time
	Accept float64   // mean acceptance after warm-up

	// By column, then for the log density: split R-hat and the effective sample size of all chains,
	// pooled over groups. Fully observed columns have 1 and +Inf.
	RHat, EffectiveSize []float64

	// Per group, of its worst column.
	GroupRHat, GroupSize []float64
}

// WorstRHat is NaN if any is: chains that never moved.
func (r *Result) WorstRHat() (worst float64) { return slices.Max(r.RHat) }

func (r *Result) LeastSize() float64 { return slices.Min(r.EffectiveSize) }

type Mixing struct {
	// RHat is the root mean square over rows of each row's worst R-hat; Worst is the largest, in row
	// Row (from 0).
	RHat, Worst float64
	Row         int
}

// Pool combines the worst R-hat of rows; 0 marks a row without chains. It is nil if all are 0.
func Pool(rows []int, rhat []float64) *Mixing {
	m, squares, n := &Mixing{}, 0.0, 0.0
	for _, v := range rhat {
		if v != 0 {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	for i, v := range rhat {
		squares += v * v / n
		if v != 0 && !(v <= m.Worst) && !math.IsNaN(m.Worst) {
			m.Worst, m.Row = v, rows[i]
		}
	}
	m.RHat = math.Sqrt(squares)
	return m
}

func (h *Chains) diagnose(r *Result, traces [][][]float64) {
	byGroup := make([][]float64, 2*len(h.groups)) // R-hats, then effective sample sizes
	for j, column := range traces {
		var free [][][]float64
		for g, group := range h.groups {
			if j < h.d && !group.free[j] {
				continue
			}
			own := column[g*h.size : (g+1)*h.size]
			free = append(free, own)
			rhat, size := RHat(own)
			byGroup[2*g], byGroup[2*g+1] = append(byGroup[2*g], rhat), append(byGroup[2*g+1], size)
		}
		rhat, size := 1., math.Inf(1)
		if len(free) > 0 {
			rhat, size = RHat(free...)
		}
		r.RHat, r.EffectiveSize = append(r.RHat, rhat), append(r.EffectiveSize, size)
	}
	for g := range h.groups {
		r.GroupRHat = append(r.GroupRHat, slices.Max(byGroup[2*g]))
		r.GroupSize = append(r.GroupSize, slices.Min(byGroup[2*g+1]))
	}
}

// RHat returns the split R-hat and effective sample size of traces by group and chain (Gelman
// et al. 2013, "Bayesian Data Analysis", 11.4 and 11.5): with W the mean variance within
// half-chains of length n, B/n the variance of their means, V = (n−1)/n W + B/n, R = √(V/W), size =
// m n / (1 + 2 Σ_t ρ_t), ρ_t = 1 − (mean squared difference at lag t)/2V, until two neighbouring ρ
// add up to less than 0.
func RHat(groups ...[][]float64) (rhat, size float64) {
	var halves [][]float64
	between := 0.0
	for _, traces := range groups {
		var means []float64
		for _, t := range traces {
			n := len(t) / 2
			halves = append(halves, t[:n], t[n:2*n])
			means = append(means, stat.Mean(t[:n], nil), stat.Mean(t[n:2*n], nil))
		}
		between += stat.Variance(means, nil) / float64(len(groups))
	}
	n, m := float64(len(halves[0])), float64(len(halves))
	within := 0.0
	for _, t := range halves {
		within += stat.Variance(t, nil) / m
	}
	v := (n-1)/n*within + between
	rhat = math.Sqrt(v / within)
	rho := func(lag int) float64 {
		sum, count := 0.0, 0.0
		for _, t := range halves {
			for i := lag; i < len(t); i++ {
				sum += (t[i] - t[i-lag]) * (t[i] - t[i-lag])
				count++
			}
		}
		return 1 - sum/count/(2*v)
	}
	sum := 0.0
	for lag := 1; lag+1 < len(halves[0]); lag += 2 {
		pair := rho(lag) + rho(lag+1)
		if pair < 0 {
			break
		}
		sum += pair
	}
	return rhat, m * n / (1 + 2*sum)
}
