package likelihood

import (
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"missingscore/benchmarks/cells"
	"missingscore/data"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/graph/model"
)

//go:embed emglasso.R
var script []byte

// present fails with cells.ErrAbsent where R or its package glasso is not here.
var present = sync.OnceValue(func() error {
	if out, err := exec.Command("Rscript", "-e", "library(glasso)").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: R with its package glasso: %w %s", cells.ErrAbsent, err, strings.TrimSpace(string(out)))
	}
	return nil
})

// likelihood runs the R script, whose precisions are judged as ours are.
func (s settings) likelihood(ctx context.Context, table *data.Table, truth simulate.Gaussian) (r result, err error) {
	if err := present(); err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "likelihood")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	program, from, to := filepath.Join(dir, "emglasso.R"), filepath.Join(dir, "table.csv"), filepath.Join(dir, "path.csv")
	if err := os.WriteFile(program, script, 0o600); err != nil {
		return r, err
	}
	if err := data.WriteCSV(from, table); err != nil {
		return r, err
	}
	command := exec.CommandContext(ctx, "Rscript", program, from, strconv.Itoa(s.Lambdas), strconv.FormatFloat(s.Ratio, 'g', -1, 64), to)
	command.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return r, fmt.Errorf("emglasso.R: %w", err)
	}
	if _, err := fmt.Sscan(string(out), &r.seconds, &r.iterations); err != nil {
		return r, fmt.Errorf("emglasso.R wrote %q: %w", out, err)
	}
	path, err := readPath(to, table.D)
	if err != nil {
		return r, err
	}
	var rates []network.Rate
	for _, m := range path {
		found := network.Threshold(m.Precision(), 0.002)
		r.edges = found.Count()
		rate, err := network.Compare(network.Threshold(truth.Precision, 1e-12), found)
		if err != nil {
			return r, err
		}
		rates = append(rates, rate)
	}
	r.auc = network.AUC(rates)
	return r, nil
}

// readPath reads precisions of d columns, a line each, packed by rows of the upper triangle.
func readPath(name string, d int) (path []*model.Gaussian, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		m := model.NewGaussian(d, model.FreeSymmetric)
		if len(line) != len(m.Packed.Value) {
			return nil, fmt.Errorf("emglasso.R wrote %d numbers a line, not %d", len(line), len(m.Packed.Value))
		}
		for i, cell := range line {
			if m.Packed.Value[i], err = strconv.ParseFloat(cell, 64); err != nil {
				return nil, err
			}
		}
		path = append(path, m)
	}
	return path, nil
}
