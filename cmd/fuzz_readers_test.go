package cmd

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/data/simulate"
	"missingscore/internal/fuzztest"
	"missingscore/internal/stream"
	"missingscore/trainers/fitted"
)

// Whatever follows --lower and --upper is a bound, or is refused.
func FuzzParseBound(f *testing.F) {
	type bound struct {
		column int
		value  float64
	}
	names := []string{"x1", "a=b"}
	fuzztest.Reader[bound]{
		Read: func(text string) (b bound, err error) {
			b.column, b.value, err = parseBound(text, names)
			return b, err
		},
		Write: func(b bound) (string, error) {
			if b.column < 0 {
				return fmt.Sprint(b.value), nil
			}
			return fmt.Sprintf("%s=%v", names[b.column], b.value), nil
		},
		Check:   func(t testing.TB, text string, b bound) { require.False(t, math.IsNaN(b.value), "%q", text) },
		Accepts: []string{"0", "-1e9", "x1=5", " x1 = -inf ", "Inf"},
		Refuses: []string{"", "x1", "x1=", "x9=0", "NaN", "x1=NaN", "1,5", "x1=x1=0"},
	}.Fuzz(f)
}

// Whatever follows --shard is one of so many, or is refused.
func FuzzParseShard(f *testing.F) {
	fuzztest.Reader[[2]int]{
		Read: func(text string) (shard [2]int, err error) {
			shard[0], shard[1], err = parseShard(text)
			return shard, err
		},
		Write: func(shard [2]int) (string, error) {
			if shard[1] == 0 {
				return "", nil
			}
			return fmt.Sprintf("%d/%d", shard[0], shard[1]), nil
		},
		Check: func(t testing.TB, text string, shard [2]int) {
			require.True(t, text == "" || shard[0] >= 1 && shard[0] <= shard[1], "%q", text)
		},
		Accepts: []string{"", "1/1", "2/8", "+1/8"},
		Refuses: []string{"0/8", "9/8", "1", "1/", "/8", "-1/8", "1/8/8", "a/b", "1/99999999999999999999"},
	}.Fuzz(f)
}

// Whatever follows --round and --clip says which values are imputed, or is refused; a bar is
// between the two.
func FuzzParseValues(f *testing.F) {
	table, err := data.NewTable([]string{"x1", "x2"}, []float64{1, 0.5, 2, 0.25, 3, -1}, []bool{true, true, true, true, true, true})
	require.NoError(f, err)
	fuzztest.Reader[fitted.Hold]{
		Read: func(text string) (fitted.Hold, error) {
			round, clip, _ := strings.Cut(text, "|")
			values := valueFlags{round: strings.Split(round, ",")}
			if clip != "" {
				values.clip = strings.Split(clip, ",")
			}
			err := values.parse(table)
			return values.hold, err
		},
		Check: func(t testing.TB, text string, h fitted.Hold) {
			for _, step := range h.Step {
				require.True(t, step >= 0 && !math.IsInf(step, 0), "%q", text)
			}
			for j := range h.Low {
				require.True(t, h.Low[j] <= h.High[j], "%q", text)
			}
		},
		Accepts: []string{"none", "auto", "x1=0.5", "auto,x2=1", "none|observed", "auto|x1=0:5,x2=:1", "none|x1=:"},
		Refuses: []string{"", "x1", "x9=1", "x1=0", "x1=-1", "x1=NaN", "x1=Inf", "none|x1", "none|x1=5:0", "none|x1=NaN:1", "none|x9=0:1", "none|x1=a:b"},
	}.Fuzz(f)
}

// Whatever follows --truncate of simulate is a box, a half-space or nothing, or is refused.
func FuzzTruncate(f *testing.F) {
	g, err := simulate.Normal(3, stream.New(1, stream.Simulate))
	require.NoError(f, err)
	fuzztest.Reader[bool]{
		Read: func(text string) (bounded bool, err error) {
			s, err := (&simulation{truncate: text, seed: 1}).truncated(g, "box")
			return s.Bounded(), err
		},
		Check:   func(t testing.TB, text string, bounded bool) { require.Equal(t, text != "", bounded, "%q", text) },
		Accepts: []string{"", "box", "halfspace", "box=0.3", "halfspace=1e-3", "0.2"},
		Refuses: []string{"ball", "box=", "box=0", "box=1", "halfspace=NaN", "1.5", "-0.1", "0.2=box"},
	}.Fuzz(f)
}
