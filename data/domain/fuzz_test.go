package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/internal/fuzztest"
)

func FuzzParseText(f *testing.F) {
	names := []string{"x1", "x2"}
	fuzztest.Reader[*domain.Domain]{
		Read: func(text string) (*domain.Domain, error) { return domain.Parse([]byte(text), names) },
		Write: func(s *domain.Domain) (string, error) {
			var text strings.Builder
			err := s.Write(&text, names)
			return text.String(), err
		},
		Check: func(t testing.TB, text string, s *domain.Domain) {
			if point, ok := s.Interior([]float64{0, 0}, []float64{0, 0}); ok {
				require.True(t, s.Contains(point), "%s %v", text, point)
			}
		},
		Accepts: []string{`{}`, `{"lower":{"x1":0},"upper":{"x2":3},"halfspace":{"a":{"x1":1,"x2":-1},"b":0.5}}`, `{"lower":{"x1":-1e150},"upper":{"x1":1e150}}`, `{"halfspaces":[{"a":{"x1":1},"b":1},{"a":{"x2":1},"b":1}]}`},
		Refuses: []string{``, `[]`, `{"lower":null}`, `{"lower":{"x1":1},"upper":{"x1":1}}`, `{"lower":{"x9":0}}`, `{"lower":{"x1":"a"}}`, `{"lower":5}`, `{"lower":{"x1":1}`},
	}.Fuzz(f)
}
