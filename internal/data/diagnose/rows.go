package diagnose

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/internal/printable"
)

// leastRows: the standard error of Fisher's z is 1/√(n − 3).
const leastRows = 4

// fewestRows: below it a zero correlation is easily estimated as 0.5, 1.96/√(n − 3) > 0.5.
const fewestRows = 19

// Refusal returns why a table cannot give a result, or nil.
func Refusal(t *data.Table) error {
	n := rowsWithValues(t)
	if n >= leastRows {
		return nil
	}
	return fmt.Errorf("only %d rows have a value: at least %d are needed for a correlation", n, leastRows)
}

func rowsWithValues(t *data.Table) (n int) {
	if t.Counted != nil || t.Sampled != nil {
		return t.RowCount()
	}
	for row := range slices.Chunk(t.Observed, max(1, t.D)) {
		if slices.Contains(row, true) {
			n++
		}
	}
	return n
}

func fewRows(e *examined) []Finding {
	f := Finding{Severity: Warning}
	switch n := rowsWithValues(e.Table); {
	case n < fewestRows:
		f.Message = fmt.Sprintf("only %d rows: independent columns show correlations up to %.2f by chance; get more rows, or treat the result as exploratory", n, math.Tanh(1.96/math.Sqrt(float64(max(n-3, 1)))))
	case e.Unpenalised && n <= e.D:
		f.Message = fmt.Sprintf("%d rows for %d columns: too few to estimate a normal distribution without a penalty; leave columns out (ReadOptions.Exclude), or estimate a network", n, e.D)
	case n <= e.D:
		f.Severity, f.Message = Note, fmt.Sprintf("%d rows for %d columns: too few to detect weak partial correlations", n, e.D)
	default:
		return nil
	}
	return []Finding{f}
}

func seldomObserved(e *examined) []Finding {
	if rowsWithValues(e.Table) < fewestRows {
		return nil
	}
	var seldom []int
	least := e.RowCount()
	for j, c := range e.columns {
		if c.cells >= fewestRows { // enough in the file, if not in the sample
			continue
		}
		if cells := e.ObservedIn(j); cells < fewestRows {
			seldom = append(seldom, j)
			least = min(least, cells)
		}
	}
	names := e.names(seldom)
	text := "{columns} {is|are} observed in fewer than %d of %d rows (minimum: %d): estimates for {it|them} are mostly noise; "
	if e.D-len(names) < 2 { // nothing would be left to estimate
		return e.finding(Warning, seldom, text+"get more rows, or treat the result as exploratory", fewestRows, e.RowCount(), least)
	}
	f := e.finding(Warning, seldom, text+"leave {it|them} out (%s)", fewestRows, e.RowCount(), least, set("ReadOptions.Exclude", names))
	for i := range f {
		f[i].LeaveOut = names
	}
	return f
}

// matrices warns of rows that are a covariance matrix: symmetric, |a_jk| ≤ √(a_jj a_kk).
func matrices(e *examined) []Finding {
	d := e.D
	if e.N != d || d < 3 || e.Sampled != nil || !e.Complete() {
		return nil
	}
	ones := true
	for i := range d {
		if !(e.Values[i*d+i] > 0) {
			return nil
		}
		ones = ones && e.Values[i*d+i] == 1
		for j := range i {
			a, b, size := e.Values[i*d+j], e.Values[j*d+i], math.Sqrt(e.Values[i*d+i]*e.Values[j*d+j])
			if math.Abs(a) > size*(1+1e-9) || !(math.Abs(a-b) <= 1e-6*size) {
				return nil
			}
		}
	}
	what := "a covariance matrix (symmetric, as many rows as columns)"
	if ones {
		what = "a correlation matrix (symmetric, 1 on the diagonal)"
	}
	return []Finding{{Severity: Warning, Message: fmt.Sprintf("the table looks like %s: its rows are not observations; give the original table", what)}}
}

// imputedTables recognises mice's long format, which impute writes too.
func imputedTables(e *examined) []Finding {
	if !slices.Contains(e.Names, ".imp") || !slices.Contains(e.Names, ".id") {
		return nil
	}
	return []Finding{{Severity: Warning, Columns: []string{".imp", ".id"}, Message: "columns .imp and .id mark imputed tables, one below the other: their rows are copies and make intervals too narrow; give the original table, or analyse each .imp alone"}}
}

const (
	repeatedShare = 0.1     // share of repeated rows to report
	leastSteps    = 1000    // minimum range, in steps, of a column whose equal values are not chance
	leastDistinct = 10      // rows needed to judge by the common divisor of their numbers of copies
	mostRepeated  = 1 << 20 // rows examined
)

func repeated(e *examined) []Finding {
	if e.Sampled != nil || e.D < 2 || e.N < leastDistinct || e.N > mostRepeated {
		return nil
	}
	class, copies := e.equalRows()
	n, u := len(class), len(copies)
	if float64(n-u) < repeatedShare*float64(n) {
		return nil
	}
	divisor := 0
	for _, m := range copies {
		for m != 0 { // greatest common divisor
			divisor, m = m, divisor%m
		}
	}
	extra := 0
	if divisor > 1 && u >= leastDistinct {
		extra = n - u
	} else {
		own := e.ownValues(class, u)
		for c, m := range copies {
			if own[c] >= 2 {
				extra += m - 1
			}
		}
	}
	if float64(extra) < repeatedShare*float64(n) {
		return nil
	}
	return []Finding{{Severity: Warning, Message: fmt.Sprintf("%d of %d rows repeat another row exactly: copies make intervals too narrow and add false edges; keep one of each, or give their counts as weights (Table.Weights)", extra, n)}}
}

