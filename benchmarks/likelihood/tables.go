package likelihood

import (
	"encoding/json"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
)

// tables have a line for each table of rows, and the mean difference of the AUCs.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	each := markdown.Table{Name: "paths", Header: []string{"d", "missing", "replicate", "Marg-Exact: seconds", "AUC", "iterations", "EM and glasso: seconds", "AUC"}}
	means := markdown.Table{Name: "differences", Header: []string{"d", "missing", "Marg-Exact: AUC", "EM and glasso: AUC", "difference", "replicates"}}
	for _, n := range s.Networks {
		d, missing := strconv.Itoa(n.Columns), strconv.FormatFloat(n.Missing, 'g', -1, 64)
		chosen, err := r.Only(map[string]string{columnsColumn: d, missingColumn: missing})
		if err != nil {
			return nil, err
		}
		of, err := lines(chosen)
		if err != nil {
			return nil, err
		}
		for _, replicate := range of.replicates {
			ours, theirs := of.line(replicate, exact), of.line(replicate, rival)
			each.Lines = append(each.Lines, []string{d, missing, replicate, ours[3], ours[0], ours[1], theirs[3], theirs[0]})
		}
		auc, err := aucOf(d).Read(chosen)
		if err != nil {
			return nil, err
		}
		if difference := claims.Differences(auc, exact, auc, rival); len(difference) > 0 {
			means.Lines = append(means.Lines, []string{d, missing, markdown.Interval(auc.Of("", exact)), markdown.Interval(auc.Of("", rival)), markdown.Interval(difference), strconv.Itoa(len(difference))})
		}
	}
	return []markdown.Table{each, means}, nil
}

// byReplicate are the value columns of each replicate's methods.
type byReplicate struct {
	replicates []string
	values     map[[2]string][]string
}

func lines(r cells.Results) (of byReplicate, err error) {
	of.values = map[[2]string][]string{}
	all, err := r.Values("replicate", "method", aucColumn, iterationsColumn, edgesColumn, secondsColumn)
	for _, v := range all {
		if !slices.Contains(of.replicates, v[0]) {
			of.replicates = append(of.replicates, v[0])
		}
		of.values[[2]string{v[0], v[1]}] = v[2:]
	}
	return of, err
}

// line is a method's; "–" where it was not run.
func (of byReplicate) line(replicate, method string) []string {
	if v, ok := of.values[[2]string{replicate, method}]; ok {
		return v
	}
	return []string{"–", "–", "–", "–"}
}
