package imputation

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/mixed"
	"missingscore/data"
)

var measures = []string{"nominal_cells", "nominal_accuracy", "nominal_log_score", "ordered_cells", "ordered_accuracy", "ordered_log_score",
	"number_cells", "mae", "rmse", "crps", "energy_score", "coverage", "width"}

// measure compares draws (missing cells, draws) with the cells of rows first to last − 1 that are
// observed in whole and hidden in t. Binary and nominal cells, and ordered cells:
//
//	accuracy   share of cells whose most frequent drawn level is true
//	log score  mean of −log((c + 1)/(m + K)) for c of m draws with the true one of K levels
//
// Numbers, in standard deviations of the column in whole; p is the mean of the draws:
//
//	mae, rmse     mean |p − x| and √(mean (p − x)²)
//	crps          mean of mean_k |X_k − x| − ½ mean_{k≠l} |X_k − X_l|
//	energy score  Σ_rows (mean_k ‖X_k − x‖ − ½ mean_{k≠l} ‖X_k − X_l‖) / cells, over the row's hidden cells
//	coverage      share of cells between the smallest and the largest draw; calibrated draws have
//	              (m − 1)/(m + 1), 90.5 % for 20
//	width         mean of largest − smallest draw
//
// The means over k ≠ l make expected scores independent of m (Gneiting and Raftery 2007, section
// 4.2). A single draw counts as a point.
func measure(whole, t *data.Table, draws [][]float64, first, last int) []string {
	_, scale := data.Standardise(mixed.Codes(whole))
	var nominal, ordered levelSums
	var number numberSums
	at := -1
	for i := range last {
		var truth []float64
		var drawn [][]float64
		for j := range t.D {
			k := i*t.D + j
			if t.Observed[k] {
				continue
			}
			if at++; !whole.Observed[k] || i < first {
				continue
			}
			switch levels := data.Coded(t, j); {
			case levels == nil:
				unit := scale.Deviation[j]
				truth = append(truth, whole.Values[k]/unit)
				drawn = append(drawn, floats.ScaleTo(make([]float64, len(draws[at])), 1/unit, draws[at]))
			case t.Kinds[j] == data.Ordered:
				ordered.add(int(whole.Values[k]), draws[at], len(levels))
			default:
				nominal.add(int(whole.Values[k]), draws[at], len(levels))
			}
		}
		number.add(truth, drawn)
	}
	many := len(draws[0]) > 1
	return slices.Concat(nominal.means(many), ordered.means(many), number.means(many))
}

type levelSums struct{ cells, right, score float64 }

func (s *levelSums) add(x int, draws []float64, levels int) {
	count := make([]float64, levels)
	for _, v := range draws {
		count[int(v)]++
	}
	s.cells++
	if slices.Index(count, slices.Max(count)) == x {
		s.right++
	}
	s.score -= math.Log((count[x] + 1) / float64(len(draws)+levels))
}

func (s *levelSums) means(many bool) []string {
	return []string{strconv.Itoa(int(s.cells)), share(s.right, s.cells, true), share(s.score, s.cells, many)}
}

type numberSums struct{ cells, distance, square, crps, energy, covered, width float64 }

// x (cells) and draws (cells, draws).
func (s *numberSums) add(x []float64, draws [][]float64) {
	for c, d := range draws {
		off, low, high := stat.Mean(d, nil)-x[c], slices.Min(d), slices.Max(d)
		s.cells++
		s.distance += math.Abs(off)
		s.square += off * off
		s.crps += energyScore(x[c:c+1], draws[c:c+1])
		s.width += high - low
		if low <= x[c] && x[c] <= high {
			s.covered++
		}
	}
	s.energy += energyScore(x, draws)
}

func (s *numberSums) means(many bool) []string {
	rmse := mixed.Unknown
	if s.cells > 0 {
		rmse = strconv.FormatFloat(math.Sqrt(s.square/s.cells), 'f', 5, 64)
	}
	return []string{strconv.Itoa(int(s.cells)), share(s.distance, s.cells, true), rmse, share(s.crps, s.cells, true),
		share(s.energy, s.cells, true), share(s.covered, s.cells, many), share(s.width, s.cells, many)}
}

// share returns mixed.Unknown if of is 0 or known is false.
func share(x, of float64, known bool) string {
	if of == 0 || !known {
		return mixed.Unknown
	}
	return strconv.FormatFloat(x/of, 'f', 5, 64)
}

// Draws (cells, draws) for x (cells); in one dimension the continuous ranked probability score.
func energyScore(x []float64, draws [][]float64) float64 {
	if len(x) == 0 {
		return 0
	}
	m := len(draws[0])
	far, apart := 0., 0.
	for k := range m {
		far += distance(draws, func(c int) float64 { return draws[c][k] - x[c] })
		for l := range k {
			apart += distance(draws, func(c int) float64 { return draws[c][k] - draws[c][l] })
		}
	}
	if m == 1 {
		return far
	}
	return far/float64(m) - apart/float64(m*(m-1)) // apart holds each of the m(m−1)/2 pairs once
}

func distance(cells [][]float64, gap func(c int) float64) float64 {
	square := 0.
	for c := range cells {
		square += gap(c) * gap(c)
	}
	return math.Sqrt(square)
}
