package data

import "math"

// ReadPrices reads a long table of prices as ReadClosingPrices does and gives the
// wide table of daily log returns
//
//	r_tj = log p_tj − log p_(t−1)j
//
// with a row for each date but the first. Days follow each other as they do in the
// whole file, so a return over a day on which only this name has no price is
// missing, never a return over two days. Rows without any return are left out and
// counted in Dropped.
func ReadPrices(path string, c PriceColumns, o ReadOptions) (*Table, error) {
	prices, err := readQuotes(path, c, o)
	if err != nil {
		return nil, err
	}
	return prices.logReturns().usable(path + ": returns")
}

func (t *Table) logReturns() *Table {
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
