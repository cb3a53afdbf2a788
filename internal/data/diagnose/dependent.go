package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
)

const (
	// explainedBut is the unexplained share of variance of a nearly dependent column.
	explainedBut = 0.01
	// exactBut is the share below which only rounding is left.
	exactBut      = 1e-7
	mostDependent = 150 // columns examined together
	copiesCost    = 5e8 // columns² · rows of pairwise comparison
	mostSets      = 5   // reported
	leastKept     = 1e-6
	zeroPart      = 1e-6
)

// The search leaves out one column of each set (the last, if the dependence is exact) and continues.
func dependent(e *examined) []Finding {
	findings, active := e.copies(e.active())
	rows := rowsWithValues(e.Table)
	if len(active) > mostDependent || rows < 3*len(active) {
		return findings
	}
	r, candidate := e.correlation(active)
	for r != nil && len(active) > 2 && len(findings) < mostSets {
		set := leastSet(r, candidate, leastKept)
		if set == nil {
			return findings
		}
		target := set[0]
		columns := make([]int, len(set))
		for k, j := range set {
			columns[k] = active[j]
		}
		f, columns, ok := e.combination(columns)
		if ok && f.Exact != "" {
			last := slices.Index(columns, slices.Max(columns))
			columns[0], columns[last] = columns[last], columns[0]
			slices.Sort(columns[1:])
			if f, _, ok = e.combination(columns); ok {
				target = slices.Index(active, columns[0])
			}
		}
		if ok {
			findings = append(findings, f)
		}
		active = slices.Delete(active, target, target+1)
		r = within(r, slices.Delete(allColumns(r), target, target+1))
	}
	return findings
}

func (e *examined) active() (active []int) {
	for j, c := range e.columns {
		if !e.explained[j] && c.cells >= fewestRows {
			active = append(active, j)
		}
	}
	return active
}

// copies finds pairs that are equal up to location and scale. left excludes one of each pair.
func (e *examined) copies(active []int) (findings []Finding, left []int) {
	if len(active) < 2 || float64(len(active))*float64(len(active))*float64(e.N) > copiesCost {
		return nil, active
	}
	for _, j := range active {
		of := slices.IndexFunc(left, func(k int) bool { return e.nearlyEqual(j, k) })
		if of < 0 {
			left = append(left, j)
			continue
		}
		if f, _, ok := e.combination([]int{j, left[of]}); ok && len(findings) < mostSets {
			findings = append(findings, f)
		}
	}
	return findings, left
}

// together returns the values of columns in the rows that have all of them, and the number of these
// rows, as often as they count.
func together(t *data.Table, columns []int) (x [][]float64, rows int) {
	x = make([][]float64, len(columns))
	for i := range t.N {
		at := i * t.D
		if slices.ContainsFunc(columns, func(j int) bool { return !t.Observed[at+j] }) {
			continue
		}
		rows += int(t.Count(i) + 0.5)
		for k, j := range columns {
			x[k] = append(x[k], t.Values[at+j])
		}
	}
	return x, rows
}

// parts are the columns with nonzero slopes in the first column's relation.
func (e *examined) combination(columns []int) (f Finding, parts []int, ok bool) {
	all, _ := together(e.after, columns)
	y, x := all[0], all[1:]
	if len(y) < 3*len(columns)+10 && len(columns) > 2 {
		return f, nil, false
	}
	slopes, constant, unexplained := regress(y, x)
	if !(unexplained < explainedBut) {
		return f, nil, false
	}
	sd := stat.StdDev(y, nil)
	parts, _ = contributing(columns, slopes, x, leastKept*sd)
	if 1 < len(parts) && len(parts) < len(columns) {
		return e.combination(parts)
	}
	columns, slopes = contributing(columns, slopes, x, zeroPart*sd)
	names, labels := e.names(columns), e.Transform.Labels(e.Names)
	share := fmt.Sprintf("all but %.2g %% of its variance", 100*unexplained)
	of := fmt.Sprintf("%s ≈ %s", labels[columns[0]], formula(slopes, columns[1:], labels, constant, sd))
	f = Finding{Severity: Warning, Columns: names, LeaveOut: names[:1]}
	if unexplained < exactBut {
		share, f.Exact = "exact up to rounding", of
	}
	f.Message = fmt.Sprintf("%s are nearly collinear: %s (%s), so their partial correlations are unreliable; leave one of them out (%s)",
		columnsText(names), of, share, set("ReadOptions.Exclude", names[:1]))
	return f, columns, true
}

// contributing keeps the first column and those that contribute more than least to its variation.
func contributing(columns []int, slopes []float64, x [][]float64, least float64) (kept []int, parts []float64) {
	kept = columns[:1:1]
	for k, slope := range slopes {
		if math.Abs(slope)*stat.StdDev(x[k], nil) > least {
			kept, parts = append(kept, columns[k+1]), append(parts, slope)
		}
	}
	return kept, parts
}

func formula(slopes []float64, columns []int, labels []string, constant, sd float64) string {
	var text strings.Builder
	add := func(v float64, what string) {
		sign := "+ "
		if v < 0 {
			sign = "− "
		}
		if text.Len() == 0 {
			sign = strings.TrimSuffix(strings.TrimPrefix(sign, "+ "), " ")
		} else {
			text.WriteByte(' ')
		}
		number := fmt.Sprintf("%.3g ", math.Abs(v))
		if number == "1 " && what != "" {
			number = ""
		}
		text.WriteString(strings.TrimSpace(sign + number + what))
	}
	for k, j := range columns {
		if k == listed {
			text.WriteString(" …")
			break
		}
		add(slopes[k], labels[j])
	}
	if math.Abs(constant) > 1e-3*sd {
		add(constant, "")
	}
	return text.String()
}

