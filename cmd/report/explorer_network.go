package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"missingscore/cmd/picture"
	"missingscore/data/network"
	"missingscore/internal/printable"
	"missingscore/trainers"
)

// mostValues is how many numbers of the path a page has; of more, λ are left out.
const mostValues = 120_000

// explore is the explorer of a result: its edges, and the pairs that are one elsewhere on the
// path, the strongest first, up to mostPairs.
func explore(r *trainers.NetworkResult, s *picture.Scene, file string, level float64) (*explorer, error) {
	x := newExplorer(r.Names, s, "")
	x.File, x.Level = printable.Text(file), math.Round(1000*level)/10
	ends, err := r.Network.Places()
	if err != nil {
		return nil, err
	}
	for i, e := range r.Network.Edges[:min(len(r.Network.Edges), mostPairs)] {
		x.add(min(ends[i][0], ends[i][1]), max(ends[i][0], ends[i][1]), e.Uncertainty, e.PartialCorrelation)
	}
	if more := len(r.Network.Edges) - mostPairs; more > 0 {
		x.Left += fmt.Sprintf(" The %d strongest edges are here; %d more are in edges.csv.", mostPairs, more)
	}
	known := map[[2]string]*network.Uncertainty{}
	for _, e := range r.Network.Pairs {
		known[[2]string{e.From, e.To}] = e.Uncertainty
	}
	for _, pair := range alongPath(r) {
		if len(x.From) == mostPairs {
			break
		}
		x.add(pair[0], pair[1], known[[2]string{r.Names[pair[0]], r.Names[pair[1]]}], 0)
	}
	x.takePath(r)
	x.finish()
	return x, nil
}

// alongPath are the pairs that are an edge somewhere on the path, the largest first.
func alongPath(r *trainers.NetworkResult) [][2]int {
	d, largest := len(r.Names), map[[2]int]float64{}
	for _, p := range r.Points {
		p.EachEdge(d, r.Threshold, func(j, k int) {
			pair := [2]int{j, k}
			largest[pair] = max(largest[pair], math.Abs(p.PartialCorrelation(d, j, k)))
		})
	}
	return slices.SortedFunc(maps.Keys(largest), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(largest[b], largest[a]), slices.Compare(a[:], b[:]))
	})
}

// takePath takes the partial correlations of the explorer's pairs at each λ or, where these are
// too many, at each second, third, …, the chosen one among them.
func (x *explorer) takePath(r *trainers.NetworkResult) {
	if len(r.Points) < 2 {
		return
	}
	total := 0
	for _, p := range r.Points {
		total += min(p.Edges, len(x.From))
	}
	stride := 1 + total/mostValues
	x.Path = make([][]int, len(x.From))
	for i := r.Chosen % stride; i < len(r.Points); i += stride {
		if i == r.Chosen {
			x.Chosen = len(x.Lambdas)
		}
		x.takePoint(r, i)
	}
	x.Along = "Partial correlations along the path from the largest λ; the dashed line is the λ that the picture shows. A click shows another."
	switch {
	case r.Choice != "":
		x.Along += " The network's edges are of no single λ and have sizes fitted without a penalty; the λ that stands for it is the one whose network is nearest to the chosen edges."
	default:
		x.Along += " Sizes along the path are shrunken by its penalty."
	}
	if stride > 1 {
		x.Along += fmt.Sprintf(" It has one of %d λ; path.csv has all.", stride)
	}
}

// takePoint takes one λ.
func (x *explorer) takePoint(r *trainers.NetworkResult, point int) {
	p, d, place := r.Points[point], len(r.Names), len(x.Lambdas)
	x.Lambdas = append(x.Lambdas, p.Lambda)
	p.EachEdge(d, r.Threshold, func(j, k int) {
		i, ok := x.at[[2]int{j, k}]
		if !ok {
			return
		}
		thousandths := int(math.Round(1000 * p.PartialCorrelation(d, j, k)))
		if x.Path[i] == nil {
			x.Path[i] = []int{place}
		}
		for len(x.Path[i]) < 1+place-x.Path[i][0] { // it left and comes again
			x.Path[i] = append(x.Path[i], 0)
		}
		x.Path[i] = append(x.Path[i], thousandths)
	})
}
