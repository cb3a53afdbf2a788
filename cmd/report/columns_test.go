package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/mcar"
)

func TestWriteColumns(t *testing.T) {
	nan := math.NaN()
	var b bytes.Buffer
	require.NoError(t, writeColumns(&b, []Column{
		{Name: "a,b", Observed: 3, Missing: 1, Mean: 0.5, Deviation: 2},
		{Name: "whole", Observed: 4, Mean: -1e-9, Deviation: nan},
		{Name: "alone", Observed: 2, Missing: 2, Mean: 1, Deviation: 1},
	}, []mcar.Column{
		{Name: "a,b", Missing: 1, P: 0.01, Corrected: 0.02, Predictor: "whole", Direction: "low"},
		{Name: "alone", Missing: 2, P: nan, Corrected: nan},
	}))
	require.Equal(t, `name,observed,missing,mean,deviation,p,p_corrected,predictor,direction
"a,b",3,1,0.5,2,0.01,0.02,whole,low
whole,4,0,-1e-09,,,,,
alone,2,2,1,1,,,,
`, b.String())
}

// Of very many columns the page has those with most missing cells and those whose gaps have the
// smallest p, and says where the others are.
func TestManyColumns(t *testing.T) {
	const all = mostRows + 3
	var r Report
	for j := range all {
		name := fmt.Sprint("x", j)
		r.Columns = append(r.Columns, Column{Name: name, Observed: all - j, Missing: j})
		p := 1 / float64(1+j)
		if j == all-1 {
			p = math.NaN()
		}
		r.Gaps = append(r.Gaps, mcar.Column{Name: name, P: p, Corrected: p})
	}
	require.Equal(t, "x1002", r.ColumnRows()[0].Name)
	require.Equal(t, "x3", r.ColumnRows()[mostRows-1].Name)
	require.Equal(t, "x1001", r.GapRows()[0].Name, "x1002 has no p")
	require.Equal(t, "x2", r.GapRows()[mostRows-1].Name)
	var b bytes.Buffer
	require.NoError(t, Write(&b, r))
	text := b.String()
	require.True(t, strings.Contains(text, "The 1000 columns with most missing cells, most first. All 1003 are in columns.csv."))
	require.True(t, strings.Contains(text, "the 1000 smallest of 1003 are here, all in columns.csv."))
	require.Equal(t, 2*mostRows, strings.Count(text, `<th scope="row">`))

	r.Columns, r.Gaps = r.Columns[:3], r.Gaps[:3]
	require.Equal(t, "x0", r.ColumnRows()[0].Name, "few are in the order of the table")
	b.Reset()
	require.NoError(t, Write(&b, r))
	require.NotContains(t, b.String(), "columns.csv")
}
