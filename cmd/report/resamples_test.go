package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/trainers/inference"
)

func TestWriteDifferences(t *testing.T) {
	d := &inference.Differences{Of: []int{2, 0, 1}, Value: []float64{0.5, -0.25, 0.125}, Low: []float64{0.25, -0.5, -0.5}, High: []float64{1, 1, -0.125}}
	names := []string{"a", "b,c", "d"}
	var text strings.Builder
	require.NoError(t, writeDifferences(&text, []string{"node"}, func(node int) []string { return names[node : node+1] }, d))
	require.Equal(t, `node_1,node_2,value_1,value_2,difference,low,high,differs
d,a,0.5,-0.25,0.75,0.25,1,true
d,"b,c",0.5,0.125,0.375,-0.5,1,false
a,"b,c",-0.25,0.125,-0.375,-0.5,-0.125,true
`, text.String())
}
