package missingness_test

import (
	"strings"
	"testing"

	"missingscore/data/missingness"
	"missingscore/internal/fuzztest"
)

func FuzzParse(f *testing.F) {
	names := []string{"x1", "x2"}
	fuzztest.Reader[*missingness.Model]{
		Read: func(text string) (*missingness.Model, error) { return missingness.Parse([]byte(text), names) },
		Write: func(m *missingness.Model) (string, error) {
			var text strings.Builder
			err := m.Write(&text, names)
			return text.String(), err
		},
		Accepts: []string{`{"logistic":{"x1":{"intercept":1.2,"slope":{"x1":-0.5,"x2":2}}}}`, `{"censored":{"x2":{"below":1}}}`, `{"logistic":{"x1":{"intercept":0}},"censored":{"x2":{"below":1}},"estimated":true}`},
		Refuses: []string{`{"logistic":{"x1":{"intercept":1.2,"slopes":{"x1":-0.5}}}}`, `{"censored":{"x1":{"below":1,"above":0}}}`, `{"logistic":{"x3":{}}}`, `{"logistic":null}`, `{}`, `[`, `{"logistic":{"x1":{"intercept":1e999}}}`},
	}.Fuzz(f)
}
