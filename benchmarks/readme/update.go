package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"missingscore/benchmarks/frontier"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/markdown"
	"missingscore/benchmarks/report"
	"missingscore/benchmarks/reproduce"
)

var generated = regexp.MustCompile(`(?s)( *)<!-- generated: ([^\n]+?) -->\n.*?<!-- end -->`)

// update hands the README files that have other tables than the results give to write,
// with the right ones, and tells their names.
func update(folder string, write func(path string, text []byte) error) (changed []string, err error) {
	readmes, err := filepath.Glob(filepath.Join(folder, "*", "README.md"))
	if err != nil {
		return nil, err
	}
	tables, err := all(folder)
	if err != nil {
		return nil, err
	}
	above := filepath.Join(folder, "..")
	for _, path := range append(readmes, filepath.Join(folder, "README.md"), filepath.Join(above, "README.md"),
		filepath.Join(above, "docs", "explanation", "paper.md"), filepath.Join(above, "docs", "how-to", "choose-a-method.md")) {
		before, err := os.ReadFile(path)
		if err != nil {
			return changed, err
		}
		after, err := fill(before, tables)
		if err != nil {
			return changed, fmt.Errorf("%s: %w", path, err)
		}
		if bytes.Equal(before, after) {
			continue
		}
		changed = append(changed, path)
		if err := write(path, after); err != nil {
			return changed, err
		}
	}
	figures, err := frontier.Figures(filepath.Join(folder, "results"), reproduce.Experiments)
	if err != nil {
		return changed, err
	}
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		path := filepath.Join(folder, "frontier", name+".svg")
		if before, err := os.ReadFile(path); err == nil && string(before) == figures[name] {
			continue
		}
		changed = append(changed, path)
		if err := write(path, []byte(figures[name])); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// fill puts tables between their marks; marks that are indented, as in a list, indent them.
func fill(text []byte, tables map[string]markdown.Table) (out []byte, err error) {
	out = generated.ReplaceAllFunc(text, func(block []byte) []byte {
		found := generated.FindSubmatch(block)
		indent, name := found[1], string(found[2])
		table, ok := tables[name]
		if !ok {
			err = errors.Join(err, fmt.Errorf("there is no table %q", name))
			return block
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "%s<!-- generated: %s -->\n", indent, name)
		for line := range bytes.Lines([]byte(table.String())) {
			b.Write(slices.Concat(indent, line))
		}
		fmt.Fprintf(&b, "%s<!-- end -->", indent)
		return b.Bytes()
	})
	return out, err
}

// all are the tables by name.
func all(folder string) (map[string]markdown.Table, error) {
	results := filepath.Join(folder, "results")
	verdicts, err := report.Verdicts(results, reproduce.Experiments, reproduce.Across)
	if err != nil {
		return nil, err
	}
	signs := quarticSigns(verdicts)
	cost, err := coreHours(folder)
	if err != nil {
		return nil, err
	}
	out := map[string]markdown.Table{"claims": report.Claims(verdicts), "paper": report.Paper(verdicts), signs.Name: signs, cost.Name: cost}
	for _, e := range reproduce.Experiments {
		l, err := harness.Load(e, results)
		if e.Tables == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		tables, err := e.Tables(l.Settings, l.Results)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		for _, t := range tables {
			out[e.Name+" "+t.Name] = t
		}
	}
	ahead, err := frontier.Tables(results, reproduce.Experiments)
	if err != nil {
		return nil, err
	}
	for _, t := range ahead {
		out[t.Name] = t
	}
	for _, read := range []func(string) ([]markdown.Table, error){earlierStar, earlierNormal, earlierQuartic, speedRatios, speedCurves, speedPaths} {
		tables, err := read(folder)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			out[t.Name] = t
		}
	}
	return out, nil
}
