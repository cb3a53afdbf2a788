package networks

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/outside"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

//go:embed weak.json
var weakConfig []byte

//go:embed mantar.R
var mantarScript []byte

//go:embed questionnaire.R
var questionnaireScript []byte

var (
	mantar        = outside.R("mantar.R", mantarScript, "mantar")
	questionnaire = outside.R("questionnaire.R", questionnaireScript, "psychTools")
)

// Weak has partial correlations from 0.08 to 0.35 of both signs, as questionnaires have, beside R's
// mantar. Replicates go through pairs of graph and law in turn.
var Weak = harness.Experiment{
	Name: "weak", Title: "Networks of weak edges, beside mantar", Source: "benchmarks/README.md",
	Settings: weakConfig, Grid: harness.Of(weakGrid),
}

type weakSettings struct {
	Replicates int          `json:"replicates"`
	Graphs     []string     `json:"graphs"` // see weakTruth
	Laws       []gaps.Law   `json:"laws"`   // of graphs; a questionnaire keeps the gaps that it has
	Tables     []weakTable  `json:"tables"`
	Methods    []weakMethod `json:"methods"`
	Ours       []string     `json:"ours"`
}

type weakTable struct {
	Of      string   `json:"of"`      // "graphs" or a questionnaire
	Columns []int    `json:"columns"` // of graphs
	Rows    []int    `json:"rows"`
	Methods []string `json:"methods"`
}

// weakMethod is this program, or a function of mantar on the covariance of maximum likelihood
// (two-step EM).
type weakMethod struct {
	Name    string          `json:"name"`
	Mantar  string          `json:"mantar,omitempty"` // neighborhood, glasso or atan; "": this program
	Network *regpath.Config `json:"network,omitempty"`
}

func weakGrid(s weakSettings, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key:   []string{"table", "rows", "replicate", "method"},
		Value: []string{"f1", "mcc", "fdr", "tpr", "edge_error", "pair_error", "edges", "seconds"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, table := range s.Tables {
			if table.Of != "graphs" {
				s.add(&g, table, table.Of, 0, replicate)
			}
			for _, d := range table.Columns {
				s.add(&g, table, strconv.Itoa(d)+" columns", d, replicate)
			}
		}
	}
	return g, nil
}

func (s weakSettings) add(g *harness.Grid, table weakTable, name string, d, replicate int) {
	for _, rows := range table.Rows {
		for _, m := range s.Methods {
			if slices.Contains(table.Methods, m.Name) {
				g.Add(func(ctx context.Context) ([]string, error) {
					truth, t, err := s.draw(ctx, table.Of, d, rows, replicate)
					if err != nil {
						return nil, err
					}
					return m.judged(ctx, truth, t)
				}, name, rows, replicate, m.Name)
			}
		}
	}
}

func (s weakSettings) draw(ctx context.Context, of string, d, rows, replicate int) (truth simulate.Gaussian, t *data.Table, err error) {
	seed := uint64(replicate)
	rng := stream.New(seed, stream.Simulate)
	if of == "graphs" {
		truth, err = weakTruth(s.Graphs[(replicate-1)%len(s.Graphs)], d, rng)
		if err != nil {
			return truth, nil, err
		}
		if t, err = truth.Sample(rows, rng); err != nil {
			return truth, nil, err
		}
		t, err = s.Laws[(replicate-1)%len(s.Laws)].Hide(t, seed)
		return truth, t, err
	}
	real, err := questionnaireTable(ctx, of)
	if err != nil {
		return truth, nil, err
	}
	if truth, err = fittedTruth(ctx, real); err != nil {
		return truth, nil, err
	}
	if t, err = truth.Sample(rows, rng); err != nil {
		return truth, nil, err
	}
	for i := range rows {
		row := rng.IntN(real.N)
		copy(t.Observed[i*t.D:(i+1)*t.D], real.Observed[row*t.D:(row+1)*t.D])
	}
	t, err = data.NewTable(t.Names, t.Values, t.Observed)
	return truth, t, err
}

// weakTruth has partial correlations uniform in [0.08, 0.35] with random signs, shrunk by one
// factor where an eigenvalue of P is below 0.1: random, a pair with probability min(3/(d−1), ½);
// dense, min(6/(d−1), ½); small-world (Watts & Strogatz 1998), a ring of the four nearest, a tenth
// moved; hub, groups of ten; chain.
func weakTruth(kind string, d int, rng *rand.Rand) (simulate.Gaussian, error) {
	p := mat.NewSymDense(d, nil)
	join := func(j, k int) {
		if j != k && p.At(j, k) == 0 {
			p.SetSym(j, k, math.Copysign(0.08+0.27*rng.Float64(), rng.Float64()-0.5))
		}
	}
	weakPairs(kind, d, rng, join)
	var eigen mat.EigenSym
	if !eigen.Factorize(p, false) {
		return simulate.Gaussian{}, fmt.Errorf("the eigenvalues of a graph of %d columns did not converge", d)
	}
	p.ScaleSym(min(1, 0.9/-eigen.Values(nil)[0]), p)
	for j := range d {
		p.SetSym(j, j, 1)
	}
	return simulate.Gaussian{Mean: make([]float64, d), Precision: p}, nil
}

