// Package compare tests whether two networks, each of a table with missing cells, differ: in
// partial correlations (unsigned strengths for nominal columns), in structure and in global
// strength, by permutation of the rows' group labels, as R's NetworkComparisonTest (van Borkulo et
// al. 2022). Formulas: docs/theory/comparing.md.
package compare

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/network"
	"missingscore/internal/printable"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/inference"
	"missingscore/trainers"
	"missingscore/trainers/replicate"
)

// DefaultPermutations is the default number of permutations.
const DefaultPermutations = 500

// Problem is two tables and the settings of their networks.
type Problem struct {
	Tables   [2]*data.Table // with the same columns in the same order
	Networks [2]*trainers.Result
	// Spec returns the settings of a network, for Tables and permuted tables.
	Spec func(t *data.Table) trainers.Spec
}

// Config configures Compare. Zero values select the defaults.
type Config struct {
	Permutations int     `json:"permutations"` // 500
	Level        float64 `json:"level"`        // of intervals; 0.95
	Seed         uint64  `json:"seed"`
}

func (c Config) resolve() (Config, error) {
	setting.Default(&c.Permutations, DefaultPermutations)
	setting.Default(&c.Level, inference.DefaultLevel)
	if c.Permutations < 1 {
		return c, setting.Errorf("permutations", c.Permutations, "it must be 1 or more")
	}
	if !(c.Level > 0 && c.Level < 1) {
		return c, setting.Errorf("level", c.Level, "the level of intervals must be between 0 and 1")
	}
	return c, nil
}

// Result is the difference of two networks.
type Result struct {
	Config Config
	Pairs  []Difference // j < k in column order
	// Structure is M, the largest absolute difference of a partial correlation; Strength is S, the
	// absolute difference of the sums of absolute values.
	Structure, Strength Test

	Strengths   [2]float64   // the two sums
	Gaps        []mcar.Share // of columns with missing cells, by group
	Failed      int          // permutations without two networks
	Unconverged int          // permutations with a network that did not converge
	Warnings    []string
}

// Test is a statistic with its permutation p value.
type Test struct{ Observed, P float64 }

// Difference is first network minus second for a pair of columns.
type Difference struct {
	From, To  string
	Ends      [2]int     // indices of the columns
	Weights   [2]float64 // partial correlations, or strengths of a nominal column; 0 without an edge
	Value     float64    // their difference
	Low, High float64    // permutation interval; NaN with too few permutations for its level, or too few with the edge
	P, Q      float64    // by permutation
	Estimates *Estimates // nil without inference
}

// Compare runs the missing permutations and tests; done holds earlier permutations of the same run.
// It fails with replicate.ErrOtherRun if these have another number of columns.
func Compare(ctx context.Context, p Problem, c Config, run replicate.Config, done *replicate.Done[Permutation]) (*Result, error) {
	c, err := c.resolve()
	if err != nil {
		return nil, err
	}
	var weights [2][]float64
	for i, r := range p.Networks {
		weights[i] = replicate.Weights(r.Network.Network)
		unsigned(p.Tables[0], weights[i])
	}
	pool, err := data.Stack(p.Tables[0], p.Tables[1])
	if err != nil {
		return nil, err
	}
	made, err := replicate.Run(ctx, c.Permutations, run, done, func(ctx context.Context, k int) (Permutation, error) {
		return p.permute(ctx, pool, c.Seed, k)
	})
	if err != nil {
		return nil, err
	}
	for _, m := range made {
		if m.Failure == "" && len(m.Differences) != len(weights[0]) {
			return nil, replicate.ErrOtherRun
		}
	}
	r := &Result{Config: c, Gaps: mcar.Shares(p.Tables[0], p.Tables[1])}
	if err := r.test(p.Tables[0].Names, weights, made); err != nil {
		return nil, err
	}
	r.estimates(p.Networks)
	r.Warnings = append(r.gapWarnings(), r.Warnings...)
	return r, nil
}

// Identity names a run by tables and all settings except the number of permutations, which a
// resumed run may increase.
func (p Problem) Identity(c Config) (string, error) {
	c, err := c.resolve()
	if err != nil {
		return "", err
	}
	c.Permutations = 0
	settings := []any{c}
	for i, r := range p.Networks {
		var law bytes.Buffer
		if m := r.Spec.Missingness; m != nil {
			if err := m.Write(&law, p.Tables[i].Names); err != nil {
				return "", err
			}
		}
		settings = append(settings, r.Spec, law.String())
	}
	return replicate.Identity(settings, p.Tables[:]...)
}

