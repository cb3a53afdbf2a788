package cmd

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"missingscore/internal/printable"
)

// readGroupsOfColumns reads the group of columns: a CSV with the columns name and group. Columns
// of the table that it does not name have no group; of others it may tell as well.
func readGroupsOfColumns(path string, columns []string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.FieldsPerRecord = 2
	header, err := r.Read()
	if err != nil || !slices.Equal(header, []string{"name", "group"}) {
		return nil, fmt.Errorf("%s: the first line is expected to be name,group", path)
	}
	groups := map[string]string{}
	found := false
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: two cells a line are expected, a column's name and its group: %w", path, err)
		}
		if _, twice := groups[record[0]]; twice {
			return nil, fmt.Errorf("%s: the column %q has two groups", path, printable.Cell(record[0]))
		}
		groups[record[0]] = record[1]
		found = found || slices.Contains(columns, record[0])
	}
	if !found {
		return nil, fmt.Errorf("%s names none of the table's columns", path)
	}
	return groups, nil
}
