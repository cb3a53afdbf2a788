package moments

import "missingscore/internal/exactsum"

// pairRows are taken at a time.
const pairRows = 256

// addPairs takes rows into the moments of pairs. With o_ij = 1 where a cell is observed and
// x_ij = 0 where it is not, the products of all columns x and o are of each pair the sums over
// the rows that have both: Σ x_j x_k, Σ x_j o_k, Σ o_j x_k, and o_j o_k their number.
func (m *Moments) addPairs(values []float64, observed []bool) {
	d := len(m.Names)
	for from := 0; from < len(values); from += pairRows * d {
		to := min(from+pairRows*d, len(values))
		columns := m.room(2 * d)
		for at := from; at < to; at += d {
			for j, seen := range observed[at : at+d] {
				x, o := 0.0, 0.0
				if seen {
					x, o = values[at+j], 1
				}
				columns[j].Append(x)
				columns[d+j].Append(o)
			}
		}
		m.pairs.Add(columns)
	}
}

// pairNumber is n_jk.
func (m *Moments) pairNumber(j, k int) int {
	d := len(m.Names)
	return int(m.pairs.At(d+j, d+k).Float64())
}

// pairCentred is Σ (x_j − a)(x_k − b) over the rows that have both.
func (m *Moments) pairCentred(j, k int, a, b exactsum.Number) exactsum.Number {
	d := len(m.Names)
	out := m.pairs.At(j, k).Minus(b.Times(m.pairs.At(j, d+k))).Minus(a.Times(m.pairs.At(d+j, k)))
	return out.Plus(a.Times(b).Times(m.pairs.At(d+j, d+k)))
}
