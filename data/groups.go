package data

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"missingscore/internal/printable"
	"missingscore/internal/shell"
)

// Group are the rows of a table in which the grouping column holds one value.
type Group struct {
	Name  string
	Table *Table
}

// GroupError says that a column does not make the groups that are wanted.
type GroupError struct{ Problem string }

func (e *GroupError) Error() string { return e.Problem }

// ReadGroups reads a table as ReadCSV does and divides its rows by the values of a column,
// which need not be numbers and is not among the columns read. wanted are the two groups,
// in their order; nil: there must be just two, which come sorted by name. Rows without a
// value in the column, and of no wanted group, are left out: the number of the former is given.
//
// A column that makes other groups is a *GroupError.
func ReadGroups(path, by string, wanted []string, o ReadOptions) (groups [2]Group, ungrouped int, err error) {
	s, err := openSheet(path, o)
	if err != nil {
		return groups, 0, err
	}
	at, err := s.find([]string{by})
	if err != nil {
		return groups, 0, err
	}
	if slices.Contains(o.Columns, by) {
		return groups, 0, fmt.Errorf("%s: %q is the grouping column and cannot be among the columns of the network", path, by)
	}
	if o.Columns == nil && !slices.Contains(o.Exclude, by) {
		o.Exclude = append(slices.Clone(o.Exclude), by)
	}
	o = s.styled(o)
	parts := s.divided(at[0], o)
	if rest := parts[""]; rest != nil {
		ungrouped = len(rest.rows)
		delete(parts, "")
	}
	names, err := twoGroups(parts, by, wanted)
	if err != nil {
		return groups, 0, fmt.Errorf("%s: %w", path, err)
	}
	for i, name := range names {
		groups[i].Name = name
		if groups[i].Table, err = parts[name].table(o); err != nil {
			return groups, 0, fmt.Errorf("%w (in the rows whose %s is %s)", err, by, name)
		}
	}
	return groups, ungrouped, nil
}

// divided are the rows by the value of column at; those without one are under "".
func (s *sheet) divided(at int, o ReadOptions) map[string]*sheet {
	parts := map[string]*sheet{}
	for i, row := range s.rows {
		name := row[at]
		if o.missing(name) {
			name = ""
		}
		part := parts[name]
		if part == nil {
			part = &sheet{dialect: s.dialect, file: s.file, format: s.format, header: s.header, top: s.top, rowwise: s.rowwise, limit: s.limit}
			parts[name] = part
		}
		part.rows, part.lines = append(part.rows, row), append(part.lines, s.lines[i])
	}
	return parts
}

// twoGroups are the names of the groups to compare.
func twoGroups(parts map[string]*sheet, by string, wanted []string) ([]string, error) {
	names := slices.Sorted(maps.Keys(parts))
	var listed []string
	for _, name := range names {
		listed = append(listed, fmt.Sprintf("%s (%d rows)", name, len(parts[name].rows)))
	}
	there := listing(listed)
	for _, name := range wanted {
		if parts[name] == nil {
			return nil, &GroupError{fmt.Sprintf("column %q has no group %q; there are: %s", by, name, there)}
		}
	}
	switch {
	case len(wanted) == 2 && wanted[0] != wanted[1]:
		return wanted, nil
	case wanted != nil:
		return nil, &GroupError{fmt.Sprintf("two different groups are compared, and %d are named: %s", len(wanted), strings.Join(wanted, ", "))}
	case len(names) == 2:
		return names, nil
	case len(names) == 0:
		return nil, &GroupError{fmt.Sprintf("column %q has no value in any row", by)}
	case len(names) == 1:
		return nil, &GroupError{fmt.Sprintf("column %q has one group only, %s; two are compared", by, there)}
	}
	return nil, &GroupError{fmt.Sprintf("column %q has %d groups: %s; pick two by --groups %s", by, len(names), there, shell.List([]string{printable.Cell(names[0]), printable.Cell(names[1])}))}
}

// SameColumns says which columns one of two tables, named by their files, lacks: networks
// are compared on the same columns. The second is given in the first one's order.
func SameColumns(a, b *Table, fileA, fileB string) (*Table, error) {
	lacks := func(t, other *Table) (names []string) {
		for _, name := range other.Names {
			if !slices.Contains(t.Names, name) {
				names = append(names, name)
			}
		}
		return names
	}
	var problems []string
	common := slices.DeleteFunc(slices.Clone(a.Names), func(name string) bool { return !slices.Contains(b.Names, name) })
	if missing := lacks(a, b); missing != nil {
		problems = append(problems, fmt.Sprintf("%s has no column %s", fileA, listing(missing)))
	}
	if missing := lacks(b, a); missing != nil {
		problems = append(problems, fmt.Sprintf("%s has no column %s", fileB, listing(missing)))
	}
	if problems == nil {
		return b.Select(a.Names)
	}
	advice := "no column is in both"
	if len(common) > 0 {
		advice = "compare the common ones with --columns " + shell.List(common)
	}
	return nil, errors.New(strings.Join(problems, ", and ") + "; " + advice)
}
