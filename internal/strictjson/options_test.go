package strictjson

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOptions(t *testing.T) {
	v := struct {
		Number int    `json:"number"`
		Name   string `json:"name,omitempty"`
		Hidden int    `json:"-"`
	}{Number: 3}
	require.NoError(t, Options(nil, &v))
	require.NoError(t, Options([]byte(`{"name":"a","number":null}`), &v))
	require.Equal(t, 3, v.Number)
	require.Equal(t, "a", v.Name)
	for text, want := range map[string]string{
		`{"numbre":1}`:  `unknown field "numbre"; it should look like {"number": …, "name": …}`,
		`{"number":""}`: `"number" takes no string; it should look like`,
		`{} {}`:         "text after the first object",
		`{`:             "it ends too early",
	} {
		require.ErrorContains(t, Options([]byte(text), &v), want)
	}
	require.ErrorContains(t, Options([]byte(`{"a":1}`), &struct{}{}), "should look like {}")
}

// Notepad writes a byte order mark.
func TestFileWithByteOrderMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	require.NoError(t, os.WriteFile(path, []byte("\ufeff{}"), 0o600))
	text, err := File(path, func(text []byte) (string, error) { return string(text), nil })
	require.NoError(t, err)
	require.Equal(t, "{}", text)
}
