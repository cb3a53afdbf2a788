package pairmoments

import (
	"math"
	"sort"

	"missingscore/data"
)

// latents are a table's columns for correlations of latent normals: the category of each cell of an
// ordinal column, the value of other cells (docs/theory/ordinal.md).
type latents struct {
	table *data.Table
	rows  []int
	count []float64 // per row of the table; nil: ones
	level []int     // (N, D) categories of observed cells, from 0
	own   []float64 // S_jj
}

// newLatents returns nil without ordinal columns; it sets their moments to 1.
func (m *Moments) newLatents(t *data.Table, rows []int, counts []float64) *latents {
	if t.Cuts == nil {
		return nil
	}
	l := &latents{table: t, rows: rows, count: counts, level: make([]int, len(t.Values)), own: make([]float64, t.D)}
	for at, v := range t.Values {
		if cuts := t.Cuts[at%t.D]; cuts != nil && t.Observed[at] {
			l.level[at] = sort.SearchFloat64s(cuts, v)
		}
	}
	for j := range t.D {
		if t.Cuts[j] != nil && m.S[j*t.D+j] > 0 {
			m.S[j*t.D+j] = 1
		}
		l.own[j] = m.S[j*t.D+j]
	}
	return l
}

// moment returns S_jk; v is the product moment, for two numbers.
func (l *latents) moment(j, k int, v float64) float64 {
	first, second := l.table.Cuts[j], l.table.Cuts[k]
	switch {
	case first == nil && second == nil:
		return v
	case first != nil && second != nil:
		return Polychoric(l.counts(j, k), first, second)
	case first != nil:
		return l.serial(k, j)
	}
	return l.serial(j, k)
}

func (l *latents) serial(number, ordinal int) float64 {
	d, root := l.table.D, math.Sqrt(l.own[number])
	var x, once []float64
	var levels []int
	l.both(number, ordinal, func(row int, count float64) {
		x, levels, once = append(x, l.table.Values[row*d+number]/root), append(levels, l.level[row*d+ordinal]), append(once, count)
	})
	return root * Polyserial(x, levels, once, l.table.Cuts[ordinal])
}

func (l *latents) counts(j, k int) [][]float64 {
	counts := grid(len(l.table.Cuts[j])+1, len(l.table.Cuts[k])+1)
	d := l.table.D
	l.both(j, k, func(row int, count float64) { counts[l.level[row*d+j]][l.level[row*d+k]] += count })
	return counts
}

func (l *latents) both(j, k int, visit func(row int, count float64)) {
	d := l.table.D
	for _, row := range l.rows {
		if l.table.Observed[row*d+j] && l.table.Observed[row*d+k] {
			visit(row, times(l.count, row))
		}
	}
}
