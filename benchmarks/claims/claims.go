// Package claims tests sentences on the results of experiments: a claim has a quantity and the
// relation that it must satisfy.
package claims

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/benchmarks/harness"
)

// Where maps key columns to patterns of path.Match; a leading "!" negates.
type Where map[string]string

// Side is the mean of a column over the matching settings; a list counts by its last number.
type Side struct {
	Column, Method string
	Where          Where
}

// Relation is an open interval: a claim holds if the 95 % interval is inside, does not hold if
// outside, else is undecided.
type Relation struct{ Low, High float64 }

var (
	Positive = Relation{0, math.Inf(1)}
	Negative = Relation{math.Inf(-1), 0}
)

func Within(margin float64) Relation { return Relation{-margin, margin} }

func Above(bound float64) Relation { return Relation{bound, math.Inf(1)} }
func Below(bound float64) Relation { return Relation{math.Inf(-1), bound} }

// Claim is a sentence with its test. The quantity is the mean over common replicates of A − B, of
// log(A/B) if Ratio, or of A without B. Each pair must satisfy Want at each value of Each; the
// outcome reports the worst.
type Claim struct {
	ID, Experiment, Sentence string
	Pairs                    []Pair
	Each                     string // key column; "": average within a replicate
	Ratio                    bool
	Want                     Relation
}

// Pair holds both sides. An empty B.Column means no B.
type Pair struct{ A, B Side }

type Outcome struct {
	Of              string  // the pair and setting of the estimate
	Mean, Low, High float64 // estimate with its 95 % t-interval, not in logarithms
	Replicates      int
	Verdict         string
}

const (
	Holds        = "holds"
	DoesNotHold  = "does not hold"
	Undecided    = "undecided"
	NotMeasured  = "not measured"
	atLeast      = 3 // replicates for an interval
	replicateKey = "replicate"
)

// Judge tests a claim. It needs three replicates and fails if a column is missing.
func (c Claim) Judge(r harness.Results) (Outcome, error) {
	places, err := c.places(r)
	if err != nil {
		return Outcome{}, err
	}
	worst, least := Outcome{Verdict: NotMeasured}, math.Inf(1)
	verdicts := map[string]bool{}
	for _, p := range c.Pairs {
		for _, place := range places {
			values, err := c.values(r, p, place)
			if err != nil {
				return Outcome{}, fmt.Errorf("claim %s: %w", c.ID, err)
			}
			if len(values) < atLeast {
				continue
			}
			mean, half := MeanInterval(values)
			o := Outcome{Of: p.name(c.Ratio), Mean: mean, Low: mean - half, High: mean + half, Replicates: len(values)}
			if place != "" {
				o.Of += ", " + c.Each + " " + place
			}
			o.Verdict = c.Want.verdict(o.Low, o.High)
			verdicts[o.Verdict] = true
			if slack := min(o.Low-c.Want.Low, c.Want.High-o.High); slack < least || math.IsNaN(slack) {
				worst, least = o, slack
			}
		}
	}
	switch {
	case verdicts[DoesNotHold]:
		worst.Verdict = DoesNotHold
	case verdicts[Undecided]:
		worst.Verdict = Undecided
	}
	if c.Ratio {
		worst.Mean, worst.Low, worst.High = math.Exp(worst.Mean), math.Exp(worst.Low), math.Exp(worst.High)
	}
	return worst, nil
}

// places returns the values of Each, or one empty text.
func (c Claim) places(r harness.Results) (places []string, err error) {
	if c.Each == "" {
		return []string{""}, nil
	}
	i, err := r.Column(c.Each)
	for _, line := range r.Lines {
		if err == nil && !slices.Contains(places, line[i]) {
			places = append(places, line[i])
		}
	}
	return places, err
}

func (w Relation) verdict(low, high float64) string {
	switch {
	case w.Low < low && high < w.High:
		return Holds
	case high < w.Low || w.High < low:
		return DoesNotHold
	}
	return Undecided
}

