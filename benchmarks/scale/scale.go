// Package scale measures seconds, memory and accuracy of paths for growing tables.
package scale

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/memory"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

//go:embed config.json
var config []byte

var Experiment = harness.Experiment{
	Name: "scale", Title: "Seconds and memory as tables grow", Source: "benchmarks/README.md",
	Settings: config, Grid: grid,
}

type settings struct {
	Replicates int      `json:"replicates"`
	Lambdas    int      `json:"lambdas"` // for each path
	Ratio      float64  `json:"ratio"`   // largest over smallest λ
	Sizes      []size   `json:"sizes"`
	Methods    []method `json:"methods"`
	Ours       []string `json:"ours"`
}

type size struct {
	Columns    int      `json:"columns"`
	Rows       int      `json:"rows"`
	Missing    float64  `json:"missing"` // share of the cells, MCAR
	Ratio      float64  `json:"ratio"`   // largest over smallest λ; 0: settings.Ratio
	Methods    []string `json:"methods"`
	Replicates int      `json:"replicates"` // maximum; 0: all
	Accuracy   bool     `json:"accuracy"`   // also measure the distance of paths from their limits
}

// method is an estimator of this program, or the rival Peer.
type method struct {
	Name string         `json:"name"`
	Peer string         `json:"peer"`
	Fit  engine.Config  `json:"fit"`
	Path regpath.Config `json:"path"`

	Stop  []float64 `json:"stop"`  // tolerances: stop_tol of ours (empty: the default), thr.em and thr.bcd of cglasso
	Limit []float64 `json:"limit"` // tolerances of the converged path, for accuracy

	Lambdas int     `json:"lambdas"` // 0: settings.Lambdas
	Ratio   float64 `json:"ratio"`   // 0: settings.Ratio
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, m := range s.Methods {
		if m.Peer != "" && peers[m.Peer] == nil {
			return s, fmt.Errorf("settings: there is no peer %q", m.Peer)
		}
	}
	for _, z := range s.Sizes {
		for _, name := range z.Methods {
			if !slices.ContainsFunc(s.Methods, func(m method) bool { return m.Name == name }) {
				return s, fmt.Errorf("settings: there is no method %q", name)
			}
		}
	}
	return s, nil
}

// best_f1 is the highest F1 along the path, points the λ that were reached, edges the size of the
// last network, away the largest difference of a partial correlation from the limit, megabytes the
// growth of the resident set.
func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{"columns", "rows", "missing", "replicate", "method"},
		Value: []string{"auc", "best_f1", "points", "edges", "away", "seconds", "megabytes", "processors"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, z := range s.Sizes {
			if z.Replicates > 0 && replicate > z.Replicates {
				continue
			}
			for _, m := range s.Methods {
				if !slices.Contains(z.Methods, m.Name) {
					continue
				}
				g.Cells = append(g.Cells, cells.Cell{
					Key: []string{strconv.Itoa(z.Columns), strconv.Itoa(z.Rows), strconv.FormatFloat(z.Missing, 'g', -1, 64), strconv.Itoa(replicate), m.Name},
					Run: func(ctx context.Context) ([]string, error) {
						values, err := s.run(ctx, z, m, uint64(replicate))
						return append(values, strconv.Itoa(runtime.GOMAXPROCS(0))), err
					},
				})
			}
		}
	}
	return g, nil
}

// threshold is the program's default, columns standardised.
const threshold = 0.002

type outcome struct {
	networks  []network.Adjacency
	seconds   float64
	megabytes string // or unknown
	away      string // distance from the limit, or unknown
}

// Without the column processors.
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

// With tolerance m.Stop.
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
	r, err := harness.Estimate(ctx, t, spec, trainers.Run{})
	if err != nil {
		return nil, err
	}
	return r.Network.Points, nil
}

// distance returns the largest difference of a partial correlation.
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

// watch holds the resident megabytes at the start; −1: unknown.
type watch struct{ before float64 }

// On Linux it resets the peak of the resident set (proc_pid_clear_refs(5)). Concurrent cells count
// too.
func watchMemory() watch {
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		return watch{before: -1}
	}
	return watch{before: resident("VmRSS")}
}

// megabytes returns "-" if the system does not report it.
func (w watch) megabytes() string {
	most := resident("VmHWM")
	if w.before < 0 || most < 0 {
		return unknown
	}
	return fmt.Sprintf("%.0f", most-w.before)
}

const unknown = "-"

// resident returns a line of /proc/self/status in megabytes; −1 if there is none.
func resident(line string) float64 {
	bytes, ok := memory.Resident("self", line)
	if !ok {
		return -1
	}
	return bytes / (1 << 20)
}
