// Package outside runs rival methods in R and Python.
package outside

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"missingscore/benchmarks/harness"
	"missingscore/data"
)

// Program is a script that reads a table and writes numbers. It is safe for concurrent use.
type Program struct {
	interpreter string
	name        string
	script      []byte
	version     func() (string, error)
}

func R(name string, script []byte, packages ...string) *Program {
	text := ""
	for _, p := range packages {
		text += fmt.Sprintf("suppressPackageStartupMessages(library(%s)); cat('%s', as.character(packageVersion('%s')), '')\n", p, p, p)
	}
	return program("Rscript", name, script, packages, "-e", text+"cat('R', as.character(getRversion()))")
}

func Python(name string, script []byte, modules ...string) *Program {
	text := "import platform, " + strings.Join(modules, ", ") + "\n"
	for _, m := range modules {
		text += fmt.Sprintf("print(%q, %s.__version__, end=' ')\n", m, m)
	}
	return program("python3", name, script, modules, "-c", text+"print('python', platform.python_version())")
}

func program(interpreter, name string, script []byte, needs []string, probe ...string) *Program {
	return &Program{interpreter, name, script, sync.OnceValues(func() (string, error) {
		out, err := exec.Command(interpreter, probe...).Output()
		if err != nil {
			return "", fmt.Errorf("%w: %s with %s: %w", harness.ErrAbsent, interpreter, strings.Join(needs, ", "), err)
		}
		return strings.TrimSpace(string(out)), nil
	})}
}

// Version fails with harness.ErrAbsent if a package or the language is not installed.
func (p *Program) Version() (string, error) { return p.version() }

// Run runs INTERPRETER SCRIPT table.csv out.csv arguments… in one thread and returns the numbers of
// out.csv by line ("NA" is NaN) and the output. It fails like Version, or with the last three lines
// on stderr.
func (p *Program) Run(ctx context.Context, t *data.Table, arguments ...string) (numbers [][]float64, printed string, err error) {
	if _, err := p.Version(); err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "outside")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	script, from, to := filepath.Join(dir, p.name), filepath.Join(dir, "table.csv"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(script, p.script, 0o600); err != nil {
		return nil, "", err
	}
	if err := data.WriteCSV(from, t); err != nil {
		return nil, "", err
	}
	command := exec.CommandContext(ctx, p.interpreter, append([]string{script, from, to}, arguments...)...)
	command.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w: %s", p.name, err, lastLines(complaints.String()))
	}
	numbers, err = read(to)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", p.name, err)
	}
	return numbers, string(out), nil
}

func lastLines(text string) string {
	const shown = 3
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-shown):], "; ")
}

// Lines returns the lines of a CSV file, and its header.
func Lines(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return csv.NewReader(f).ReadAll()
}

func read(path string) (numbers [][]float64, err error) {
	lines, err := Lines(path)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		row := make([]float64, len(line))
		for i, cell := range line {
			if cell == "NA" {
				cell = "NaN"
			}
			if row[i], err = strconv.ParseFloat(cell, 64); err != nil {
				return nil, fmt.Errorf("output %q: %w", cell, err)
			}
		}
		numbers = append(numbers, row)
	}
	return numbers, nil
}
