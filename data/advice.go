package data

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"missingscore/internal/printable"
	"missingscore/internal/shell"
)

// listed is how many names a message holds: more would bury what it says.
const listed = 20

// advice says what to do about a cell that is no number.
func (s *sheet) advice(o ReadOptions, cell string, problem error) string {
	mark := "--na " + shell.List(append(slices.DeleteFunc(slices.Clone(o.marks()), func(mark string) bool { return mark == "" }), cell)) // an empty cell is missing anyway
	switch {
	case errors.Is(problem, errTooLarge):
		return "rescale the column"
	case printable.Cell(cell) != cell: // too long to be repeated
		return "correct the cell"
	}
	plain, sure, thousands := s.withoutThousands(cell)
	other, decimal := s.otherDecimal(cell)
	point, flag := "point", "--dec ,"
	if s.decimal == ',' {
		point, flag = "comma", "--dec ."
	}
	switch {
	case thousands && sure:
		return "it has marks between its thousands: " + plain + " is needed (in a spreadsheet: the cells as numbers without them)"
	case thousands && decimal:
		return fmt.Sprintf("%s is needed if that mark is between thousands, %s if it is a decimal mark (%s if so in the whole file)", plain, other, flag)
	case decimal:
		return fmt.Sprintf("a decimal %s is needed: %s (or %s if all numbers of the file are so)", point, other, flag)
	case slices.Contains([]string{"true", "false"}, strings.ToLower(cell)):
		return "yes and no are written as 1 and 0"
	}
	if looksMissing(cell) {
		return "if it marks a missing cell: " + mark
	}
	return "correct the cell, or read it as missing: " + mark
}

// isText says whether no value of column j is a number, not even with a decimal comma.
func (s *sheet) isText(j int, o ReadOptions) bool {
	return !slices.ContainsFunc(s.rows, func(row []string) bool {
		_, err := s.number(row[j])
		_, decimal := s.otherDecimal(row[j])
		_, _, thousands := s.withoutThousands(row[j])
		return !o.missing(row[j]) && (decimal || thousands || !errors.Is(err, errNotNumber))
	})
}

// usable are the names of those columns which could be read by themselves.
func (s *sheet) usable(columns []int, o ReadOptions) []string {
	var names []string
	times := map[string]int{}
	for _, name := range s.header {
		times[name]++
	}
	for _, j := range columns {
		if times[s.header[j]] > 1 || checkNames(s.header[j:j+1]) != nil {
			continue
		}
		if column, _, err := s.parse(j, o); err == nil && column.faults()[0] == nil {
			names = append(names, s.header[j])
		}
	}
	return names
}

func leaveOut(others []string) string {
	switch {
	case len(others) == 0:
		return "no other column can be used"
	case len(others) > listed:
		return fmt.Sprintf("leave it out with --columns and the names of the %d others that can be used", len(others))
	}
	return "leave it out with --columns " + shell.List(others)
}

func listing(names []string) string {
	if len(names) > listed {
		return fmt.Sprintf("%s and %d more", listing(names[:listed]), len(names)-listed)
	}
	shown := make([]string, len(names))
	for i, name := range names {
		if shown[i] = printable.Cell(name); strings.ContainsAny(name, `,"`) { // as flags take it
			shown[i] = shell.List([]string{name})
		}
	}
	return strings.Join(shown, ", ")
}
