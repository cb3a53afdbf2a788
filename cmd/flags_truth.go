package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/trainers/fitted"
	"missingscore/trainers/power"
)

// truthFlags say which network tables are drawn from, and which cells of them are missing.
type truthFlags struct {
	like, table string
	shape       string
	d, edges    int
	strength    float64
	missing     float64
}

func (f *truthFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.like, "like", "", "draw from the network of this result: a folder of network, or a model.json")
	fl.StringVar(&f.table, "table", "", "with --like: give drawn rows the gaps of the rows of this table")
	fl.IntVar(&f.d, "d", 0, "draw from a network of so many columns")
	fl.StringVar(&f.shape, "graph", "random", "its shape: "+strings.Join(simulate.Shapes, ", "))
	fl.IntVar(&f.edges, "edges", 0, "edges of --graph random (default: as many as columns)")
	fl.Float64Var(&f.strength, "strength", 0, "size of its partial correlations (default: 0.25, or 0.9 of the most that is possible)")
	fl.Float64Var(&f.missing, "missing", 0, "probability that a cell is missing, completely at random")
}

// check refuses what does not go together.
func (f *truthFlags) check(cmd *cobra.Command) error {
	if err := nonZero(cmd, "d", "edges", "strength"); err != nil {
		return err
	}
	changed := cmd.Flags().Changed
	switch {
	case f.like == "" && !changed("d"):
		return usageError{errors.New("a network to draw from is missing: give an earlier result with its table (--like RESULT --table TABLE.csv), or --d D with --graph")}
	case f.like != "" && changed("d"):
		return usageError{errors.New("--like and --d are two networks to draw from; leave one of them out")}
	case f.table != "" && changed("missing"):
		return usageError{errors.New("--table and --missing are two ways to make gaps; leave one of them out")}
	case f.like == "" && f.table != "":
		return usageError{errors.New("--table is of --like; give that, or make gaps with --missing")}
	case f.like != "" && f.table == "" && !changed("missing"):
		return usageError{errors.New("--like needs the table, whose gaps drawn rows get: give --table TABLE.csv, or --missing P for gaps completely at random")}
	case !(f.missing >= 0 && f.missing < 1):
		return usageError{fmt.Errorf("--missing %v: a probability from 0 to less than 1 is expected", f.missing)}
	case changed("edges") && f.shape != "random":
		return usageError{fmt.Errorf("--edges is of --graph random, and %s has as many as its shape; leave one of them out", f.shape)}
	}
	for _, name := range []string{"graph", "edges", "strength"} {
		if f.like != "" && changed(name) {
			return usageError{fmt.Errorf("--%s is of --d, and the network is that of --like; leave one of them out", name)}
		}
	}
	return nil
}

// read makes the truth and its gaps, and says what they are.
func (f *truthFlags) read(o data.ReadOptions, threshold float64, seed uint64) (t *power.Truth, gaps power.Gaps, source string, err error) {
	gaps.Share = f.missing
	if f.like == "" {
		edges := f.edges
		if edges == 0 {
			edges = min(f.d, f.d*(f.d-1)/2)
		}
		t, strength, err := graphTruth(f.shape, f.d, edges, f.strength, seed)
		if err != nil {
			return nil, gaps, "", usageError{fmt.Errorf("--d, --graph, --edges, --strength: %w", err)}
		}
		return t, gaps, fmt.Sprintf("%s network of %d columns, %d edges of size %.3g, %s", f.shape, f.d, t.Edges(), strength, gapsText(gaps, "")), nil
	}
	lawful := false
	if t, lawful, err = f.fitted(threshold); err != nil {
		return nil, gaps, "", fmt.Errorf("--like: %w", err)
	}
	if f.table != "" {
		if gaps.Like, err = likeTable(f.table, o, t.Names); err != nil {
			return nil, gaps, "", err
		}
	}
	source = fmt.Sprintf("network of %s, %d columns, %d edges, %s", filepath.Base(f.like), len(t.Names), t.Edges(), gapsText(gaps, filepath.Base(f.table)))
	if lawful {
		source += " (not by the law of missing cells that the result knows: drawn gaps do not look at values)"
	}
	return t, gaps, source, nil
}

// fitted is the truth that a result's model is, of columns after its transform, and whether
// the result knows a law of missing cells.
func (f *truthFlags) fitted(threshold float64) (t *power.Truth, lawful bool, err error) {
	path := f.like
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "model.json")
	}
	s, err := fitted.Load(path)
	if err != nil {
		return nil, false, err
	}
	g, ok := s.Model.(*model.Gaussian)
	if !ok {
		return nil, false, fmt.Errorf("%s is a model of kind %s; a network is drawn from a Gaussian one", path, s.Kind)
	}
	t, err = power.NewTruth(s.Names, simulate.Gaussian{Mean: g.Mean(), Precision: g.Precision()}, s.Domain, threshold)
	return t, s.Missingness != nil, err
}
