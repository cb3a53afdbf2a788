package strictjson

import (
	"encoding/json"
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