func (p Pair) name(ratio bool) string {
	sign := " − "
	if ratio {
		sign = " / "
	}
	switch {
	case p.B.Column == "":
		return p.A.Column + ", " + p.A.Method
	case p.A.Method != p.B.Method:
		return p.A.Column + ", " + p.A.Method + sign + p.B.Method
	}
	text := func(s Side) string {
		name := s.Column
		for _, k := range slices.Sorted(maps.Keys(s.Where)) {
			name += " at " + k + " " + s.Where[k]
		}
		return name
	}
	return text(p.A) + sign + text(p.B) + ", " + p.A.Method
}

// values returns one number per replicate: the mean over settings with both sides. Replicates with
// missing settings are dropped.
func (c Claim) values(r harness.Results, p Pair, place string) ([]float64, error) {
	restrict := func(s Side) Side {
		w := Where{"method": s.Method}
		for k, v := range s.Where {
			w[k] = v
		}
		if place != "" {
			w[c.Each] = place
		}
		s.Where = w
		return s
	}
	differ := map[string]bool{} // key columns in which the sides differ
	for _, w := range []Where{p.A.Where, p.B.Where} {
		for k := range w {
			differ[k] = p.B.Column != "" && p.A.Where[k] != p.B.Where[k]
		}
	}
	a, err := restrict(p.A).read(r, differ)
	if err != nil {
		return nil, err
	}
	b := a
	if p.B.Column != "" {
		if b, err = restrict(p.B).read(r, differ); err != nil {
			return nil, err
		}
	}
	of, most := map[string][]float64{}, 0
	var replicates []string
	for _, at := range a.order {
		x := a.at[at]
		y, ok := b.at[at]
		switch {
		case !ok:
			continue
		case p.B.Column == "" && c.Ratio:
			x = math.Log(x)
		case p.B.Column == "":
		case c.Ratio:
			x = math.Log(x / y)
		default:
			x -= y
		}
		if of[at[0]] == nil {
			replicates = append(replicates, at[0])
		}
		of[at[0]] = append(of[at[0]], x)
		most = max(most, len(of[at[0]]))
	}
	var values []float64
	for _, replicate := range replicates {
		if len(of[replicate]) == most {
			values = append(values, stat.Mean(of[replicate], nil))
		}
	}
	return values, nil
}

// By (replicate, setting).
type numbers struct {
	order [][2]string
	at    map[[2]string]float64
}

func (s Side) read(r harness.Results, differ map[string]bool) (n numbers, err error) {
	n.at = map[[2]string]float64{}
	column, err := r.Column(s.Column)
	if err != nil {
		return n, err
	}
	for _, line := range r.Lines {
		fits, at := true, [2]string{}
		for i, k := range r.Key {
			pattern, asked := s.Where[k]
			if asked {
				want, negated := strings.CutPrefix(pattern, "!")
				ok, err := path.Match(want, line[i])
				if err != nil {
					return n, err
				}
				fits = fits && ok != negated
			}
			if k == replicateKey {
				at[0] = line[i]
			} else if k != "method" && !differ[k] {
				at[1] += line[i] + ","
			}
		}
		x, ok := Number(line[column])
		if fits && ok {
			if _, twice := n.at[at]; !twice {
				n.order = append(n.order, at)
			}
			n.at[at] = x
		}
	}
	return n, nil
}

// Number parses a number, the last number of a list, or true and false as 1 and 0; not ok for a
// list that ends with "-".
func Number(text string) (x float64, ok bool) {
	switch text {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	for _, field := range strings.Fields(text) {
		var err error
		if x, err = strconv.ParseFloat(field, 64); err != nil && field != "-" {
			return 0, false
		}
		ok = err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return x, ok
}

// MeanInterval returns the mean and the half width of its 95 % t-interval; at least two values.
func MeanInterval(values []float64) (mean, half float64) {
	n := float64(len(values))
	mean, sd := stat.MeanStdDev(values, nil)
	return mean, sd / math.Sqrt(n) * distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)
}
