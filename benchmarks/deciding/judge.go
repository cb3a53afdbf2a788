package deciding

import (
	"math"
	"strconv"

	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/trainers"
)

// judge compares a path and the network chosen of it with the truth: the columns from AUC on.
func judge(truth simulate.Gaussian, r *trainers.NetworkResult) ([]string, error) {
	want := network.Threshold(truth.Precision, 1e-12)
	rates, err := r.Rates(want)
	if err != nil {
		return nil, err
	}
	c := count(want, r.Adjacency)
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', 5, 64) }
	taken := r.Penalty.Kind
	if r.Penalty.Alpha > 0 {
		taken += " " + strconv.FormatFloat(r.Penalty.Alpha, 'g', -1, 64)
	}
	return []string{text(network.AUC(rates)), text(c.f1()), text(c.mcc()), text(c.fdr()), strconv.Itoa(r.Adjacency.Count()), taken}, nil
}

// counts of pairs: edges found, false ones, edges missed, pairs rightly left out.
type counts struct{ hits, alarms, misses, rest float64 }

func count(want, found network.Adjacency) (c counts) {
	for i, edge := range want.Edge {
		switch {
		case edge && found.Edge[i]:
			c.hits++
		case edge:
			c.misses++
		case found.Edge[i]:
			c.alarms++
		default:
			c.rest++
		}
	}
	return c
}

// f1 is 2 hits / (2 hits + alarms + misses); 0 where there is nothing.
func (c counts) f1() float64 { return 2 * c.hits / max(1, 2*c.hits+c.alarms+c.misses) }

// fdr is the share of alarms among the edges found; 0 where there are none.
func (c counts) fdr() float64 { return c.alarms / max(1, c.hits+c.alarms) }

// mcc is Matthews's correlation of truth and estimate; 0 where either is constant.
func (c counts) mcc() float64 {
	product := (c.hits + c.alarms) * (c.hits + c.misses) * (c.rest + c.alarms) * (c.rest + c.misses)
	if product == 0 {
		return 0
	}
	return (c.hits*c.rest - c.alarms*c.misses) / math.Sqrt(product)
}
