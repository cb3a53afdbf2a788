package data_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
)

func TestReadLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.csv")
	read := func(text string) (map[string]string, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return data.ReadLabels(path, []string{"a1", "b", "c"})
	}
	labels, err := read("name,label\na1,\"Sleeps badly, often\"\nz,none of ours\nb,\nc,NA\n")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a1": "Sleeps badly, often", "c": "NA"}, labels)
	for text, message := range map[string]string{
		"name,label\nx,y\n":         `: no name in its first column is a column of the table; these are: a1, b, c`,
		"name,label\na1,y\na1,z\n":  `:3: "a1" has a label on line 2 already; keep one of the two`,
		"name,label,more\na1,y,1\n": `: two columns are expected, name and label, and there are 3: name, label, more`,
	} {
		_, err := read(text)
		require.EqualError(t, err, path+message)
	}
}