func (r *Result) gapWarnings() []string {
	var columns []string
	for _, s := range r.Gaps {
		if s.Differs() {
			columns = append(columns, s.String())
		}
	}
	if columns == nil {
		return nil
	}
	text := columns[0]
	if n := len(columns) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more columns differ", n)
	}
	advice := "compare estimates by their standard errors with Spec.Inference model or robust"
	if len(r.Pairs) > 0 && r.Pairs[0].Estimates != nil {
		advice = "rely on the comparison of estimates instead"
	}
	return []string{"WARNING: missing cells differ between the groups: " + text +
		". Permutation p values then test rows and missing cells together, not the networks alone: " + advice}
}

// Permutation holds the statistics of the two networks of permuted rows.
type Permutation struct {
	Differences []float64 // of weights, for pairs j < k in column order
	Strength    float64   // S
	Unconverged bool
	Failure     string // reason if there are no networks; else empty
}

// k determines the drawn first group. Rows keep the pool's order, because rounding of sums depends
// on it.
func (p Problem) permute(ctx context.Context, pool *data.Table, seed uint64, k int) (Permutation, error) {
	rows, first := stream.New(seed, stream.Permute, uint64(k)).Perm(pool.N), p.Tables[0].N
	slices.Sort(rows[:first])
	slices.Sort(rows[first:])
	var found [2]replicate.Network
	for group, chosen := range [2][]int{rows[:first], rows[first:]} {
		t, err := pool.Rows(chosen)
		if err == nil {
			spec := p.Spec(t)
			spec.Inference = inference.Config{}
			found[group], err = replicate.Estimate(ctx, t, spec)
		}
		if ctx.Err() != nil {
			return Permutation{}, ctx.Err()
		}
		if err != nil {
			return Permutation{Failure: err.Error()}, nil
		}
	}
	a, b := found[0].Weights, found[1].Weights
	unsigned(pool, a)
	unsigned(pool, b)
	return Permutation{
		Differences: floats.SubTo(make([]float64, len(a)), a, b), Strength: math.Abs(floats.Norm(a, 1) - floats.Norm(b, 1)),
		Unconverged: !found[0].Converged || !found[1].Converged,
	}, nil
}

// The sign of pairs with a nominal column depends on the order of levels.
func unsigned(t *data.Table, weights []float64) {
	i := 0
	for j := range t.D {
		for k := j + 1; k < t.D; k++ {
			if data.KindOf(t, j) == data.Nominal || data.KindOf(t, k) == data.Nominal {
				weights[i] = math.Abs(weights[i])
			}
			i++
		}
	}
}

// same is the relative tolerance for ties, which rounding breaks.
const same = 1e-9

// pValue returns (1 + #{null ≥ observed}) / (1 + N) (Phipson and Smyth 2010).
func pValue(observed float64, null []float64) float64 {
	reached := 1.0
	for _, v := range null {
		if v >= observed-same*observed {
			reached++
		}
	}
	return reached / (1 + float64(len(null)))
}

// radius is the k-th largest absolute permuted difference, k = ⌊(1 − level)(1 + N)⌋: the interval
// excludes 0 if and only if p ≤ 1 − level. NaN if N is too small, or if too few permuted networks
// have the edge.
func radius(sizes []float64, level float64) float64 {
	k := int((1-level)*float64(1+len(sizes)) + 1e-9)
	if k < 1 || k > len(sizes) {
		return math.NaN()
	}
	sorted := slices.Clone(sizes)
	slices.Sort(sorted)
	if c := sorted[len(sorted)-k]; c > 0 {
		return c
	}
	return math.NaN()
}

func (r *Result) test(names []string, weights [2][]float64, made []Permutation) error {
	var good []Permutation
	reason := ""
	for _, m := range made {
		switch {
		case m.Failure == "":
			good = append(good, m)
		case reason == "":
			reason = m.Failure
		}
		if m.Unconverged {
			r.Unconverged++
		}
	}
	if r.Failed = len(made) - len(good); len(good) == 0 {
		return fmt.Errorf("none of %d permutations gave two networks; the first failure: %s", len(made), reason)
	}
	if r.Failed > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d permutations failed and are left out of p values; the first failure: %s", r.Failed, len(made), reason))
	}
	if r.Unconverged > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("in %d of %d permutations a network did not converge; it is used as it is", r.Unconverged, len(made)))
	}
	structure := func(differences []float64) float64 { return floats.Norm(differences, math.Inf(1)) }
	r.Strengths = [2]float64{floats.Norm(weights[0], 1), floats.Norm(weights[1], 1)}
	r.Structure.Observed = structure(floats.SubTo(make([]float64, len(weights[0])), weights[0], weights[1]))
	r.Strength.Observed = math.Abs(r.Strengths[0] - r.Strengths[1])
	var m, s []float64
	for _, p := range good {
		m, s = append(m, structure(p.Differences)), append(s, p.Strength)
	}
	r.Structure.P, r.Strength.P = pValue(r.Structure.Observed, m), pValue(r.Strength.Observed, s)
	var p []float64
	for j, from := range names {
		for k := j + 1; k < len(names); k++ {
			i, sizes := len(r.Pairs), make([]float64, len(good))
			d := Difference{From: from, To: names[k], Ends: [2]int{j, k}, Weights: [2]float64{weights[0][i], weights[1][i]}, Value: weights[0][i] - weights[1][i]}
			for k, p := range good {
				sizes[k] = math.Abs(p.Differences[i])
			}
			half := radius(sizes, r.Config.Level)
			d.Low, d.High = max(-2, d.Value-half), min(2, d.Value+half)
			d.P = pValue(math.Abs(d.Value), sizes)
			r.Pairs, p = append(r.Pairs, d), append(p, d.P)
		}
	}
	for i, q := range inference.BenjaminiHochberg(p) {
		r.Pairs[i].Q = q
	}
	return nil
}

