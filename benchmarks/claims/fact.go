package claims

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
)

// Fact is a number of each replicate: the mean of a column, of the lines where others have
// the given values.
type Fact struct {
	Column string
	Where  map[string]string
}

// Between tests that one fact is above another, over replicates.
func Between(above, below Fact, name string) Test {
	return func(r cells.Results) (Verdict, error) {
		hi, err := above.read(r)
		if err != nil {
			return Verdict{}, err
		}
		lo, err := below.read(r)
		if err != nil {
			return Verdict{}, err
		}
		n := &Numbers{Replicates: slices.Sorted(maps.Keys(hi))}
		c := compare(n, "", "", "", 0.95, func(replicate string) (float64, bool) {
			v, ok := lo[replicate]
			return hi[replicate] - v, ok
		})
		v := Measure{}.verdict(n, decide([]comparison{c}, positive), nil, nil, name)
		if !c.few() {
			v.Evidence = fmt.Sprintf("Means: %.3g and %.3g.", average(hi), average(lo))
		}
		return v, nil
	}
}

func average(of map[string]float64) float64 {
	return stat.Mean(slices.Sorted(maps.Values(of)), nil)
}

// read gives a fact's numbers by replicate.
func (f Fact) read(r cells.Results) (map[string]float64, error) {
	chosen, err := r.Only(f.Where)
	if err != nil {
		return nil, err
	}
	i, err := r.Column(f.Column)
	if err != nil {
		return nil, err
	}
	at, err := r.Column("replicate")
	if err != nil {
		return nil, err
	}
	values := map[string][]float64{}
	for _, line := range chosen.Lines {
		v, err := strconv.ParseFloat(line[i], 64)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Column, err)
		}
		values[line[at]] = append(values[line[at]], v)
	}
	out := map[string]float64{}
	for replicate, v := range values {
		out[replicate] = stat.Mean(v, nil)
	}
	return out, nil
}
