package frontier

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

// standing is where a method stands in a situation.
type standing struct {
	method           string
	value            float64 // its mean, geometric if smaller is better
	behind, low, top float64 // by how much it is behind the best: factor, or difference, with its interval
	level            bool    // with the best: the interval does not tell them apart
}

// standings are those of a situation's methods, the best first, and the replicates compared.
// Methods are compared within a replicate, on the settings that both have, and intervals are
// over replicates, of level 1 − 0.05/k for k rivals of the best.
func (s situation) standings(r cells.Results) (out []standing, replicates int, err error) {
	values, err := s.read(r)
	if err != nil {
		return nil, 0, err
	}
	whole := s.whole(values)
	var best string
	for _, m := range s.methods {
		x := s.mean(values, m, whole)
		out = append(out, standing{method: m, value: x})
		if best == "" || s.better(x, s.mean(values, best, whole)) {
			best = m
		}
	}
	for i := range out {
		o := &out[i]
		if o.method == best {
			o.level = true
			continue
		}
		gaps := s.gaps(values, best, o.method)
		if len(gaps) < claims.LeastReplicates {
			return nil, len(gaps), nil
		}
		if replicates == 0 || len(gaps) < replicates {
			replicates = len(gaps)
		}
		mean, half := claims.MeanIntervalAt(gaps, 1-0.05/float64(len(s.methods)-1))
		o.behind, o.low, o.top, o.level = s.shown(mean), s.shown(mean-half), s.shown(mean+half), mean-half <= 0
	}
	slices.SortStableFunc(out, func(a, b standing) int {
		switch {
		case a.method == best || s.better(a.value, b.value) && b.method != best:
			return -1
		case b.method == best || s.better(b.value, a.value):
			return 1
		}
		return 0
	})
	return out, replicates, nil
}

func (s situation) better(x, y float64) bool { return (x < y) == s.smaller && x != y }

func (s situation) shown(gap float64) float64 {
	if s.smaller {
		return math.Exp(gap)
	}
	return gap
}

// block is one table with its gaps.
type block struct{ place, replicate string }

// read gives the numbers by method and block: of traces the last.
func (s situation) read(r cells.Results) (map[string]map[block]float64, error) {
	column, err := r.Column(s.column)
	if err != nil {
		return nil, err
	}
	method, err := r.Column("method")
	if err != nil {
		return nil, err
	}
	replicate, err := r.Column("replicate")
	if err != nil {
		return nil, err
	}
	where := map[int][]string{}
	for name, allowed := range s.where {
		i, err := r.Column(name)
		if err != nil {
			return nil, err
		}
		where[i] = allowed
	}
	out := map[string]map[block]float64{}
	for _, line := range r.Lines {
		fits := slices.Contains(s.methods, line[method])
		for i, allowed := range where {
			fits = fits && slices.Contains(allowed, line[i])
		}
		trace := strings.Fields(line[column])
		if !fits || len(trace) == 0 || trace[len(trace)-1] == "-" {
			continue
		}
		x, err := strconv.ParseFloat(trace[len(trace)-1], 64)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", s.column, err)
		}
		if s.smaller {
			x = math.Log(x)
		}
		if out[line[method]] == nil {
			out[line[method]] = map[block]float64{}
		}
		out[line[method]][block{strings.Join(line[:replicate], ", "), line[replicate]}] = x
	}
	return out, nil
}

// whole are the blocks that all methods have.
func (s situation) whole(values map[string]map[block]float64) (blocks []block) {
	for b := range values[s.methods[0]] {
		if !slices.ContainsFunc(s.methods, func(m string) bool { _, ok := values[m][b]; return !ok }) {
			blocks = append(blocks, b)
		}
	}
	slices.SortFunc(blocks, byName)
	return blocks
}

func byName(a, b block) int {
	return strings.Compare(a.replicate+" "+a.place, b.replicate+" "+b.place)
}

func (s situation) mean(values map[string]map[block]float64, method string, blocks []block) float64 {
	var x []float64
	for _, b := range blocks {
		x = append(x, values[method][b])
	}
	return s.shown(stat.Mean(x, nil))
}

// gaps are how far a method is behind another in each replicate, on average over the places
// that both have.
func (s situation) gaps(values map[string]map[block]float64, best, method string) (gaps []float64) {
	by := map[string][]float64{}
	var blocks []block
	for b := range values[method] {
		if _, ok := values[best][b]; ok {
			blocks = append(blocks, b)
		}
	}
	slices.SortFunc(blocks, byName) // sums do not depend on the order of a map
	var replicates []string
	for _, b := range blocks {
		gap := values[best][b] - values[method][b]
		if s.smaller {
			gap = -gap
		}
		if by[b.replicate] == nil {
			replicates = append(replicates, b.replicate)
		}
		by[b.replicate] = append(by[b.replicate], gap)
	}
	for _, replicate := range replicates {
		gaps = append(gaps, stat.Mean(by[replicate], nil))
	}
	return gaps
}
