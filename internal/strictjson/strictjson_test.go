package strictjson

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNull(t *testing.T) {
	type common struct {
		Draws int `json:"draws"`
	}
	type part struct {
		A map[string]float64 `json:"a"`
		B *float64           `json:"b"`
	}
	type settings struct {
		common
		Name  string            `json:"name"`
		Part  *part             `json:"part"`
		Plain part              `json:"plain"`
		Parts []part            `json:"parts"`
		Rows  [][]float64       `json:"rows"`
		Laws  []json.RawMessage `json:"laws"`
		Law   json.RawMessage   `json:"law"`
	}
	for text, want := range map[string]string{
		`null`:                            "it is null",
		`{"draws":null}`:                  "draws is null: give a value, or leave the key out",
		`{"Name":null}`:                   "Name is null: give a value, or leave the key out",
		`{"part":{"a":{"x":1,"y":null}}}`: "part.a.y is null: give a value, or leave the key out",
		`{"parts":[{},{"a":{"x":null}}]}`: "parts[1].a.x is null: give a value, or leave the key out",
		`{"law":{"x":null}}`:              "law.x is null: give a value, or leave the key out",
	} {
		require.EqualError(t, Decode([]byte(text), &settings{}, "{…}"), want+"; it should look like {…}", text)
	}
	for text, want := range map[string]string{
		`{"parts":[null]}`:              "parts[0] is null: give a value",
		`{"rows":[[1,2],[3,null]]}`:     "rows[1][1] is null: give a value",
		`{"laws":[null]}`:               "laws[0] is null: give a value",
		`{"draws":1,"draws":2}`:         "draws occurs twice: keep one",
		`{"law":{"x":[{"y":1,"y":1}]}}`: "law.x[0].y occurs twice: keep one",
	} {
		require.EqualError(t, Decode([]byte(text), &settings{}, ""), want, text)
		require.EqualError(t, Unmarshal([]byte(text), &settings{}), want, text)
	}
	require.NoError(t, Decode([]byte(`{"part":null,"plain":{"b":null}}`), &settings{}, ""))
	text := `{"part":null,"plain":{"b":null},"other":{"x":1}}`
	require.NoError(t, Unmarshal([]byte(text), &settings{}))
	require.ErrorContains(t, Decode([]byte(text), &settings{}, ""), `unknown field "other"`)
}

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
