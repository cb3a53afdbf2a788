package mixed

import (
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/outside"
	"missingscore/data"
)

//go:embed imputation.json
var imputationSettings []byte

//go:embed impute.R
var imputeScript []byte

//go:embed tables.R
var tablesScript []byte

var (
	imputer = outside.R("impute.R", imputeScript, "mice", "ranger")
	rTables = outside.R("tables.R", tablesScript, "mice", "psych")
)

var Imputation = harness.Experiment{
	Name: "mixed-imputation", Title: "Imputations of mixed tables", Source: "benchmarks/README.md",
	Settings: imputationSettings, Grid: imputationGrid,
}

type imputationConfig struct {
	Replicates int                `json:"replicates"`
	Tables     []source           `json:"tables"`
	Laws       []gaps.Law         `json:"laws"`
	Draws      int                `json:"draws"`
	Methods    []imputationMethod `json:"methods"`
	Ours       []string           `json:"ours"`
}

// source is a table of an R package or, with Design, a simulated table for each replicate.
type source struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // empty: all
	Factors []string `json:"factors"` // numeric columns that hold levels
	Rows    int      `json:"rows"`    // number of rows, drawn once; 0: all
	Design  *design  `json:"design"`
}

// imputationMethod is missingscore impute, or the method R of impute.R.
type imputationMethod struct {
	Name      string   `json:"name"`
	R         string   `json:"r"`
	Arguments []string `json:"arguments"` // of missingscore impute
}

func imputationGrid(text json.RawMessage, replicates int) (cells.Grid, error) {
	var s imputationConfig
	if err := harness.Decode(text, &s); err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key: []string{"table", "law", "replicate", "method"},
		Value: []string{"nominal_cells", "nominal_accuracy", "nominal_log_score", "ordered_cells", "ordered_accuracy", "ordered_log_score",
			"number_cells", "rmse", "crps", "coverage", "seconds", "version"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, from := range s.Tables {
			for _, law := range s.Laws {
				for _, m := range s.Methods {
					g.Cells = append(g.Cells, cells.Cell{
						Key: []string{from.Name, law.Name, strconv.Itoa(replicate), m.Name},
						Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, from, law, m, uint64(replicate)) },
					})
				}
			}
		}
	}
	return g, nil
}

// kept caches tables of R packages.
var kept = harness.NewRecentCache[string, *data.Table](20)

// table returns the table of a replicate before cells are hidden.
func (s source) table(ctx context.Context, seed uint64) (*data.Table, error) {
	if s.Design != nil {
		_, t, err := s.Design.simulate(seed)
		return t, err
	}
	return kept.Get(fmt.Sprint(s), func() (*data.Table, error) { return s.read(ctx) })
}

// read reads a table of an R package.
func (s source) read(ctx context.Context) (*data.Table, error) {
	none := &data.Table{Names: []string{"none"}, N: 1, D: 1, Values: []float64{0}, Observed: []bool{true}}
	lines, printed, err := rTables.Run(ctx, none, s.Name, strings.Join(s.Columns, ","), strings.Join(s.Factors, ","), strconv.Itoa(s.Rows))
	if err != nil {
		return nil, err
	}
	t := &data.Table{N: len(lines)}
	for line := range strings.Lines(printed) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		t.Names, t.Kinds, t.Levels = append(t.Names, fields[0]), append(t.Kinds, data.Kind(fields[1])), append(t.Levels, fields[2:])
		if len(fields) == 2 {
			t.Levels[t.D] = nil
		}
		t.D++
	}
	for _, line := range lines {
		for _, x := range line {
			t.Values, t.Observed = append(t.Values, x), append(t.Observed, !math.IsNaN(x))
		}
	}
	return t, nil
}

// run computes one cell.
func (s imputationConfig) run(ctx context.Context, from source, law gaps.Law, m imputationMethod, seed uint64) ([]string, error) {
	whole, err := from.table(ctx, seed)
	if err != nil {
		return nil, err
	}
	t, err := hide(law, whole, seed)
	if err != nil {
		return nil, err
	}
	fill := m.byProgram
	if m.R != "" {
		fill = m.byR
	}
	draws, spent, version, err := fill(ctx, t, s.Draws, seed)
	if err != nil {
		return nil, err
	}
	if len(draws) != t.Missing() {
		return nil, fmt.Errorf("%s imputed %d of %d cells", m.Name, len(draws), t.Missing())
	}
	return append(measure(whole, t, draws), spent, version), nil
}

// byR returns the draws of impute.R, (missing cells, draws).
func (m imputationMethod) byR(ctx context.Context, t *data.Table, draws int, seed uint64) (filled [][]float64, spent, version string, err error) {
	if version, err = imputer.Version(); err != nil {
		return nil, "", "", err
	}
	filled, printed, err := imputer.Run(ctx, codes(t), strings.Join(kinds(t), ","), m.R, strconv.Itoa(draws), strconv.FormatUint(seed, 10))
	return filled, strings.TrimSpace(printed), version, err
}

