package data

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// PairCounts returns the number of rows that have both columns of each pair (0,1), (0,2), ….
func (t *Table) PairCounts() (counts []int) {
	if t.Sampled != nil && t.Sampled.Pairs != nil {
		return slices.Clone(t.Sampled.Pairs)
	}
	var pairs *Pairs
	if t.Counted != nil {
		pairs = t.Counted.Pairs
	}
	if pairs == nil {
		unweighted := *t
		unweighted.Weights = nil
		pairs = unweighted.PairSums()
	}
	for j := range t.D {
		for _, n := range pairs.Number[j*t.D+j+1 : (j+1)*t.D] {
			counts = append(counts, int(math.Round(n)))
		}
	}
	return counts
}

// NeverTogether returns the pairs of columns j < k that are never observed in the same row.
func (t *Table) NeverTogether() (pairs [][2]int) {
	if t.Sampled == nil && t.Counted == nil {
		seen := make([]int, t.D)
		for i, observed := range t.Observed[:t.N*t.D] {
			if observed {
				seen[i%t.D]++
			}
		}
		slices.Sort(seen)
		if t.D < 2 || seen[0]+seen[1] > t.N { // any two columns share a row
			return nil
		}
	}
	counts, i := t.PairCounts(), 0
	for j := range t.D {
		for k := j + 1; k < t.D; k++ {
			if counts[i] == 0 {
				pairs = append(pairs, [2]int{j, k})
			}
			i++
		}
	}
	return pairs
}

const multiplied = 512

// PairSums returns Σ_i a_i x_ij x_ik and Σ_i a_i over the rows that have both columns, a_i = Weight(i).
func (t *Table) PairSums() *Pairs {
	d := t.D
	cross, number := newSymmetric(d), newSymmetric(d)
	value, mask := make([]float64, multiplied*d), make([]float64, multiplied*d)
	for first := 0; first < t.N; first += multiplied {
		n := min(multiplied, t.N-first)
		complete := true
		for i := range n {
			root := math.Sqrt(t.Weight(first + i))
			from := (first + i) * d
			x, o := value[i*d:(i+1)*d], mask[i*d:(i+1)*d]
			for j, seen := range t.Observed[from : from+d] {
				if x[j], o[j] = 0, 0; seen {
					x[j], o[j] = root*t.Values[from+j], root
				} else {
					complete = false
				}
			}
		}
		rows := func(x []float64) blas64.General { return blas64.General{Rows: n, Cols: d, Stride: d, Data: x} }
		blas64.Syrk(blas.Trans, 1, rows(value), 1, cross)
		if complete && t.Counted == nil && t.Weights == nil {
			for j := range d {
				for k := j; k < d; k++ {
					number.Data[j*d+k] += float64(n)
				}
			}
		} else {
			blas64.Syrk(blas.Trans, 1, rows(mask), 1, number)
		}
	}
	for j := range d {
		for k := range j {
			cross.Data[j*d+k], number.Data[j*d+k] = cross.Data[k*d+j], number.Data[k*d+j]
		}
	}
	return &Pairs{Cross: cross.Data, Number: number.Data}
}

func newSymmetric(d int) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: d, Stride: d, Data: make([]float64, d*d)}
}
