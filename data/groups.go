package data

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"missingscore/data/format"
	"missingscore/internal/printable"
	"missingscore/internal/shell"
)

// Group holds the rows with one value of the grouping column.
type Group struct {
	Name  string
	Table *Table
}

// GroupError reports a column that does not give the wanted groups.
type GroupError struct{ Problem string }

func (e *GroupError) Error() string { return e.Problem }

// ReadGroups reads a table as ReadCSV does and splits its rows by the values of column by, which
// must not be among the columns read. wanted names two groups in order; nil takes the only two, in
// the order of the column's levels or alphabetically. Other rows are dropped; ungrouped counts the
// rows without a group. It fails with a *GroupError if the column gives other groups.
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
	order := o.Kinds[by].Levels
	if order == nil && s.levels != nil {
		order = s.levels[at[0]]
	}
	names, err := twoGroups(parts, by, wanted, order)
	if err != nil {
		return groups, 0, fmt.Errorf("%s: %w", path, err)
	}
	leftOut, err := commonKinds(parts, names, by, &o)
	if err != nil {
		return groups, 0, err
	}
	for i, name := range names {
		groups[i].Name = name
		if groups[i].Table, err = parts[name].table(o); err != nil {
			return groups, 0, fmt.Errorf("%w (in the rows whose %s is %s)", err, by, name)
		}
		groups[i].Table.LeftOut = leftOut
	}
	return groups, ungrouped, nil
}

// commonKinds gives both groups the kinds detected on the rows of both. Columns that are constant
// in one group are left out.
func commonKinds(parts map[string]*sheet, names []string, by string, o *ReadOptions) (leftOut []Column, err error) {
	if !o.Coded {
		return nil, nil
	}
	both := *parts[names[0]]
	both.rows, both.lines = slices.Concat(both.rows, parts[names[1]].rows), slices.Concat(both.lines, parts[names[1]].lines)
	t, err := both.table(*o)
	if err != nil {
		return nil, err
	}
	leftOut, o.Kinds, o.Nominal = t.LeftOut, KindsOf(t), nil
	for _, name := range names {
		part, err := parts[name].table(*o)
		if err != nil {
			return nil, fmt.Errorf("%w (in the rows whose %s is %s)", err, by, name)
		}
		for _, c := range part.LeftOut {
			if !slices.ContainsFunc(leftOut, func(l Column) bool { return l.Name == c.Name }) {
				c.LeftOut += fmt.Sprintf(" where %s is %s", by, name)
				leftOut = append(leftOut, c)
			}
		}
	}
	for _, c := range leftOut {
		if c.Name != "" && !slices.Contains(o.Exclude, c.Name) {
			o.Exclude = append(o.Exclude, c.Name)
		}
	}
	return leftOut, nil
}

func (s *sheet) divided(at int, o ReadOptions) map[string]*sheet {
	parts := map[string]*sheet{}
	for i, row := range s.rows {
		name := row[at]
		switch {
		case o.missing(name):
			name = ""
		case s.kinds != nil && s.kinds[at].Kind == format.Boolean:
			name = map[string]string{"0": "false", "1": "true"}[name]
		}
		part := parts[name]
		if part == nil {
			part = &sheet{dialect: s.dialect, file: s.file, format: s.format, header: s.header, top: s.top, rowwise: s.rowwise, limit: s.limit, kinds: s.kinds, levels: s.levels}
			parts[name] = part
		}
		part.rows, part.lines = append(part.rows, row), append(part.lines, s.lines[i])
	}
	return parts
}

// order lists the levels of the column, if known.
func twoGroups(parts map[string]*sheet, by string, wanted, order []string) ([]string, error) {
	names := slices.Sorted(maps.Keys(parts))
	slices.SortStableFunc(names, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
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
		return nil, &GroupError{fmt.Sprintf("two different groups are needed, but %d are named: %s", len(wanted), strings.Join(wanted, ", "))}
	case len(names) == 2:
		return names, nil
	case len(names) == 0:
		return nil, &GroupError{fmt.Sprintf("column %q has no value in any row", by)}
	case len(names) == 1:
		return nil, &GroupError{fmt.Sprintf("column %q has only one group, %s; two are needed", by, there)}
	}
	return nil, &GroupError{fmt.Sprintf("column %q has %d groups: %s; pick two with ReadGroups %s", by, len(names), there, shell.List([]string{printable.Cell(names[0]), printable.Cell(names[1])}))}
}