// regress returns the least-squares fit, and the unexplained share of the variance of y.
func regress(y []float64, x [][]float64) (slopes []float64, constant, unexplained float64) {
	n := len(y)
	a, b := mat.NewDense(n, len(x), nil), mat.NewDense(n, 1, nil)
	means, sds := make([]float64, len(x)), make([]float64, len(x))
	for k, column := range x {
		means[k], sds[k] = stat.PopMeanStdDev(column, nil)
		for i, v := range column {
			a.Set(i, k, (v-means[k])/sds[k])
		}
	}
	mean, sd := stat.PopMeanStdDev(y, nil)
	for i, v := range y {
		b.Set(i, 0, (v-mean)/sd)
	}
	var c mat.Dense
	if err := c.Solve(a, b); err != nil {
		if _, close := err.(mat.Condition); !close {
			return nil, 0, math.NaN()
		}
	}
	constant = mean
	for k := range x {
		slopes = append(slopes, c.At(k, 0)*sd/sds[k])
		constant -= slopes[k] * means[k]
	}
	var fitted mat.Dense
	fitted.Mul(a, &c)
	b.Sub(b, &fitted)
	return slopes, constant, mat.Norm(b, 2) * mat.Norm(b, 2) / float64(n)
}

// leastSet returns a small set of columns whose first has less than the share candidate of its
// variance unexplained by the others; nil if there is none. It removes columns with the smallest
// loadings on the last eigenvector while the unexplained share is at most three times that of all
// columns, or kept.
func leastSet(r *mat.SymDense, candidate, kept float64) []int {
	var eigen mat.EigenSym
	if !eigen.Factorize(r, true) {
		return nil
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	loading := func(j int) float64 { return math.Abs(vectors.At(j, 0)) }
	set := allColumns(r)
	share, _ := unexplained(r, set)
	if share > candidate {
		return nil
	}
	limit := min(candidate, max(3*share, kept))
	slices.SortStableFunc(set, func(j, k int) int { return cmp.Compare(loading(j), loading(k)) })
	for k := 0; k < len(set) && len(set) > 2; {
		smaller := slices.Delete(slices.Clone(set), k, k+1)
		if share, _ := unexplained(r, smaller); share <= limit {
			set = smaller
		} else {
			k++
		}
	}
	_, target := unexplained(r, set)
	set[0], set[target] = set[target], set[0]
	slices.Sort(set[1:])
	return set
}

// within is the part of r for a set of columns.
func within(r *mat.SymDense, set []int) *mat.SymDense {
	s := mat.NewSymDense(len(set), nil)
	for a, j := range set {
		for b, k := range set[:a+1] {
			s.SetSym(a, b, r.At(j, k))
		}
	}
	return s
}

func allColumns(r *mat.SymDense) []int {
	all := make([]int, r.SymmetricDim())
	for j := range all {
		all[j] = j
	}
	return all
}

// unexplained returns the smallest 1 − R² = 1/(R⁻¹)_jj, and the column with the largest coefficient.
func unexplained(r *mat.SymDense, set []int) (share float64, which int) {
	n, s := len(set), within(r, set)
	for a := range n {
		s.SetSym(a, a, s.At(a, a)+1e-12)
	}
	var factor mat.Cholesky
	if !factor.Factorize(s) {
		return 0, n - 1
	}
	var inverse mat.SymDense
	if err := factor.InverseTo(&inverse); err != nil && math.IsInf(factor.Cond(), 1) {
		return 0, n - 1
	}
	for j := range n {
		if inverse.At(j, j) > inverse.At(which, which) {
			which = j
		}
	}
	return 1 / inverse.At(which, which), which
}

// Copies warns of columns of a data.Counted table that are linear functions of another column up to
// rounding, for at most 150 columns.
func Copies(t *data.Table) (findings []Finding) {
	if t.D > mostDependent || len(t.Values) == 0 {
		return nil
	}
	for k := 1; k < t.D; k++ {
		for j := range k {
			x, _ := together(t, []int{k, j})
			if len(x[0]) < 3 {
				continue
			}
			if _, _, unexplained := regress(x[0], x[1:]); unexplained < exactBut {
				names := []string{t.Names[k], t.Names[j]}
				of := fmt.Sprintf("%s is a linear function of %s", t.Names[k], t.Names[j])
				findings = append(findings, Finding{Kind: "dependent", Severity: Warning, Columns: names, LeaveOut: names[:1], Exact: of,
					Message: fmt.Sprintf("%s up to rounding; leave one of them out (%s)", of, set("ReadOptions.Exclude", names[:1]))})
				break
			}
		}
	}
	return findings
}

// Dependent returns the smallest set of columns of a correlation matrix whose first is a linear
// combination of the others up to a share most of its variance; nil if there is none or r has more
// than 150 columns.
func Dependent(r *mat.SymDense, most float64) []int {
	if r.SymmetricDim() > mostDependent {
		return nil
	}
	if share, _ := unexplained(r, allColumns(r)); share > most {
		return nil
	}
	return leastSet(r, most, 0)
}

const exactShare = 1e-20

// Exact counts the rows that have all the columns and reports whether the first column is a linear
// combination of the others up to rounding, or rows are no more than columns.
func Exact(t *data.Table, columns []int) (rows int, exact bool) {
	x, rows := together(t, columns)
	if rows <= len(columns) {
		return rows, true
	}
	_, _, share := regress(x[0], x[1:])
	return rows, share <= exactShare
}