func weakPairs(kind string, d int, rng *rand.Rand, join func(j, k int)) {
	switch kind {
	case "random", "dense":
		degree := map[string]float64{"random": 3, "dense": 6}[kind]
		for j := range d {
			for k := range j {
				if rng.Float64() < min(degree/float64(d-1), 0.5) {
					join(j, k)
				}
			}
		}
		join(0, 1) // one edge at least
	case "small-world":
		reach := 2
		if d < 10 {
			reach = 1
		}
		for j := range d {
			for step := 1; step <= reach; step++ {
				to := (j + step) % d
				if rng.Float64() < 0.1 {
					to = rng.IntN(d)
				}
				join(j, to)
			}
		}
	case "hub":
		for j := range d {
			join(j/10*10, j)
		}
	case "chain":
		for j := range d - 1 {
			join(j, j+1)
		}
	}
}

var questionnaires = harness.NewRecentCache[string, *data.Table](4)

func questionnaireTable(ctx context.Context, name string) (*data.Table, error) {
	return questionnaires.Get(name, func() (*data.Table, error) {
		empty, err := data.NewTable([]string{"a"}, []float64{0, 1}, nil)
		if err != nil {
			return nil, err
		}
		lines, _, err := questionnaire.Run(ctx, empty, name)
		if err != nil {
			return nil, err
		}
		var names []string
		for j := range lines[0] {
			names = append(names, fmt.Sprintf("v%d", j+1))
		}
		values := slices.Concat(lines...)
		observed := make([]bool, len(values))
		for i, v := range values {
			if observed[i] = !math.IsNaN(v); !observed[i] {
				values[i] = 0
			}
		}
		return data.NewTable(names, values, observed)
	})
}

// leastEdge is the least partial correlation of an edge of the truth.
const leastEdge = 0.06

// fittedTruth returns maximum likelihood of a real table, columns standardised, without pairs
// below leastEdge.
func fittedTruth(ctx context.Context, real *data.Table) (simulate.Gaussian, error) {
	standard, _ := data.Standardise(real)
	g, err := emglasso.Saturated(ctx, standard, 200, 1e-4)
	if err != nil {
		return g, err
	}
	p := mat.NewSymDense(real.D, nil)
	for j := range real.D {
		p.SetSym(j, j, 1)
		for k := range j {
			if r := network.PartialCorrelation(g.Precision, j, k); math.Abs(r) >= leastEdge {
				p.SetSym(j, k, -r)
			}
		}
	}
	return simulate.Gaussian{Mean: make([]float64, real.D), Precision: p}, nil
}

func (m weakMethod) judged(ctx context.Context, truth simulate.Gaussian, t *data.Table) ([]string, error) {
	start := time.Now()
	fit := m.program
	if m.Mantar != "" {
		fit = m.mantar
	}
	found, err := fit(ctx, t)
	if err != nil {
		return nil, err
	}
	values := weakMeasures(network.PartialCorrelations(truth.Precision), found)
	return append(values, fmt.Sprintf("%.2f", time.Since(start).Seconds())), nil
}

// weakMeasures returns F1, Matthews' correlation coefficient, false discovery rate (0 without an
// edge), true positive rate, mean absolute error over the true edges and over all pairs, and the
// number of edges.
func weakMeasures(truth, found []float64) (values []string) {
	var count [2][2]float64 // true, found
	var edges, pairs float64
	for i, r := range truth {
		a, b := 0, 0
		if math.Abs(r) > 1e-9 {
			a = 1
			edges += math.Abs(found[i] - r)
		}
		if found[i] != 0 {
			b = 1
		}
		count[a][b]++
		pairs += math.Abs(found[i] - r)
	}
	tn, fp, fn, tp := count[0][0], count[0][1], count[1][0], count[1][1]
	mcc := 0.
	if all := (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn); all > 0 {
		mcc = (tp*tn - fp*fn) / math.Sqrt(all)
	}
	for _, v := range []float64{2 * tp / (2*tp + fp + fn), mcc, fp / max(1, tp+fp), tp / (tp + fn), edges / (tp + fn), pairs / float64(len(truth))} {
		values = append(values, strconv.FormatFloat(v, 'f', 5, 64))
	}
	return append(values, strconv.Itoa(int(tp+fp)))
}

func (m weakMethod) program(ctx context.Context, t *data.Table) ([]float64, error) {
	var along regpath.Config
	if m.Network != nil {
		along = *m.Network
	}
	r, err := trainers.Estimate(ctx, t, trainers.Spec{Steps: engine.Config{Seed: 1, Workers: 1}, Network: &along}, trainers.Run{})
	if err != nil {
		return nil, err
	}
	return network.PartialCorrelations(graphs.Chosen(r.Network)), nil
}

// mantar starts from the correlations of maximum likelihood, as by lavaan, which mantar calls.
func (m weakMethod) mantar(ctx context.Context, t *data.Table) ([]float64, error) {
	standard, _ := data.Standardise(t)
	g, err := emglasso.Saturated(ctx, standard, 500, 1e-4)
	if err != nil {
		return nil, err
	}
	var s mat.Dense
	if err := s.Inverse(g.Precision); err != nil {
		return nil, err
	}
	moments, err := data.NewTable(t.Names, s.RawMatrix().Data, nil)
	if err != nil {
		return nil, err
	}
	pairs, columns := 0, make([]int, t.D)
	for i := range t.N {
		seen := 0
		for j := range t.D {
			if t.Observed[i*t.D+j] {
				columns[j]++
				seen++
			}
		}
		pairs += seen * seen
	}
	arguments := []string{m.Mantar, strconv.FormatFloat(float64(pairs)/float64(t.D*t.D), 'g', -1, 64)}
	for _, n := range columns {
		arguments = append(arguments, strconv.Itoa(n))
	}
	lines, _, err := mantar.Run(ctx, moments, arguments...)
	if err != nil {
		return nil, err
	}
	return network.PartialCorrelations(graph.Unpack(t.D, lines[0])), nil
}