// SameColumns restricts two tables, named by their files, to their common columns in a's order,
// with common levels. leftOut lists the columns left out of one file, which are left out of both.
// It fails if a file lacks a column of the other, or if a column is text in one file only.
func SameColumns(a, b *Table, fileA, fileB string) (sameA, sameB *Table, leftOut []Column, err error) {
	without := func(t, other *Table, file string) (names []string) {
		for _, name := range t.Names {
			at := slices.IndexFunc(other.LeftOut, func(c Column) bool { return c.Name == name })
			if at < 0 {
				names = append(names, name)
				continue
			}
			c := other.LeftOut[at]
			c.LeftOut += " in " + file
			leftOut = append(leftOut, c)
		}
		return names
	}
	namesA, namesB := without(a, b, fileB), without(b, a, fileA)
	if err := lacking(namesA, namesB, fileA, fileB); err != nil {
		return nil, nil, nil, err
	}
	if len(namesA) == 0 {
		return nil, nil, nil, fmt.Errorf("no column can be used in both %s and %s", fileA, fileB)
	}
	if sameA, err = a.Select(namesA); err != nil {
		return nil, nil, nil, err
	}
	if sameB, err = b.Select(namesA); err != nil {
		return nil, nil, nil, err
	}
	sameA.LeftOut = append(slices.Clone(sameA.LeftOut), leftOut...)
	return sameA, sameB, leftOut, sameLevels(sameA, sameB, fileA, fileB)
}

func lacking(a, b []string, fileA, fileB string) error {
	lacks := func(names, others []string) (missing []string) {
		for _, name := range others {
			if !slices.Contains(names, name) {
				missing = append(missing, name)
			}
		}
		return missing
	}
	var problems []string
	if missing := lacks(a, b); missing != nil {
		problems = append(problems, fmt.Sprintf("%s has no column %s", fileA, listing(missing)))
	}
	if missing := lacks(b, a); missing != nil {
		problems = append(problems, fmt.Sprintf("%s has no column %s", fileB, listing(missing)))
	}
	if problems == nil {
		return nil
	}
	advice := "no column is in both"
	if common := slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) }); len(common) > 0 {
		advice = "compare the common ones with ReadOptions.Columns " + shell.List(common)
	}
	return errors.New(strings.Join(problems, ", and ") + "; " + advice)
}

// sameLevels appends the additional levels of the second table to the first's. 0 and 1 are numbers
// if the other table has other numbers.
func sameLevels(a, b *Table, fileA, fileB string) error {
	if a.Kinds == nil || b.Kinds == nil {
		return nil
	}
	bits := []string{"0", "1"}
	for j, name := range a.Names {
		ofA, ofB := a.Levels[j], b.Levels[j]
		switch {
		case ofA == nil && ofB == nil:
			if a.Kinds[j] != b.Kinds[j] {
				a.Kinds[j] = Number
			}
		case ofA == nil && slices.Equal(ofB, bits):
		case ofB == nil && slices.Equal(ofA, bits):
			a.Kinds[j], a.Levels[j] = b.Kinds[j], nil
		case ofA == nil || ofB == nil:
			text, numbers := fileA, fileB
			if ofA == nil {
				text, numbers = fileB, fileA
			}
			return fmt.Errorf("column %q has levels in %s and numbers in %s; leave it out with ReadOptions.Exclude %s", printable.Cell(name), text, numbers, shell.List([]string{name}))
		default:
			all := slices.Concat(ofA, slices.DeleteFunc(slices.Clone(ofB), func(level string) bool { return slices.Contains(ofA, level) }))
			if len(all) > MostLevels {
				return fmt.Errorf("column %q has %d levels in %s and %s together; the maximum is %d; leave it out with ReadOptions.Exclude %s", printable.Cell(name), len(all), fileA, fileB, MostLevels, shell.List([]string{name}))
			}
			recode(b, j, ofB, all)
			if a.Levels[j] = all; a.Kinds[j] == Binary && len(all) > 2 {
				a.Kinds[j] = Nominal
			}
		}
		b.Kinds[j], b.Levels[j] = a.Kinds[j], a.Levels[j]
	}
	return nil
}