// byProgram returns the draws of missingscore impute.
func (m imputationMethod) byProgram(ctx context.Context, t *data.Table, draws int, seed uint64) (filled [][]float64, spent, version string, err error) {
	if version, err = program(); err != nil {
		return nil, "", "", err
	}
	dir, err := os.MkdirTemp("", "mixed")
	if err != nil {
		return nil, "", "", err
	}
	defer os.RemoveAll(dir)
	table, out := filepath.Join(dir, "table.csv"), filepath.Join(dir, "completed.csv")
	if err := write(table, t); err != nil {
		return nil, "", "", err
	}
	arguments := slices.Concat([]string{"impute", table, "--out", out, "--draws", strconv.Itoa(draws), "--seed", strconv.FormatUint(seed, 10)}, m.Arguments)
	o, err := runToEnd(ctx, arguments...)
	if err != nil {
		return nil, "", "", err
	}
	filled, err = readDraws(out, t, draws)
	return filled, seconds(o.seconds), version, err
}

// readDraws reads draws of the missing cells of t, (missing cells, draws), from mice's long format: .imp
// is the draw, .id the row, both from 1.
func readDraws(path string, t *data.Table, draws int) (filled [][]float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	at := map[int]int{} // index of a cell among the missing cells
	for k, seen := range t.Observed {
		if !seen {
			at[k] = len(filled)
			filled = append(filled, slices.Repeat([]float64{math.NaN()}, draws))
		}
	}
	places := make([]int, t.D)
	for j, name := range t.Names {
		if places[j] = slices.Index(lines[0], name); places[j] < 0 {
			return nil, fmt.Errorf("%s has no column %s", path, name)
		}
	}
	for _, line := range lines[1:] {
		draw, errDraw := strconv.Atoi(line[0])
		row, errRow := strconv.Atoi(line[1])
		if errDraw != nil || errRow != nil || draw > draws || row < 1 || row > t.N {
			return nil, fmt.Errorf("%s: draw %s of row %s", path, line[0], line[1])
		}
		for j := range t.D {
			k := (row-1)*t.D + j
			if draw == 0 || t.Observed[k] {
				continue
			}
			x, ok := valueOf(line[places[j]], data.Coded(t, j))
			if !ok {
				return nil, fmt.Errorf("%s: column %s has %q in row %d of draw %d", path, t.Names[j], line[places[j]], row, draw)
			}
			filled[at[k]][draw-1] = x
		}
	}
	return filled, nil
}

// valueOf returns the number in a cell, or the index of its level.
func valueOf(cell string, levels []string) (float64, bool) {
	if levels != nil {
		place := slices.Index(levels, cell)
		return float64(place), place >= 0
	}
	x, err := strconv.ParseFloat(cell, 64)
	return x, err == nil
}

// measure compares draws (missing cells, draws) with the cells observed in whole and hidden in t:
//
//	accuracy   share of cells whose most frequent drawn level is true
//	log score  mean of −log((c + 1)/(m + K)) for c of m draws with the true one of K levels
//	rmse       root mean square of mean draw − x, in standard deviations of the column
//	crps       mean of mean_k |X_k − x| − ½ mean_{k≠l} |X_k − X_l|, in standard deviations
//	           (Gneiting and Raftery 2007)
//	coverage   share of cells between the smallest and the largest draw; calibrated draws have
//	           (m − 1)/(m + 1), 90.5 % for 20
//
// Groups: binary and nominal cells, ordered cells, numbers. A single draw has accuracy and rmse only.
func measure(whole, t *data.Table, draws [][]float64) []string {
	_, scale := data.Standardise(codes(whole))
	var levels [2]struct{ cells, right, score float64 }
	var number struct{ cells, square, crps, covered float64 }
	m := len(draws[0])
	at := -1
	for k, seen := range t.Observed {
		if seen {
			continue
		}
		if at++; !whole.Observed[k] {
			continue
		}
		j, x, d := k%t.D, whole.Values[k], draws[at]
		if names := data.Coded(t, j); names != nil {
			count := make([]float64, len(names))
			for _, v := range d {
				count[int(v)]++
			}
			group := &levels[0]
			if t.Kinds[j] == data.Ordered {
				group = &levels[1]
			}
			group.cells++
			if slices.Index(count, slices.Max(count)) == int(x) {
				group.right++
			}
			group.score -= math.Log((count[int(x)] + 1) / float64(m+len(names)))
			continue
		}
		unit := scale.Deviation[j]
		number.cells++
		number.square += math.Pow((stat.Mean(d, nil)-x)/unit, 2)
		number.crps += crps(x, d) / unit
		if slices.Min(d) <= x && x <= slices.Max(d) {
			number.covered++
		}
	}
	var out []string
	for _, g := range levels {
		out = append(out, strconv.Itoa(int(g.cells)), share(g.right, g.cells, true), share(g.score, g.cells, m > 1))
	}
	rmse := unknown
	if number.cells > 0 {
		rmse = strconv.FormatFloat(math.Sqrt(number.square/number.cells), 'f', 5, 64)
	}
	return append(out, strconv.Itoa(int(number.cells)), rmse, share(number.crps, number.cells, m > 1), share(number.covered, number.cells, m > 1))
}

func crps(x float64, draws []float64) float64 {
	far, apart := 0., 0.
	m := float64(len(draws))
	for a, v := range draws {
		far += math.Abs(v-x) / m
		for _, w := range draws[:a] {
			apart += math.Abs(v-w) / (m * (m - 1))
		}
	}
	return far - apart
}

// share formats x/of; unknown if of is 0 or drawn is false.
func share(x, of float64, drawn bool) string {
	if of == 0 || !drawn {
		return unknown
	}
	return strconv.FormatFloat(x/of, 'f', 5, 64)
}