// Estimates compares a pair by standard errors, without permutations; valid if missingness differs
// between the groups.
type Estimates struct {
	Estimate  [2]float64
	Value     float64 // difference of the estimates
	Low, High float64
	P, Q      float64 // NaN without standard errors
}

func (r *Result) estimates(networks [2]*trainers.Result) {
	a, b := networks[0].Network.Network.Pairs, networks[1].Network.Network.Pairs
	if a == nil || b == nil {
		return
	}
	p := make([]float64, len(r.Pairs))
	for i := range r.Pairs {
		e := between(*a[i].Uncertainty, *b[i].Uncertainty)
		r.Pairs[i].Estimates, p[i] = &e, e.P
	}
	for i, q := range inference.BenjaminiHochberg(p) {
		r.Pairs[i].Estimates.Q = q
	}
}

// between compares two independent estimates r₁, r₂ of partial correlations. If both have standard
// errors, on Fisher's scale
//
//	z = (atanh r₁ − atanh r₂) / √(se₁²/(1 − r₁²)² + se₂²/(1 − r₂²)²),   p = 2 Φ(−|z|)
//
// and combines the intervals (l₁, u₁) and (l₂, u₂) (Zou 2007, Psychological Methods 12): r₁ − r₂ −
// √((r₁ − l₁)² + (u₂ − r₂)²) to r₁ − r₂ + √((u₁ − r₁)² + (r₂ − l₂)²).
func between(a, b network.Uncertainty) Estimates {
	nan := math.NaN()
	e := Estimates{Estimate: [2]float64{a.Estimate, b.Estimate}, Value: a.Estimate - b.Estimate, Low: nan, High: nan, P: nan, Q: nan}
	e.Low = e.Value - math.Hypot(a.Estimate-a.Low, b.High-b.Estimate)
	e.High = e.Value + math.Hypot(a.High-a.Estimate, b.Estimate-b.Low)
	if !(math.Abs(a.Estimate) < 1) || !(math.Abs(b.Estimate) < 1) || !(a.SE > 0) || !(b.SE > 0) || math.IsInf(a.SE+b.SE, 1) {
		return e
	}
	spread := math.Hypot(a.SE/(1-a.Estimate*a.Estimate), b.SE/(1-b.Estimate*b.Estimate))
	e.P = 2 * distuv.UnitNormal.CDF(-math.Abs(math.Atanh(a.Estimate)-math.Atanh(b.Estimate))/spread)
	return e
}

// WriteDifferences writes differences.csv: a line per pair; missing values are empty.
func (r *Result) WriteDifferences(w io.Writer, groups [2]string) error {
	lines := [][]string{{"from", "to", "group_a", "group_b", "partial_correlation_a", "partial_correlation_b", "difference", "low", "high", "p", "q"}}
	if len(r.Pairs) > 0 && r.Pairs[0].Estimates != nil {
		lines[0] = append(lines[0], "estimate_a", "estimate_b", "estimate_difference", "estimate_low", "estimate_high", "estimate_p", "estimate_q")
	}
	for _, d := range r.Pairs {
		numbers := []float64{d.Weights[0], d.Weights[1], d.Value, d.Low, d.High, d.P, d.Q}
		if e := d.Estimates; e != nil {
			numbers = append(numbers, e.Estimate[0], e.Estimate[1], e.Value, e.Low, e.High, e.P, e.Q)
		}
		line := []string{printable.Text(d.From), printable.Text(d.To), printable.Text(groups[0]), printable.Text(groups[1])}
		for _, x := range numbers {
			line = append(line, data.FormatNumber(x))
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}
