package penalty

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
)

func FuzzParseLambda(f *testing.F) {
	fuzztest.Reader[Config]{
		Read: func(text string) (c Config, err error) {
			c.Kind = "l1"
			return c, c.ParseLambda(text)
		},
		Write:   func(c Config) (string, error) { return c.text(), nil },
		Check:   func(t testing.TB, text string, c Config) { require.Equal(t, c.Lambda == 0, c.Validates(), "%q", text) },
		Accepts: []string{"cv", "cv=2", "cv=10", "0.1", "1e-300", "+5"},
		Refuses: []string{"", "0", "-1", "NaN", "Inf", "1e999", "cv=", "cv=1", "cv=2.5", "CV", "x"},
	}.Fuzz(f)
}
