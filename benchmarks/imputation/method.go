package imputation

import (
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/mixed"
	"missingscore/benchmarks/outside"
	"missingscore/data"
)

//go:embed impute.R
var rScript []byte

//go:embed impute.py
var pythonScript []byte

//go:embed missdiff.py
var missdiffScript []byte

var scripts = map[string]*outside.Program{
	"r":        outside.R("impute.R", rScript, "mice", "ranger"),
	"python":   outside.Python("impute.py", pythonScript, "sklearn", "numpy"),
	"missdiff": outside.Python("missdiff.py", missdiffScript, "torch", "numpy"),
}

// method is missingscore impute with arguments, or a method of a script.
type method struct {
	Name       string   `json:"name"`
	Script     []string `json:"script"`     // key of scripts, method of the script; null: missingscore
	Arguments  []string `json:"arguments"`  // of missingscore impute
	Tables     []string `json:"tables"`     // null: all
	Laws       []string `json:"laws"`       // null: all
	Replicates int      `json:"replicates"` // at most; 0: all
}

// byScript returns draws (missing cells, draws), the printed seconds and the version.
func (m method) byScript(ctx context.Context, t *data.Table, train, draws int, seed uint64) (filled [][]float64, spent, version string, err error) {
	p := scripts[m.Script[0]]
	if p == nil || len(m.Script) != 2 {
		return nil, "", "", fmt.Errorf("settings: method %q: there is no script %q", m.Name, m.Script)
	}
	if version, err = p.Version(); err != nil {
		return nil, "", "", err
	}
	filled, printed, err := p.Run(ctx, mixed.Codes(t), strings.Join(mixed.Kinds(t), ","), m.Script[1], strconv.Itoa(train), strconv.Itoa(draws), strconv.FormatUint(seed, 10))
	return filled, strings.TrimSpace(printed), version, err
}

// byProgram fits the first train rows and imputes the others with the kept model; refused rows have
// missing draws.
func (m method) byProgram(ctx context.Context, t *data.Table, train, draws int, seed uint64) (filled [][]float64, spent, version string, err error) {
	if version, err = mixed.Version(); err != nil {
		return nil, "", "", err
	}
	dir, err := os.MkdirTemp("", "imputation")
	if err != nil {
		return nil, "", "", err
	}
	defer os.RemoveAll(dir)
	var seconds float64
	impute := func(first, last int, arguments ...string) error {
		some := rows(t, numbers(first, last))
		table, out := filepath.Join(dir, "table.csv"), filepath.Join(dir, "completed.csv")
		if err := mixed.Write(table, some); err != nil {
			return err
		}
		spent, err := mixed.Run(ctx, slices.Concat([]string{"impute"}, arguments, []string{table, "--out", out, "--draws", strconv.Itoa(draws), "--seed", strconv.FormatUint(seed, 10)})...)
		if err != nil {
			return err
		}
		seconds += spent
		more, err := readDraws(out, some, draws)
		filled = append(filled, more...)
		return err
	}
	model := filepath.Join(dir, "model.json")
	arguments := m.Arguments
	if train < t.N {
		arguments = slices.Concat(arguments, []string{"--model-out", model})
	}
	if err = impute(0, train, arguments...); err == nil && train < t.N {
		if refused := impute(train, t.N, model); refused != nil {
			fmt.Fprintf(os.Stderr, "%s, out of sample: %v\n", m.Name, refused)
		}
	}
	return filled, fmt.Sprintf("%.2f", seconds), version, err
}

// readDraws reads mice's long format: .imp is the draw, .id the row, both from 1.
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

func valueOf(cell string, levels []string) (float64, bool) {
	if levels != nil {
		place := slices.Index(levels, cell)
		return float64(place), place >= 0
	}
	x, err := strconv.ParseFloat(cell, 64)
	return x, err == nil
}
