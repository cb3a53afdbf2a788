package scale

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/regpath"
)

// threshold of an edge for all methods, columns standardised: the program's default.
const threshold = 0.002

type outcome struct {
	networks  []network.Adjacency
	seconds   float64
	megabytes string // or unknown
	away      string // distance from the limit, or unknown
}

// run computes one cell without the column processors.
func (s settings) run(ctx context.Context, z size, m method, seed uint64) ([]string, error) {
	truth, t, err := z.simulate(seed)
	if err != nil {
		return nil, err
	}
	standard, _ := data.Standardise(t)
	if z.Ratio > 0 {
		s.Ratio = z.Ratio
	}
	setting.Default(&m.Lambdas, s.Lambdas)
	setting.Default(&m.Ratio, s.Ratio)
	s.Lambdas, s.Ratio = m.Lambdas, m.Ratio
	var o outcome
	if !z.Accuracy {
		m.Limit = nil
	}
	if m.Peer != "" {
		o, err = s.peer(ctx, m, standard)
	} else {
		o, err = s.own(ctx, m, standard, seed)
	}
	if err != nil {
		return nil, err
	}
	return o.judge(network.Threshold(truth.Precision, 1e-12))
}

// simulate draws a random network and a table with cells missing completely at random.
func (z size) simulate(seed uint64) (truth simulate.Gaussian, t *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	if truth, err = graphs.Random(z.Columns, rng); err != nil {
		return truth, nil, err
	}
	if t, err = truth.Sample(z.Rows, rng); err != nil {
		return truth, nil, err
	}
	if z.Missing > 0 {
		t, err = gaps.Law{Missing: z.Missing}.Hide(t, seed)
	}
	return truth, t, err
}

// own runs the path of this program.
func (s settings) own(ctx context.Context, m method, t *data.Table, seed uint64) (o outcome, err error) {
	o.away = unknown
	watch := watchMemory()
	start := time.Now()
	points, err := s.points(ctx, m, t, seed)
	if err != nil {
		return o, err
	}
	o.seconds, o.megabytes = time.Since(start).Seconds(), watch.megabytes()
	for _, p := range points {
		o.networks = append(o.networks, p.Adjacency(t.D, threshold))
	}
	if len(m.Limit) > 0 {
		m.Stop = m.Limit
		limits, err := s.points(ctx, m, t, seed)
		if err != nil {
			return o, err
		}
		o.away = distance(t.D, points, limits)
	}
	return o, nil
}

// points runs a path with tolerance m.Stop.
func (s settings) points(ctx context.Context, m method, t *data.Table, seed uint64) ([]regpath.Point, error) {
	along := m.Path
	along.Whole = along.PathOnly // the AUC needs the whole path
	along.Lambdas = s.Lambdas
	along.LambdaMax = regpath.LambdaMax(t, nil, domain.Weight{})
	along.LambdaMin = along.LambdaMax / s.Ratio
	if len(m.Stop) > 0 {
		along.StopTol = m.Stop[0]
	}
	spec := trainers.Spec{Steps: m.Fit, Network: &along}
	spec.Steps.Seed = seed
	r, err := trainers.Estimate(ctx, t, spec, trainers.Run{})
	if err != nil {
		return nil, err
	}
	return r.Network.Points, nil
}

// distance returns the largest difference of a partial correlation between two paths of d columns.
func distance(d int, one, other []regpath.Point) string {
	most := 0.0
	for i := range min(len(one), len(other)) {
		for j := range d {
			for k := j + 1; k < d; k++ {
				most = max(most, math.Abs(one[i].PartialCorrelation(d, j, k)-other[i].PartialCorrelation(d, j, k)))
			}
		}
	}
	return strconv.FormatFloat(most, 'g', 3, 64)
}

// judge compares a path with the truth.
func (o outcome) judge(truth network.Adjacency) ([]string, error) {
	var rates []network.Rate
	best := 0.0
	for _, found := range o.networks {
		rate, err := network.Compare(truth, found)
		if err != nil {
			return nil, err
		}
		rates, best = append(rates, rate), max(best, network.F1(truth, found))
	}
	last := 0
	if n := len(o.networks); n > 0 {
		last = o.networks[n-1].Count()
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 5, 64) }
	return []string{number(network.AUC(rates)), number(best), strconv.Itoa(len(o.networks)), strconv.Itoa(last), o.away,
		fmt.Sprintf("%.3g", o.seconds), o.megabytes}, nil
}
