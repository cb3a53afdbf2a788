package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"missingscore/data"
)

// missingMap draws which cells are missing together: a column for each of the table's columns
// that have gaps, a row for each pattern of gaps.
type missingMap struct {
	Width, Height   int
	Names, Counts   []placedText
	Seen, Gaps      string // as paths
	Caption, Spoken string
}

type placedText struct {
	X, Y int
	Text string
}

const (
	mostPatterns = 30  // that are drawn
	mostGapped   = 120 // columns that are drawn
)

// newMissingMap is nil for a table without gaps.
func newMissingMap(t *data.Table, names []string) *missingMap {
	gaps := make([]int, t.D)
	for k, seen := range t.Observed {
		if !seen {
			gaps[k%t.D]++
		}
	}
	var columns []int
	for j, n := range gaps {
		if n > 0 {
			columns = append(columns, j)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	all := len(columns)
	slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(gaps[b], gaps[a]) })
	columns = columns[:min(all, mostGapped)]
	patterns := t.Patterns(t.AllRows())
	slices.SortStableFunc(patterns, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	drawn := patterns[:min(len(patterns), mostPatterns)]
	m := &missingMap{}
	m.Caption = fmt.Sprintf("Patterns of missing cells: a column for each of the %d columns with gaps, most gaps first, a row for each pattern, the most frequent first, with its number of rows. Red: missing.", all)
	if all > len(columns) {
		m.Caption += fmt.Sprintf(" The %d columns with most gaps are drawn.", len(columns))
	}
	shown := 0
	for _, rows := range drawn {
		shown += len(rows)
	}
	if len(patterns) > len(drawn) {
		m.Caption += fmt.Sprintf(" There are %d patterns; the %d drawn are those of %d of the %d rows.", len(patterns), len(drawn), shown, t.N)
	}
	m.Spoken = spoken(t, names, drawn, columns)
	m.draw(t, names, drawn, columns)
	return m
}

// spoken tells of the most frequent patterns in words.
func spoken(t *data.Table, names []string, patterns [][]int, columns []int) string {
	var parts []string
	for _, rows := range patterns[:min(len(patterns), 8)] {
		var lacking []string
		for _, j := range columns {
			if !t.Observed[rows[0]*t.D+j] {
				lacking = append(lacking, names[j])
			}
		}
		words := "nothing"
		if len(lacking) > 0 {
			words = strings.Join(lacking[:min(len(lacking), 6)], ", ")
			if more := len(lacking) - 6; more > 0 {
				words += fmt.Sprintf(" and %d more", more)
			}
		}
		parts = append(parts, fmt.Sprintf("%d rows lack %s", len(rows), words))
	}
	return "Missing cells by pattern: " + strings.Join(parts, "; ")
}

// draw places cells, names and counts.
func (m *missingMap) draw(t *data.Table, names []string, patterns [][]int, columns []int) {
	const high, gap, most = 15, 1, 20 // of a cell; most letters of a name
	wide := max(4, min(30, 800/len(columns)))
	top := 8
	if wide >= 11 { // names have room
		letters := 0
		for _, j := range columns {
			letters = max(letters, min(most, utf8.RuneCountInString(names[j])))
		}
		top = 14 + 6*letters
		for i, j := range columns {
			m.Names = append(m.Names, placedText{i*wide + wide/2 + 4, top - 6, cut(names[j], most)})
		}
	}
	var seen, missing strings.Builder
	for row, rows := range patterns {
		y := top + row*(high+gap)
		for i, j := range columns {
			to := &missing
			if t.Observed[rows[0]*t.D+j] {
				to = &seen
			}
			fmt.Fprintf(to, "M%d %dh%dv%dh-%dz", i*wide, y, wide-gap, high, wide-gap)
		}
		m.Counts = append(m.Counts, placedText{len(columns)*wide + 8, y + 12, fmt.Sprint(len(rows))})
	}
	m.Seen, m.Gaps = seen.String(), missing.String()
	m.Width, m.Height = max(900, len(columns)*wide+70), top+len(patterns)*(high+gap)+8
}

// cut is a name of at most so many characters.
func cut(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}
