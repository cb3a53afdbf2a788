// Package scale measures seconds, memory and accuracy of paths for growing tables.
package scale

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/outside"
	"missingscore/data"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

var (
	//go:embed config.json
	config []byte
	//go:embed cglasso.R
	cglasso []byte
	//go:embed huge.R
	huge []byte
	//go:embed scikit.py
	scikit []byte
)

var peers = map[string]*outside.Program{
	"cglasso":      outside.R("cglasso.R", cglasso, "cglasso"),
	"huge":         outside.R("huge.R", huge, "huge"),
	"scikit-learn": outside.Python("scikit.py", scikit, "sklearn"),
}

var Experiment = harness.Experiment{
	Name: "scale", Title: "Seconds and memory as tables grow", Source: "benchmarks/README.md",
	Settings: config, Grid: harness.Of(grid),
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

// best_f1 is the highest F1 along the path, points the λ that were reached, edges the size of the
// last network, away the largest difference of a partial correlation from the limit, megabytes the
// growth of the resident set.
func grid(s settings, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key:   []string{"columns", "rows", "missing", "replicate", "method"},
		Value: []string{"auc", "best_f1", "points", "edges", "away", "seconds", "megabytes", "processors"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, z := range s.Sizes {
			for _, m := range s.Methods {
				if slices.Contains(z.Methods, m.Name) && (z.Replicates == 0 || replicate <= z.Replicates) {
					g.Add(func(ctx context.Context) ([]string, error) {
						values, err := s.run(ctx, z, m, uint64(replicate))
						return append(values, strconv.Itoa(runtime.GOMAXPROCS(0))), err
					}, z.Columns, z.Rows, z.Missing, replicate, m.Name)
				}
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
	m.Lambdas, m.Ratio = cmp.Or(m.Lambdas, s.Lambdas), cmp.Or(m.Ratio, z.Ratio, s.Ratio)
	if !z.Accuracy {
		m.Limit = nil
	}
	o := outcome{away: unknown}
	if m.Peer != "" {
		err = o.peer(ctx, m, standard)
	} else {
		err = o.own(ctx, m, standard, seed)
	}
	if err != nil {
		return nil, err
	}
	return o.judge(graphs.Edges(truth))
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

func (o *outcome) own(ctx context.Context, m method, t *data.Table, seed uint64) error {
	watch := watchMemory()
	start := time.Now()
	points, err := m.points(ctx, t, m.Stop, seed)
	if err != nil {
		return err
	}
	o.seconds, o.megabytes = time.Since(start).Seconds(), watch.megabytes()
	for _, p := range points {
		o.networks = append(o.networks, p.Adjacency(threshold))
	}
	if len(m.Limit) > 0 {
		limits, err := m.points(ctx, t, m.Limit, seed)
		if err != nil {
			return err
		}
		o.away = distance(t.D, points, limits)
	}
	return nil
}

func (m method) points(ctx context.Context, t *data.Table, stop []float64, seed uint64) ([]regpath.Point, error) {
	along := m.Path
	along.Whole = along.PathOnly // the AUC needs the whole path
	along.Lambdas = m.Lambdas
	along.LambdaMax = harness.LambdaMax(t)
	along.LambdaMin = along.LambdaMax / m.Ratio
	if len(stop) > 0 {
		along.StopTol = stop[0]
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
				most = max(most, math.Abs(one[i].PartialCorrelation(j, k)-other[i].PartialCorrelation(j, k)))
			}
		}
	}
	return strconv.FormatFloat(most, 'g', 3, 64)
}

func (o outcome) judge(truth network.Adjacency) ([]string, error) {
	auc, best, err := graphs.Recovery(truth, o.networks)
	last := 0
	if n := len(o.networks); n > 0 {
		last = o.networks[n-1].Count()
	}
	return []string{fmt.Sprintf("%.5f", auc), fmt.Sprintf("%.5f", best), strconv.Itoa(len(o.networks)), strconv.Itoa(last), o.away,
		fmt.Sprintf("%.3g", o.seconds), o.megabytes}, err
}

// peer runs a rival. Arguments: the number of λ, smallest over largest λ, the edge threshold,
// tolerances, and the limit's. Output: a line (seconds, megabytes, number of networks), a
// line (network, column, column) per edge, from 0, and with a limit the largest difference of a
// partial correlation from it.
func (o *outcome) peer(ctx context.Context, m method, t *data.Table) error {
	arguments := []string{strconv.Itoa(m.Lambdas)}
	for _, v := range slices.Concat([]float64{1 / m.Ratio, threshold}, m.Stop, m.Limit) {
		arguments = append(arguments, strconv.FormatFloat(v, 'g', -1, 64))
	}
	lines, printed, err := peers[m.Peer].Run(ctx, t, arguments...)
	if err != nil {
		return err
	}
	o.seconds, o.megabytes = lines[0][0], fmt.Sprintf("%.0f", lines[0][1])
	pairs := make([][][]float64, int(lines[0][2])) // by network
	for _, line := range lines[1:] {
		at := int(line[0])
		pairs[at] = append(pairs[at], line[1:])
	}
	for _, edges := range pairs {
		o.networks = append(o.networks, graphs.Joined(edges, t.D))
	}
	if len(m.Limit) > 0 {
		away, err := strconv.ParseFloat(strings.TrimSpace(printed), 64)
		if err != nil {
			return fmt.Errorf("the script printed %q, not the distance from the limit", printed)
		}
		o.away = strconv.FormatFloat(away, 'g', 3, 64)
	}
	return nil
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
	text, _ := os.ReadFile("/proc/self/status") // getrusage(2) starts with the parent's memory
	_, after, _ := strings.Cut("\n"+string(text), "\n"+line+":")
	number, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	kilobytes, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return -1
	}
	return kilobytes / 1024
}
