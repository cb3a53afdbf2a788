package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks"
)

// Both claims are about the paper's four methods.
const subject = "var"

var rivals = []string{"iw", "em", "zeroed"}

const (
	// margin of AUC within which two methods "perform comparably": ours, chosen
	// before any run.
	margin = 0.02
)

// claims are the two that the paper makes of each real table.
func claims(experiment, table, where, best, comparable string) []benchmarks.Claim {
	return []benchmarks.Claim{
		{ID: experiment + "-var-best", Quote: best, Where: where,
			Test: func(r benchmarks.Results) (benchmarks.Verdict, error) { return testBest(r, table) }},
		{ID: experiment + "-others-comparable", Quote: comparable, Where: where,
			Test: func(r benchmarks.Results) (benchmarks.Verdict, error) { return testComparable(r, table) }},
	}
}

// difference of two methods, paired over replicates.
type difference struct {
	a, b            string
	mean, low, high float64
	replicates      int
}

func (d difference) String() string {
	return fmt.Sprintf("%s − %s %+.4f [%+.4f, %+.4f]", d.a, d.b, d.mean, d.low, d.high)
}

// testBest holds if Marg-Var's lead over each of the others is certain, and does not
// if one of them is certainly ahead.
func testBest(r benchmarks.Results, table string) (benchmarks.Verdict, error) {
	s, err := collect(r, table, meanColumn)
	if err != nil {
		return benchmarks.Verdict{}, err
	}
	var leads []difference
	for _, rival := range rivals {
		leads = append(leads, s.compare(subject, rival))
	}
	if !enough(leads) {
		return tooFew(leads), nil
	}
	least := slices.MinFunc(leads, func(a, b difference) int { return cmp.Compare(a.low, b.low) })
	ahead := slices.MinFunc(leads, func(a, b difference) int { return cmp.Compare(a.high, b.high) })
	switch {
	case ahead.high < 0:
		return s.verdict(benchmarks.DoesNotHold, ahead, leads), nil
	case least.low > 0:
		return s.verdict(benchmarks.Holds, least, leads), nil
	}
	return s.verdict(benchmarks.Undecided, least, leads), nil
}

// testComparable holds if every two of the others certainly differ by less than the
// margin, and does not if two certainly differ by more.
func testComparable(r benchmarks.Results, table string) (benchmarks.Verdict, error) {
	s, err := collect(r, table, meanColumn)
	if err != nil {
		return benchmarks.Verdict{}, err
	}
	var gaps []difference // each mean at least 0, so that high is the furthest from 0
	for i, a := range rivals {
		for _, b := range rivals[i+1:] {
			d := s.compare(a, b)
			if d.mean < 0 {
				d = s.compare(b, a)
			}
			gaps = append(gaps, d)
		}
	}
	if !enough(gaps) {
		return tooFew(gaps), nil
	}
	widest := slices.MaxFunc(gaps, func(a, b difference) int { return cmp.Compare(a.high, b.high) })
	apart := slices.MaxFunc(gaps, func(a, b difference) int { return cmp.Compare(a.low, b.low) })
	switch {
	case apart.low > margin:
		return s.verdict(benchmarks.DoesNotHold, apart, gaps), nil
	case widest.high < margin:
		return s.verdict(benchmarks.Holds, widest, gaps), nil
	}
	return s.verdict(benchmarks.Undecided, widest, gaps), nil
}

func enough(ds []difference) bool {
	return !slices.ContainsFunc(ds, func(d difference) bool { return d.replicates < benchmarks.LeastReplicates })
}

func tooFew(ds []difference) benchmarks.Verdict {
	least := slices.MinFunc(ds, func(a, b difference) int { return cmp.Compare(a.replicates, b.replicates) })
	return benchmarks.Verdict{Outcome: benchmarks.Undecided, Measure: "AUC, mean over missing probabilities", Replicates: least.replicates,
		Evidence: fmt.Sprintf("%d replicates of %s and %s; %d are needed.", least.replicates, least.a, least.b, benchmarks.LeastReplicates)}
}

// verdict rests on one of the differences and tells all.
func (s scores) verdict(o benchmarks.Outcome, decides difference, all []difference) benchmarks.Verdict {
	var means, gaps []string
	for _, method := range slices.Sorted(maps.Keys(s)) {
		means = append(means, fmt.Sprintf("%s %.3f", method, s.mean(method)))
	}
	for _, d := range all {
		gaps = append(gaps, d.String())
	}
	return benchmarks.Verdict{
		Outcome: o, Measure: fmt.Sprintf("AUC of %s less that of %s, mean over missing probabilities", decides.a, decides.b),
		Effect: decides.mean, Low: decides.low, High: decides.high, Replicates: decides.replicates,
		Evidence: fmt.Sprintf("Mean AUC: %s. Paired over corruptions of the one table: %s; comparable means within %g.",
			strings.Join(means, ", "), strings.Join(gaps, "; "), margin),
	}
}

// scores are AUCs by method and corruption.
type scores map[string]map[corruption]float64

type corruption struct{ missing, replicate string }

func collect(r benchmarks.Results, table, column string) (scores, error) {
	at := map[string]int{}
	for _, name := range append(slices.Clone(keyColumns), column) {
		if at[name] = slices.Index(r.Columns, name); at[name] < 0 {
			return nil, fmt.Errorf("the results have no column %q", name)
		}
	}
	s := scores{}
	for _, line := range r.Lines {
		if line[at["table"]] != table {
			continue
		}
		auc, err := strconv.ParseFloat(line[at[column]], 64)
		if err != nil {
			return nil, fmt.Errorf("line %v: %w", line, err)
		}
		method := line[at["method"]]
		if s[method] == nil {
			s[method] = map[corruption]float64{}
		}
		s[method][corruption{line[at["missing"]], line[at["replicate"]]}] = auc
	}
	return s, nil
}

// compare averages a − b in each replicate over the missing probabilities at which both
// have finished, and gives the mean over replicates with its 95 % t-interval.
func (s scores) compare(a, b string) difference {
	gaps := map[string][]float64{}
	for at, x := range s[a] {
		if y, ok := s[b][at]; ok {
			gaps[at.replicate] = append(gaps[at.replicate], x-y)
		}
	}
	var means []float64
	for _, replicate := range slices.Sorted(maps.Keys(gaps)) {
		means = append(means, ordered(gaps[replicate]))
	}
	d := difference{a: a, b: b, replicates: len(means)}
	if len(means) > 1 {
		mean, half := benchmarks.MeanInterval(means)
		d.mean, d.low, d.high = mean, mean-half, mean+half
	}
	return d
}

// mean is the AUC of a method over all its cells.
func (s scores) mean(method string) float64 { return ordered(slices.Collect(maps.Values(s[method]))) }

// ordered is the mean in an order that is not a map's, which would show in the last digit.
func ordered(x []float64) float64 {
	slices.Sort(x)
	return stat.Mean(x, nil)
}
