package options

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	v := struct {
		Number int    `json:"number"`
		Name   string `json:"name,omitempty"`
		Hidden int    `json:"-"`
	}{Number: 3}
	require.NoError(t, Decode(nil, &v))
	require.NoError(t, Decode([]byte(`{"name":"a"}`), &v))
	require.Equal(t, 3, v.Number)
	require.Equal(t, "a", v.Name)
	for text, want := range map[string]string{
		`{"numbre":1}`:  `unknown field "numbre"; they are a JSON object with number, name`,
		`{"number":""}`: "cannot unmarshal",
		`{} {}`:         "more than one JSON object",
		`{`:             "unexpected EOF",
	} {
		require.ErrorContains(t, Decode([]byte(text), &v), want)
	}
	require.ErrorContains(t, Decode([]byte(`{"a":1}`), &struct{}{}), "there are none to set")
}
