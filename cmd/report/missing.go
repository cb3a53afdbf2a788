package report

import (
	"cmp"
	"fmt"
	"math"
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

// newMissingMap is nil for a table without gaps, and for one that tells of pairs of columns only.
func newMissingMap(t *data.Table, names []string) *missingMap {
	if t.Counted != nil && t.Counted.Pairs != nil {
		return nil
	}
	gaps := make([]int, t.D)
	for j := range gaps {
		gaps[j] = t.RowCount() - t.ObservedIn(j)
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
	patterns := patternsOf(t)
	drawn := patterns[:min(len(patterns), mostPatterns)]
	m := &missingMap{}
	m.Caption = fmt.Sprintf("Patterns of missing cells: a column for each of the %d columns with gaps, most gaps first, a row for each pattern, the most frequent first, with its number of rows. Red: missing.", all)
	if all > len(columns) {
		m.Caption += fmt.Sprintf(" The %d columns with most gaps are drawn.", len(columns))
	}
	shown := 0
	for _, p := range drawn {
		shown += p.rows
	}
	if len(patterns) > len(drawn) {
		m.Caption += fmt.Sprintf(" There are %d patterns; the %d drawn are those of %d of the %d rows.", len(patterns), len(drawn), shown, t.RowCount())
	}
	m.Spoken = spoken(t, names, drawn, columns)
	m.draw(t, names, drawn, columns)
	return m
}

// pattern is rows with the same gaps: the first of them, and for how many rows they stand.
type pattern struct{ first, rows int }

// patternsOf are a table's patterns, the most frequent first.
func patternsOf(t *data.Table) (out []pattern) {
	for _, rows := range t.Patterns(t.AllRows()) {
		total := 0.0
		for _, i := range rows {
			total += t.Count(i)
		}
		out = append(out, pattern{rows[0], int(math.Round(total))})
	}
	slices.SortStableFunc(out, func(a, b pattern) int { return cmp.Compare(b.rows, a.rows) })
	return out
}

// spoken tells of the most frequent patterns in words.
func spoken(t *data.Table, names []string, patterns []pattern, columns []int) string {
	var parts []string
	for _, p := range patterns[:min(len(patterns), 8)] {
		var lacking []string
		for _, j := range columns {
			if !t.Observed[p.first*t.D+j] {
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
		parts = append(parts, fmt.Sprintf("%d rows lack %s", p.rows, words))
	}
	return "Missing cells by pattern: " + strings.Join(parts, "; ")
}

// draw places cells, names and counts.
func (m *missingMap) draw(t *data.Table, names []string, patterns []pattern, columns []int) {
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
	for row, p := range patterns {
		y := top + row*(high+gap)
		for i, j := range columns {
			to := &missing
			if t.Observed[p.first*t.D+j] {
				to = &seen
			}
			fmt.Fprintf(to, "M%d %dh%dv%dh-%dz", i*wide, y, wide-gap, high, wide-gap)
		}
		m.Counts = append(m.Counts, placedText{len(columns)*wide + 8, y + 12, fmt.Sprint(p.rows)})
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
