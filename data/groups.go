package data

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"missingscore/data/format"
	"missingscore/internal/printable"
	"missingscore/internal/setting"
	"missingscore/internal/shell"
)

// Group holds the rows with one value of the grouping column.
type Group struct {
	Name  string
	Table *Table
}

// ReadGroups reads a table as ReadCSV does and splits its rows by the values of column by, which
// must not be among the columns read. wanted names two groups in order; nil takes the only two, in
// the order of the column's levels or alphabetically. Other rows are dropped; ungrouped counts the
// rows without a group. It fails with a setting.Error of by if the column gives other groups.
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
	labels, counts := s.labels(at[0], o)
	ungrouped = counts[""]
	delete(counts, "")
	order := o.Kinds[by].Levels
	if order == nil && s.levels != nil {
		order = s.levels[at[0]]
	}
	names, err := twoGroups(counts, by, wanted, order)
	if err != nil {
		return groups, 0, setting.Errorf("by", "", "%s: %v", path, err)
	}
	both, of := &sheet{head: s.head, kinds: s.kinds, levels: s.levels}, map[int]string{} // by line
	for i, line := range s.lines {
		if slices.Contains(names, labels[i]) {
			both.rows, both.lines, of[line] = append(both.rows, s.rows[i]), append(both.lines, line), labels[i]
		}
	}
	t, err := tableOf(both.source(o))
	if err != nil {
		return groups, 0, err
	}
	if o.Coded {
		if err := varying(t, of, names, by, s.file, o); err != nil {
			return groups, 0, err
		}
	}
	for i, name := range names {
		part := only(t, rowsOf(t, of, name))
		part.Dropped, part.Marks = counts[name]-part.N, map[string]Mark{}
		for column, mark := range t.Marks {
			mark.Cells = s.count(mark.Text, slices.Index(s.header, column), labels, name)
			part.Marks[column] = mark
		}
		if err := acceptable(part, s.file); err != nil {
			return groups, 0, fmt.Errorf("%w (in the rows whose %s is %s)", err, by, name)
		}
		groups[i] = Group{name, part}
	}
	return groups, ungrouped, nil
}

// labels are the groups of the rows, "" without a group, and the number of rows of each.
func (s *sheet) labels(at int, o ReadOptions) (labels []string, counts map[string]int) {
	counts = map[string]int{}
	for _, row := range s.rows {
		name := row[at]
		switch {
		case o.missing(name):
			name = ""
		case s.kinds[at].Kind == format.Boolean:
			name = map[string]string{"0": "false", "1": "true"}[name]
		}
		labels = append(labels, name)
		counts[name]++
	}
	return labels, counts
}

// count counts a text in column j, in the rows with a label.
func (s *sheet) count(text string, j int, labels []string, label string) (n int) {
	for i, row := range s.rows {
		if labels[i] == label && row[j] == text {
			n++
		}
	}
	return n
}

func rowsOf(t *Table, of map[int]string, name string) (rows []int) {
	for i, line := range t.Lines {
		if of[line] == name {
			rows = append(rows, i)
		}
	}
	return rows
}

// varying leaves out the columns that have no value or one value in a group.
func varying(t *Table, of map[int]string, names []string, by, file string, o ReadOptions) error {
	var kept []int
	parts := [2][]ColumnSums{columnSums(only(t, rowsOf(t, of, names[0]))), columnSums(only(t, rowsOf(t, of, names[1])))}
	for j, name := range t.Names {
		var c Column
		for g := range parts {
			sums := parts[g][j]
			if sums.Fault(name) == nil || c.LeftOut != "" {
				continue
			}
			if c = (Column{Name: name, Kind: Constant}); sums.Number == 0 {
				c.Kind, c.LeftOut = Empty, "no value"
			} else if levels := Coded(t, j); levels != nil {
				c.LeftOut = "every value is " + printable.Cell(levels[int(sums.Low)])
			} else {
				c.LeftOut = "every value is " + format.Number(sums.Low)
			}
			if o.Strict || slices.Contains(o.Columns, name) {
				why := sums.Fault(name)
				if Coded(t, j) != nil {
					why = &ColumnError{name, c.LeftOut}
				}
				return fmt.Errorf("%w (in the rows whose %s is %s)", o.refuse(file, why.Error(), name), by, names[g])
			}
			c.LeftOut += fmt.Sprintf(" where %s is %s", by, names[g])
		}
		if c.LeftOut != "" {
			t.LeftOut = append(t.LeftOut, c)
		} else {
			kept = append(kept, j)
		}
	}
	if kept == nil {
		return fmt.Errorf("%s: no column can be used; %s", file, strings.Join(LeftOutLines(t.LeftOut, 3), "; "))
	}
	keep(t, kept)
	return nil
}

// order lists the levels of the column, if known.
func twoGroups(counts map[string]int, by string, wanted, order []string) ([]string, error) {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	var listed []string
	for _, name := range names {
		listed = append(listed, fmt.Sprintf("%s (%d rows)", name, counts[name]))
	}
	there := listing(listed)
	for _, name := range wanted {
		if counts[name] == 0 {
			return nil, fmt.Errorf("column %q has no group %q; there are: %s", by, name, there)
		}
	}
	switch {
	case len(wanted) == 2 && wanted[0] != wanted[1]:
		return wanted, nil
	case wanted != nil:
		return nil, fmt.Errorf("two different groups are needed, but %d are named: %s", len(wanted), strings.Join(wanted, ", "))
	case len(names) == 2:
		return names, nil
	case len(names) == 0:
		return nil, fmt.Errorf("column %q has no value in any row", by)
	case len(names) == 1:
		return nil, fmt.Errorf("column %q has only one group, %s; two are needed", by, there)
	}
	largest := slices.Clone(names)
	slices.SortStableFunc(largest, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	return nil, fmt.Errorf("column %q has %d groups: %s; pick two with ReadGroups %s", by, len(names), there, shell.List([]string{printable.Cell(largest[0]), printable.Cell(largest[1])}))
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
	var problems []string
	for _, side := range []struct {
		file          string
		names, others []string
	}{{fileA, a, b}, {fileB, b, a}} {
		if missing := slices.DeleteFunc(slices.Clone(side.others), func(name string) bool { return slices.Contains(side.names, name) }); len(missing) > 0 {
			problems = append(problems, fmt.Sprintf("%s has no column %s", side.file, listing(missing)))
		}
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
