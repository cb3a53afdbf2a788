package data_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/memory"
	"missingscore/internal/plainwords"
)

// fuzzedList hands whatever a small table may hold to a reader: it may refuse, in plain words, but
// has to accept so many of the first seeds.
func fuzzedList(f *testing.F, read func(path string) error, accepted int, seeds ...string) {
	f.Setenv(memory.Variable, "200MB")
	dir := f.TempDir()
	for k, seed := range seeds {
		path := filepath.Join(dir, "t.csv")
		require.NoError(f, os.WriteFile(path, []byte(seed), 0o600))
		if k < accepted {
			require.NoError(f, read(path), "%q", seed)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "t.csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if err := read(path); err != nil {
			require.Empty(t, plainwords.Unknown(err.Error(), text))
		}
	})
}

func FuzzReadLabels(f *testing.F) {
	fuzzedList(f, func(path string) error {
		_, err := data.ReadLabels(path, []string{"x1", "x2"})
		return err
	}, 1, "name,label\nx1,first\nx2,\"second, too\"\n", "name;label\nx1;\n", "label,name\n", "name,label\nx1,a\nx1,b\n", "")
}

func FuzzReadGroups(f *testing.F) {
	fuzzedList(f, func(path string) error {
		groups, _, err := data.ReadGroups(path, "g", nil, data.ReadOptions{})
		if err == nil && (groups[0].Table == nil || groups[1].Table == nil) {
			panic("a group without a table")
		}
		return err
	}, 1, "g,x1,x2\na,1,2\nb,3,4\na,5,6\nb,7,9\n", "g,x1\na,1\na,2\n", "x1,g\n1,a\n2,\n3,b\n4,c\n", "g\n", "")
}

func FuzzReadClosingPrices(f *testing.F) {
	fuzzedList(f, func(path string) error {
		_, err := data.ReadClosingPrices(path, data.PriceColumns{Date: "date", Name: "name", Price: "close"}, data.ReadOptions{})
		return err
	}, 1, "date,name,close\n2020-01-01,A,1\n2020-01-02,A,1.5\n2020-01-01,B,2\n2020-01-02,B,3\n", "date,name,close\n2020-01-01,A,1\n2020-01-02,A,1.5\n2020-01-01,B,2\n2020-01-02,B,\n", "date,name,close\n1,A,0\n2,A,-1\n", "date,name,close\n1,A,1\n1,A,2\n", "")
}
