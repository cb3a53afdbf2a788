package diagnose

import (
	"fmt"
	"strings"

	"missingscore/data"
)

const (
	apartKind  = "apart"
	namedPairs = 4 // of columns never observed together; more are counted
)

func apart(e *examined) []Finding { return Apart(e.Table) }

// Apart warns of columns that no row shows together: observed rows say nothing of what they have to do
// with each other given the others, wherever a fit leaves it.
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
