package transform_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/data/transform"
	"missingscore/internal/fuzztest"
)

func FuzzRead(f *testing.F) {
	names := []string{"x1", "x2"}
	fuzztest.Reader[transform.Columns]{
		Read: func(text string) (transform.Columns, error) { return transform.Read([]byte(text), names) },
		Write: func(c transform.Columns) (string, error) {
			text, err := c.Encode(names)
			return string(text), err
		},
		Check: func(t testing.TB, text string, c transform.Columns) {
			for _, g := range c {
				if g == nil {
					continue
				}
				for _, x := range []float64{-1e3, -1, 0, 0.5, 1, 2, 1e3} {
					if g.Check(x) != nil {
						continue
					}
					y := g.Forward(x)
					require.False(t, math.IsNaN(y), "%s: T(%g)", text, x)
					require.False(t, math.IsNaN(g.Inverse(y)), "%s: back from T(%g) = %g", text, x, y)
				}
			}
		},
		Accepts: []string{
			`{}`, `{"x1":{"kind":"log"},"x2":{"kind":"sqrt"}}`, `{"x1":{"kind":"log1p"}}`, `{"x2":{"kind":"logit"}}`,
			`{"x1":{"kind":"npn","values":[0,1,5],"scores":[-1,0,1.5],"lower":0}}`,
			`{"x2":{"kind":"npn","values":[-3,2],"scores":[-0.4,0.4],"lower":-4,"upper":9}}`,
			`{"x2":{"kind":"ordinal","categories":[0,1,2],"thresholds":[-0.5,0.7]}}`,
		},
		Refuses: []string{
			``, `null`, `[]`, `{"x3":{"kind":"log"}}`, `{"x1":{"kind":"logg"}}`, `{"x1":null}`, `{"x1":7}`,
			`{"x1":{"kind":"npn","values":[0],"scores":[0]}}`, `{"x1":{"kind":"npn","values":[0,0],"scores":[0,1]}}`, `{"x1":{"kind":"npn","values":[0,null],"scores":[0,1]}}`,
			`{"x1":{"kind":"ordinal","categories":[0,1],"thresholds":[]}}`, `{"x1":{"kind":"ordinal","categories":[1,0],"thresholds":[0]}}`,
		},
	}.Fuzz(f)
}
