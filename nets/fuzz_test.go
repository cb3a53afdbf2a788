package nets_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
	"missingscore/nets"
)

// Options make a network or are refused; options that are written are read.
func FuzzOptions(f *testing.F) {
	f.Setenv(memory.Variable, "50MB")
	makers := map[string]func(text []byte) ([]byte, error){}
	for kind := range nets.Imputers {
		makers[kind+" imputer"] = func(text []byte) ([]byte, error) {
			m, err := nets.NewImputer(kind, 3, text, stream.New(1))
			if err != nil {
				return nil, err
			}
			return json.Marshal(m.Options())
		}
	}
	for kind := range model.Models {
		makers[kind] = func(text []byte) ([]byte, error) {
			m, err := model.New(kind, 3, text, stream.New(1))
			if err != nil {
				return nil, err
			}
			return model.Options(m)
		}
	}
	for _, text := range []string{
		``, `{}`, `null`, `{"hidden":[4,4]}`, `{"hidden":[0]}`, `{"hidden":[1000000,1000000]}`,
		`{"components":3}`, `{"components":-1}`, `{"activation":"tanh"}`, `{"hidden":7}`,
	} {
		f.Add(text)
	}
	for kind, make := range makers {
		text, err := make(nil)
		require.NoError(f, err)
		_, err = make(text)
		require.NoError(f, err, "%s %s", kind, text)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, make := range makers {
			if _, err := make([]byte(text)); err != nil {
				require.Empty(t, fuzztest.Unknown(err.Error(), text))
			}
		}
	})
}
