package fuzztest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
)

func TestUnknown(t *testing.T) {
	require.Empty(t, fuzztest.Unknown("domain.json: t.csv:3: column \"b\": \"x\" is not a number; correct the cell"))
	require.Equal(t, " json: ", fuzztest.Unknown("model.json: json: cannot unmarshal string"))
	for word, message := range map[string]string{
		"goroutine": "goroutine 7 [running]", "unmarshal": "cannot unmarshal", "map[": "map[a:1]", "makeslice": "makeslice: len out of range",
		"reflect": "call of reflect.Value.Len on zero Value", "INT32": "INT32 expected", "EOF": "unexpected EOF", "gzip: ": "gzip: invalid checksum",
	} {
		require.Equal(t, word, fuzztest.Unknown(message))
	}
	require.Empty(t, fuzztest.Unknown("compressed by gzip; reflected, printed, interesting"))
	require.Equal(t, "%!", fuzztest.Unknown("3 %!d(string=x) of 7"))
	require.Equal(t, "int64", fuzztest.Unknown("a number of int64"))
	require.Empty(t, fuzztest.Unknown("options %!: not JSON from its character 1 on", "t.csv", "%!"), "as it was given")
	require.Equal(t, "runtime error", fuzztest.Unknown("options %!: runtime error", "%!"))
	require.Empty(t, fuzztest.Unknown(`transform gob: "gob" is no function`, "gob"), "with a colon behind it")
	require.Empty(t, fuzztest.Unknown(`transform gob: "gob" is no function`, "x=log,gob"))
	require.Empty(t, fuzztest.Unknown("transform \fgob: \"gob\" is no function", "\fgob"), "with a space of another kind before it")
	require.Empty(t, fuzztest.Unknown("transform gob: : \"gob: \" is no function", "gob: "))
	require.Equal(t, " gob: ", fuzztest.Unknown("state.gob: gob: bad data", "state.gob"), "a part of a name")
}
