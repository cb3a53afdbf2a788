package data

import (
	"fmt"
	"slices"

	"missingscore/internal/printable"
)

// ReadLabels reads what the columns of a table are to be called where people read: a table of two
// columns, names and labels, in whatever format ReadFile knows. Names that the table does not have
// are left out, and so is an empty label. It fails if no name is the table's, or one comes twice.
func ReadLabels(path string, names []string) (map[string]string, error) {
	s, err := openSheet(path, ReadOptions{})
	if err != nil {
		return nil, err
	}
	if len(s.header) != 2 {
		return nil, fmt.Errorf("%s: two columns are expected, name and label, and there are %d: %s", path, len(s.header), listing(s.header))
	}
	labels, lines := map[string]string{}, map[string]int{}
	for i, row := range s.rows {
		name := row[0]
		if line := lines[name]; line > 0 {
			return nil, fmt.Errorf("%s: %q has a label on line %d already; keep one of the two", s.at(s.lines[i]), printable.Cell(name), line)
		}
		lines[name] = s.lines[i]
		if row[1] != "" && slices.Contains(names, name) {
			labels[name] = row[1]
		}
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("%s: no name in its first column is a column of the table; these are: %s", path, listing(names))
	}
	return labels, nil
}
