package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteDifferences(t *testing.T) {
	r := Result{Pairs: []Difference{
		{From: "a", To: "b,c", Weights: [2]float64{0.5, -0.25}, Value: 0.75, Low: 0.25, High: 1.25, P: 0.01, Q: 0.02},
		{From: "a", To: "d", Low: math.NaN(), High: math.NaN(), P: 1, Q: 1},
	}}
	var text strings.Builder
	require.NoError(t, r.WriteDifferences(&text))
	require.Equal(t, "from,to,partial_correlation_a,partial_correlation_b,difference,low,high,p,q\na,\"b,c\",0.5,-0.25,0.75,0.25,1.25,0.01,0.02\na,d,0,0,0,,,1,1\n", text.String())
	for i := range r.Pairs {
		r.Pairs[i].Estimates = &Estimates{Estimate: [2]float64{0.5, 0.25}, Value: 0.25, Low: -0.5, High: 1, P: 0.5, Q: math.NaN()}
	}
	text.Reset()
	require.NoError(t, r.WriteDifferences(&text))
	require.Contains(t, text.String(), ",q,estimate_a,estimate_b,estimate_difference,estimate_low,estimate_high,estimate_p,estimate_q\n")
	require.Contains(t, text.String(), "a,d,0,0,0,,,1,1,0.5,0.25,0.25,-0.5,1,0.5,\n")
}
