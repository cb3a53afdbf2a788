package imputation

import (
	"context"
	_ "embed"
	"fmt"
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
	if version, err = p.Version(); err != nil {
		return nil, "", "", err
	}
	filled, printed, err := p.Run(ctx, t, mixed.Kinds(t), m.Script[1], strconv.Itoa(train), strconv.Itoa(draws), strconv.FormatUint(seed, 10))
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
		more, err := readDraws(out, some)
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

// readDraws reads mice's long format: .imp is the draw, .id the row, both from 1; then the table.
func readDraws(path string, t *data.Table) (filled [][]float64, err error) {
	lines, err := outside.Lines(path)
	if err != nil {
		return nil, err
	}
	at := make([]int, len(t.Observed)) // index of a cell among the missing cells
	for k, seen := range t.Observed {
		if at[k] = len(filled); !seen {
			filled = append(filled, nil)
		}
	}
	for _, line := range lines[1:] {
		if line[0] == "0" {
			continue
		}
		row, err := strconv.Atoi(line[1])
		if err != nil {
			return nil, err
		}
		for j := range t.D {
			k := (row-1)*t.D + j
			if t.Observed[k] {
				continue
			}
			x, ok := valueOf(line[2+j], data.Coded(t, j))
			if !ok {
				return nil, fmt.Errorf("%s: column %s has %q in row %d of draw %s", path, t.Names[j], line[2+j], row, line[0])
			}
			filled[at[k]] = append(filled[at[k]], x)
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