func (e *examined) equalRows() (class, copies []int) {
	seed, numbers, text := maphash.MakeSeed(), map[uint64]int{}, make([]byte, 0, 8*e.D)
	for i := range e.N {
		text = text[:0]
		for k := i * e.D; k < (i+1)*e.D; k++ {
			x := math.NaN()
			if e.Observed[k] {
				x = e.Values[k]
			}
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(x))
		}
		key := maphash.Bytes(seed, text)
		c, known := numbers[key]
		if !known {
			c = len(copies)
			numbers[key], copies = c, append(copies, 0)
		}
		class, copies[c] = append(class, c), copies[c]+1
	}
	return class, copies
}

// ownValues counts, for each distinct row, the cells in fine columns whose value no other row has.
func (e *examined) ownValues(class []int, u int) []int {
	own := make([]int, u)
	for j := range e.D {
		if e.steps(j) < leastSteps {
			continue
		}
		of := map[float64]int{} // the row that has it, -1 for several
		for i, c := range class {
			if k := i*e.D + j; e.Observed[k] {
				if other, known := of[e.Values[k]]; known && other != c {
					c = -1
				}
				of[e.Values[k]] = c
			}
		}
		for _, c := range of {
			if c >= 0 {
				own[c]++
			}
		}
	}
	return own
}

// steps is the range of column j in units of the largest power of ten that divides all its values.
func (e *examined) steps(j int) float64 {
	c, power := e.columns[j], 3.
	for _, x := range e.column(e.Table, j) {
		for y := x / math.Pow(10, power); power > -6 && math.Abs(y-math.Round(y)) > 1e-6; y = x / math.Pow(10, power) {
			power--
		}
	}
	return (c.high - c.low) / math.Pow(10, power)
}

const (
	apartKind  = "apart"
	namedPairs = 4 // pairs named; the others are counted
)

func apart(e *examined) []Finding { return Apart(e.Table) }

// Apart warns of pairs that are never observed together: their partial correlation is not identified.
func Apart(t *data.Table) []Finding {
	pairs := t.NeverTogether()
	if len(pairs) == 0 {
		return nil
	}
	what := "their partial correlation is"
	if len(pairs) > 1 {
		what = "their partial correlations are"
	}
	in := make([]bool, t.D)
	for _, pair := range pairs {
		in[pair[0]], in[pair[1]] = true, true
	}
	var columns []string
	for j, name := range t.Names {
		if in[j] {
			columns = append(columns, name)
		}
	}
	return []Finding{{Kind: apartKind, Severity: Warning, Columns: columns, Message: fmt.Sprintf("%s are never observed in the same row: %s not determined by the data", PairsText(t, pairs), what)}}
}

const leastApart = 10

// apartLevels warns of columns that are missing in all rows of one level only.
func apartLevels(e *examined) []Finding {
	var words, columns []string
	for j, name := range e.Names {
		levels := data.Coded(e.Table, j)
		if levels == nil {
			continue
		}
		rows := perLevel(e.Table, j, j)
		for k, other := range e.Names {
			if e.N-e.ObservedIn(k) < leastApart {
				continue
			}
			seen := perLevel(e.Table, j, k)
			for level, n := range seen {
				if n == 0 && rows[level] >= leastApart && slices.Max(seen) > 0 {
					words = append(words, fmt.Sprintf("%s where %s is %s", other, name, printable.Cell(levels[level])))
					columns = append(columns, other, name)
				}
			}
		}
	}
	if words == nil {
		return nil
	}
	if more := len(words) - namedPairs; more > 0 {
		words = append(words[:namedPairs], fmt.Sprintf("%d more", more))
	}
	slices.Sort(columns)
	return []Finding{{Severity: Warning, Columns: slices.Compact(columns), Message: fmt.Sprintf("never observed: %s: their edges, and imputations there, rest on the model alone", strings.Join(words, ", "))}}
}

func perLevel(t *data.Table, j, k int) []int {
	counts := make([]int, len(data.Coded(t, j)))
	for at := 0; at < len(t.Values); at += t.D {
		if t.Observed[at+j] && t.Observed[at+k] {
			counts[int(t.Values[at+j])]++
		}
	}
	return counts
}

// PairsText names the first pairs of columns and counts the others.
func PairsText(t *data.Table, pairs [][2]int) string {
	var words []string
	for _, p := range pairs[:min(len(pairs), namedPairs)] {
		words = append(words, t.Names[p[0]]+" and "+t.Names[p[1]])
	}
	if n := len(pairs) - namedPairs; n > 0 {
		words = append(words, fmt.Sprintf("%d more pairs of columns", n))
	}
	return strings.Join(words, "; ")
}
