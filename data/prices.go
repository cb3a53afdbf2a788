package data

import (
	"fmt"
	"math"
	"slices"
	"time"

	"missingscore/internal/memory"
	"missingscore/internal/printable"
)

// PriceColumns names the columns of a long table of prices.
type PriceColumns struct{ Date, Name, Price string }

// ReadClosingPrices reads a long table, one line for each date and name, and returns the wide table
// of prices: a row for each date in increasing order, a column for each name, sorted, or o.Columns
// in the requested order. Consecutive prices of a stock are strongly dependent; use ReadPrices for
// returns.
//
// Dates are written 2013-02-08. It fails, with file and line, on other dates, nonpositive prices
// and repeated pairs of date and name, and where ReadCSV fails. Rows without any price are left out
// and counted in Dropped.
func ReadClosingPrices(path string, c PriceColumns, o ReadOptions) (*Table, error) {
	prices, err := readQuotes(path, c, o)
	if err != nil {
		return nil, err
	}
	return usable(prices, path)
}

// readQuotes returns the wide table of all days of the file and the chosen names.
func readQuotes(path string, c PriceColumns, o ReadOptions) (*Table, error) {
	s, err := openSheet(path, o)
	if err != nil {
		return nil, err
	}
	columns, err := s.find([]string{c.Date, c.Name, c.Price})
	if err != nil {
		return nil, err
	}
	q := &quotes{sheet: s, date: columns[0], name: columns[1], price: columns[2]}
	days, names, err := q.margins()
	if err != nil {
		return nil, err
	}
	all := names
	if len(o.Columns) > 0 {
		if _, err := choose(names, o.Columns); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		names = o.Columns
	}
	if names, err = o.without(names, all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := CheckNames(names); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return q.wide(days, names, o)
}

type quotes struct {
	*sheet
	date, name, price int
}

// margins returns the sorted dates and names of the file.
func (q *quotes) margins() (days, names []string, err error) {
	for i, row := range q.rows {
		if _, err := time.Parse(time.DateOnly, row[q.date]); err != nil {
			return nil, nil, q.cellError(i, q.date, fmt.Errorf("is not a date"), "write year, month and day as 2013-02-08")
		}
		if row[q.name] == "" {
			return nil, nil, q.cellError(i, q.name, fmt.Errorf("is not a name"), "each price needs a name")
		}
		days, names = append(days, row[q.date]), append(names, row[q.name])
	}
	return distinct(days), distinct(names), nil
}

func distinct(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

func (q *quotes) wide(days, names []string, o ReadOptions) (*Table, error) {
	place := make(map[string]int, len(names))
	for j, name := range names {
		place[name] = j
	}
	const cellBytes = 17 // price, observed mark and line
	if err := memory.Check(cellBytes*float64(len(days))*float64(len(names)), "take fewer names, or fewer days", "%s, a table of %d days and %d names,", q.file, len(days), len(names)); err != nil {
		return nil, err
	}
	prices := blank(slices.Clone(names), len(days))
	firstLine, number := make([]int, prices.N*prices.D), q.reading(q.price, o)
	for i, row := range q.rows {
		j, chosen := place[row[q.name]]
		if !chosen {
			continue
		}
		day, _ := slices.BinarySearch(days, row[q.date])
		if first := firstLine[day*prices.D+j]; first > 0 {
			return nil, fmt.Errorf("%s: %q on %s is on line %d already; keep one of the two", q.at(q.lines[i]), printable.Cell(row[q.name]), printable.Cell(row[q.date]), first)
		}
		firstLine[day*prices.D+j] = q.lines[i]
		if o.missing(row[q.price]) {
			continue
		}
		price, err := number(row[q.price])
		if err != nil {
			return nil, q.cellError(i, q.price, err, q.advice(o, i, q.price, err))
		}
		if price <= 0 {
			return nil, q.cellError(i, q.price, fmt.Errorf("is not positive"), "prices are positive; leave the cell empty if there is none")
		}
		prices.set(day, j, price)
	}
	return prices, nil
}

// usable leaves out rows without a value and applies the checks of ReadCSV.
func usable(t *Table, file string) (*Table, error) {
	rows := withValues(t, nil)
	kept := only(t, rows)
	kept.Dropped = t.N - len(rows)
	return kept, acceptable(kept, file)
}

// ReadPrices reads a long table of prices as ReadClosingPrices does and returns daily log returns
//
//	r_tj = log p_tj − log p_(t−1)j
//
// with a row for each date but the first. Days are consecutive dates of the whole file: if a name
// has no price on one of the two days, its return is missing, never a return over two days. Rows
// without any return are left out and counted in Dropped.
func ReadPrices(path string, c PriceColumns, o ReadOptions) (*Table, error) {
	prices, err := readQuotes(path, c, o)
	if err != nil {
		return nil, err
	}
	return usable(logReturns(prices), path+": returns")
}

func logReturns(t *Table) *Table {
	r := blank(t.Names, t.N-1)
	for i := range r.N {
		for j := range r.D {
			before, after := i*t.D+j, (i+1)*t.D+j
			if t.Observed[before] && t.Observed[after] {
				r.set(i, j, math.Log(t.Values[after])-math.Log(t.Values[before]))
			}
		}
	}
	return r
}
