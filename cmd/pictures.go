package cmd

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/spatial/r2"

	"missingscore/cmd/picture"
	"missingscore/cmd/report"
	"missingscore/internal/data/network"
	"missingscore/internal/printable"
)

type pictureFlags struct {
	style      picture.Style
	labels     map[string]string // of columns
	groupsFlag string            // the name of the flag of groupsFile
	groupsFile string
	labelsFile string
	layoutFile string
}

func (f *pictureFlags) add(cmd *cobra.Command, groups string) {
	f.groupsFlag = groups
	fl := cmd.Flags()
	fl.StringVar(&f.groupsFile, groups, "", "CSV `file` with name, group: colours of nodes (default: modules)")
	fl.StringVar(&f.labelsFile, "labels", "", "CSV `file` with name, label: names in the report and the pictures")
	fl.StringVar(&f.layoutFile, "layout", "", "CSV `file` with name, x, y: places of nodes, as in layout.csv")
	addTheme(cmd, &f.style.Theme)
	fl.Float64Var(&f.style.Minimum, "minimum", 0, "hide edges with a smaller |partial correlation| (default: 0; in dense networks 3 edges a node)")
	fl.Float64Var(&f.style.Cut, "cut", 0, "stronger edges grow in width, weaker edges fade; 0 is no cut (default: as in qgraph)")
	fl.Float64Var(&f.style.Maximum, "maximum", 0, "|partial correlation| of the widest line (default: the strongest edge)")
	fl.StringVar(&f.style.NodeSize, "node-size", "", "`column` of centrality.csv for the size of nodes, such as strength")
}

func addTheme(cmd *cobra.Command, theme *picture.Theme) {
	cmd.Flags().StringVar((*string)(theme), "theme", picture.Themes[0], "`colours` of pictures: "+strings.Join(picture.Themes, ", "))
}

func (f *pictureFlags) parse(cmd *cobra.Command) error {
	usual := picture.Usual()
	for _, limit := range []struct {
		name  string
		value *float64
		usual float64
	}{{"minimum", &f.style.Minimum, usual.Minimum}, {"cut", &f.style.Cut, usual.Cut}, {"maximum", &f.style.Maximum, usual.Maximum}} {
		if !cmd.Flags().Changed(limit.name) {
			*limit.value = limit.usual
		}
		if *limit.value < 0 || *limit.value > 1 {
			return usageError{fmt.Errorf("--%s %g: a number from 0 to 1 is expected", limit.name, *limit.value)}
		}
	}
	if err := f.style.Theme.Check(); err != nil {
		return asUsage(cmd, err)
	}
	columns := []network.Centrality{{}}
	if f.groupsFile != "" {
		columns[0].Bridge = &network.Bridge{}
	}
	if _, err := report.CentralityColumn([]string{""}, columns, f.style.NodeSize); err != nil {
		return usageError{fmt.Errorf("--node-size: %w", err)}
	}
	return nil
}

func (f *pictureFlags) load(stderr io.Writer, nodes []string) (err error) {
	var labels, groups, layout map[string][]string
	for _, file := range []struct {
		flag, path, header string
		cells              *map[string][]string
	}{
		{"labels", f.labelsFile, "name,label", &labels}, {f.groupsFlag, f.groupsFile, "name,group", &groups}, {"layout", f.layoutFile, "name,x,y", &layout},
	} {
		if file.path == "" {
			continue
		}
		if *file.cells, err = readByName(file.path, file.header, nodes); err != nil {
			return fmt.Errorf("--%s: %w", file.flag, err)
		}
	}
	if labels != nil {
		f.labels = map[string]string{}
	}
	for name, record := range labels {
		f.labels[name] = cmp.Or(record[0], name)
	}
	if groups != nil {
		f.style.GroupOf = map[string]string{}
	}
	for name, record := range groups {
		f.style.GroupOf[name] = record[0]
	}
	if layout == nil {
		return nil
	}
	f.style.Layout = map[string]r2.Vec{}
	var without []string
	for _, node := range nodes {
		record, known := layout[node]
		if !known {
			without = append(without, printable.Text(node))
			continue
		}
		x, errX := strconv.ParseFloat(record[0], 64)
		y, errY := strconv.ParseFloat(record[1], 64)
		if far := 1e9; errX != nil || errY != nil || !(max(x, -x, y, -y) < far) {
			return fmt.Errorf("--layout: %s: the place of %q is %q, %q; two numbers are expected", f.layoutFile, printable.Cell(node), printable.Cell(record[0]), printable.Cell(record[1]))
		}
		f.style.Layout[node] = r2.Vec{X: x, Y: y}
	}
	if without != nil {
		fmt.Fprintf(stderr, "%s has no place for %s; they stand beside their neighbours\n", f.layoutFile, strings.Join(without, ", "))
	}
	return nil
}

func (f *pictureFlags) tellMinimum(stderr io.Writer, file string, n *network.Network) {
	if limits, hairball := f.style.Limits.Of(n); hairball {
		fmt.Fprintf(stderr, "%s draws edges of |partial correlation| ≥ %.2g; --minimum 0 draws all %d\n", file, limits.Minimum, len(n.Edges))
	}
}

// readByName returns the cells after the name of a CSV file with this header.
func readByName(path, header string, columns []string) (map[string][]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err)) // a PathError
	}
	defer file.Close()
	r := csv.NewReader(file)
	first, err := r.Read() // which has as many cells as all
	if err != nil || strings.Join(first, ",") != header {
		return nil, fmt.Errorf("%s:1: the first line must be %s", path, header)
	}
	known := map[string]string{}
	for _, name := range columns {
		known[printable.Text(name)], known[name] = name, name
	}
	cells := map[string][]string{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %d cells a line are expected, %s: %w", path, len(first), header, err)
		}
		name, ok := known[record[0]]
		if _, twice := cells[name]; twice && ok {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: the column %q has a line already", path, line, printable.Cell(record[0]))
		}
		if ok {
			cells[name] = record[1:]
		}
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("%s names none of the table's columns", path)
	}
	return cells, nil
}
