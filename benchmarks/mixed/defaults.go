package mixed

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
)

//go:embed defaults.json
var defaultSettings []byte

// FolderVariable names the folder with further tables for Defaults.
const FolderVariable = "MISSINGSCORE_TABLES"

// Defaults runs commands with their defaults on tables of R packages, simulated tables and the
// files in FolderVariable.
var Defaults = harness.Experiment{
	Name: "mixed-defaults", Title: "Commands with their defaults", Source: "benchmarks/README.md",
	Settings: defaultSettings, Grid: defaultGrid,
}

type defaultConfig struct {
	Replicates int        `json:"replicates"`
	Tables     []Source   `json:"tables"`
	Missing    float64    `json:"missing"` // share of hidden cells in a simulated table
	Commands   [][]string `json:"commands"`
	Ours       []string   `json:"ours"`
}

func defaultGrid(text json.RawMessage, replicates int) (cells.Grid, error) {
	var s defaultConfig
	if err := harness.Decode(text, &s); err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{
		Key:   []string{"table", "replicate", "method"},
		Value: []string{"exit", "seconds", "wall", "megabytes", "screen", "version"},
	}
	var files []string
	if folder := os.Getenv(FolderVariable); folder != "" {
		var err error
		if files, err = filepath.Glob(filepath.Join(folder, "*")); err != nil {
			return g, err
		}
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		add := func(name string, command []string, put func(ctx context.Context, path string) error) {
			g.Cells = append(g.Cells, cells.Cell{
				Key: []string{name, strconv.Itoa(replicate), strings.Join(command, " ")},
				Run: func(ctx context.Context) ([]string, error) { return byDefaults(ctx, name, command, put) },
			})
		}
		for _, command := range s.Commands {
			for _, from := range s.Tables {
				add(from.Name, command, func(ctx context.Context, path string) error {
					return from.hidden(ctx, path, s.Missing, uint64(replicate))
				})
			}
			for _, file := range files {
				add(filepath.Base(file), command, func(_ context.Context, path string) error { return os.Symlink(file, path) })
			}
		}
	}
	return g, nil
}

// A share of the cells of a simulated table is hidden.
func (s Source) hidden(ctx context.Context, path string, missing float64, seed uint64) error {
	t, err := s.Table(ctx, seed)
	if err == nil && s.Design != nil {
		t, err = Hide(gaps.Law{Missing: missing}, t, seed)
	}
	if err != nil {
		return err
	}
	return Write(path, t)
}

func byDefaults(ctx context.Context, name string, command []string, put func(ctx context.Context, path string) error) ([]string, error) {
	version, err := Version()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mixed")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	table := filepath.Join(dir, strings.TrimSuffix(name, ".csv")+".csv")
	if err := put(ctx, table); err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "out")
	if command[0] == "impute" {
		out += ".csv"
	}
	arguments := []string{table}
	if command[0] != "describe" {
		arguments = slices.Concat(command[:1], arguments, command[1:], []string{"--out", out})
	}
	o, err := run(ctx, arguments...)
	if err != nil {
		return nil, err
	}
	screen := strings.ReplaceAll(o.end(2), dir+string(filepath.Separator), "")
	return []string{strconv.Itoa(o.exit), seconds(o.Seconds), seconds(o.wall), fmt.Sprintf("%.0f", o.megabytes), screen, version}, nil
}
