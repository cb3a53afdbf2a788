package bound

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

var statements = []claims.Claim{
	{
		ID: "bound-rate", Where: `Section "Finite Sample Bounds", theorem`,
		Quote: "P(J(θ_(n,r)) ≥ β₁ √(s log(d n r A/δ) / min{r, n})) < δ",
		Test: func(r cells.Results) (claims.Verdict, error) {
			return testRate(r, "the theorem's rate", func(l line) float64 { return l.rate })
		},
	},
	{
		ID: "bound-log-rate", Where: `Appendix "Finite Sample Bounds for Truncated Importance Weighted Score Matching"`,
		Quote: "to obtain log(n)/n rate convergence we need r to be of the same order as n [tested: with r = n it falls no slower]",
		Test: func(r cells.Results) (claims.Verdict, error) {
			return testRate(r, "log(n)/n", func(l line) float64 { return math.Log(float64(l.n)) / float64(l.n) })
		},
	},
	{
		ID: "bound-needs-draws", Where: `Appendix "Finite Sample Bounds for Truncated Importance Weighted Score Matching"`,
		Quote: "A key limitation of our result is that to obtain convergence, we require r → ∞ [tested: with r fixed at the fewest draws it falls slower than with r = n]",
		Test:  testDraws,
	},
}

// line of the results.
type line struct {
	n, r, replicate  int
	divergence, rate float64
}

func parse(r cells.Results) ([]line, error) {
	at := map[string]int{}
	for _, name := range []string{rowsColumn, drawsColumn, replicateColumn, divergenceColumn, rateColumn} {
		if at[name] = slices.Index(r.Columns, name); at[name] < 0 {
			return nil, fmt.Errorf("the results have no column %q", name)
		}
	}
	var lines []line
	for _, cells := range r.Lines {
		var l line
		for name, to := range map[string]any{rowsColumn: &l.n, drawsColumn: &l.r, replicateColumn: &l.replicate, divergenceColumn: &l.divergence, rateColumn: &l.rate} {
			if _, err := fmt.Sscan(cells[at[name]], to); err != nil {
				return nil, fmt.Errorf("column %q: %q: %w", name, cells[at[name]], err)
			}
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// means are the points of the lines that want chooses, by the value of x, increasing, with
// the least number of replicates behind one. Values of x with too few replicates have
// none.
func means(lines []line, want func(line) bool, x, y func(line) float64) (points []point, replicates int) {
	values := map[float64][]float64{}
	for _, l := range lines {
		if want(l) {
			values[x(l)] = append(values[x(l)], y(l))
		}
	}
	for _, at := range slices.Sorted(maps.Keys(values)) {
		if n := len(values[at]); n >= claims.LeastReplicates {
			points = append(points, newPoint(at, values[at]))
			if replicates == 0 || n < replicates {
				replicates = n
			}
		}
	}
	return points, replicates
}

func divergenceOf(l line) float64 { return l.divergence }
func rowsOf(l line) float64       { return float64(l.n) }
func drawsOf(l line) float64      { return float64(l.r) }
func together(l line) bool        { return l.n == l.r }

// testRate asks for b ≥ 1 in J ∝ rate^b along r = n.
func testRate(r cells.Results, name string, rate func(line) float64) (claims.Verdict, error) {
	lines, err := parse(r)
	if err != nil {
		return claims.Verdict{}, err
	}
	v := claims.Verdict{Outcome: claims.Undecided, Anytime: claims.Undecided, Measure: fmt.Sprintf("b in divergence ∝ (%s)^b along r = n; at least 1 is asked", name), Effect: math.NaN(), Low: math.NaN(), High: math.NaN()}
	points, replicates := means(lines, together, rate, divergenceOf)
	b, err := fitPower(points)
	if err != nil {
		v.Evidence = err.Error() + "."
		return v, nil
	}
	v.Outcome, v.Effect, v.Low, v.High, v.Replicates = b.atLeast(1), b.b, b.low, b.high, replicates
	v.Anytime = anytime(v.Outcome, lines, 1, together, rate, divergenceOf)
	v.Evidence = "Slopes on log-log axes: " + strings.Join(slopes(lines), "; ") + "."
	return v, nil
}

// testDraws asks whether J at the smallest fixed r falls behind J at r = n as n grows:
// b > 0 in J(n, r)/J(n, n) ∝ n^b, paired in each replicate's table.
func testDraws(r cells.Results) (claims.Verdict, error) {
	lines, err := parse(r)
	if err != nil {
		return claims.Verdict{}, err
	}
	v := claims.Verdict{Outcome: claims.Undecided, Anytime: claims.Undecided, Measure: "b in J(n, r)/J(n, n) ∝ n^b at the smallest r; more than 0 is asked", Effect: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if len(lines) == 0 {
		v.Evidence = "No results."
		return v, nil
	}
	type table struct{ n, replicate int }
	whole := map[table]float64{}
	for _, l := range lines {
		if together(l) {
			whole[table{l.n, l.replicate}] = l.divergence
		}
	}
	least := slices.MinFunc(lines, func(a, b line) int { return cmp.Compare(a.r, b.r) }).r
	fixed := func(l line) bool { return l.r == least && !together(l) && whole[table{l.n, l.replicate}] > 0 }
	ratio := func(l line) float64 { return l.divergence / whole[table{l.n, l.replicate}] }
	points, replicates := means(lines, fixed, rowsOf, ratio)
	b, err := fitPower(points)
	if err != nil {
		v.Evidence = err.Error() + "."
		return v, nil
	}
	v.Effect, v.Low, v.High, v.Replicates = b.b, b.low, b.high, replicates
	switch {
	case b.low > 0:
		v.Outcome = claims.Holds
	case b.high < 0:
		v.Outcome = claims.DoesNotHold
	}
	v.Anytime = anytime(v.Outcome, lines, 0, fixed, rowsOf, ratio)
	var ratios []string
	for _, p := range points {
		ratios = append(ratios, fmt.Sprintf("%.2f at n = %g", math.Exp(p.y), p.x))
	}
	v.Evidence = fmt.Sprintf("With r = %d the divergence is that with r = n times %s.", least, strings.Join(ratios, ", "))
	return v, nil
}

// slopes are all that the results have: along r = n, along n at each fixed r, along r at
// each n.
func slopes(lines []line) (out []string) {
	add := func(name string, want func(line) bool, x func(line) float64) {
		points, _ := means(lines, want, x, divergenceOf)
		if b, err := fitPower(points); err == nil {
			out = append(out, name+" "+b.String())
		}
	}
	add("in n = r", together, rowsOf)
	for _, r := range distinct(lines, func(l line) int { return l.r }) {
		add("in n at r = "+strconv.Itoa(r), func(l line) bool { return l.r == r }, rowsOf)
	}
	for _, n := range distinct(lines, func(l line) int { return l.n }) {
		add("in r at n = "+strconv.Itoa(n), func(l line) bool { return l.n == n }, drawsOf)
	}
	return out
}

func distinct(lines []line, of func(line) int) []int {
	seen := map[int]bool{}
	for _, l := range lines {
		seen[of(l)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
