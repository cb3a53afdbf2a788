package shell

import (
	"encoding/csv"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func given(t *testing.T, word string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+word).Output()
	require.NoError(t, err)
	return string(out)
}

func TestWord(t *testing.T) {
	for _, word := range []string{"plain.csv", "two words", "it's", "$HOME", "`id`", "a\\b", "é", "", "*", "a;b", "~", "a^b", "x\ny"} {
		require.Equal(t, word, given(t, Word(word)))
	}
	for _, word := range []string{"plain.csv", "--cell=paper,5,0.99,1,1,iw", "größe", "50%"} {
		require.Equal(t, word, Word(word), "no quotes where none are needed")
	}
}

func TestList(t *testing.T) {
	for want, values := range map[string][]string{
		"a,b":                   {"a", "b"},
		`'"Temp, max",b'`:       {"Temp, max", "b"},
		`'it'\''s,"say ""x"""'`: {"it's", `say "x"`},
		",a,":                   {"", "a", ""},
		`'$x,a b'`:              {"$x", "a b"},
	} {
		before := strings.Join(values, "\x00")
		list := List(values)
		require.Equal(t, want, list)
		require.Equal(t, before, strings.Join(values, "\x00"))
		back, err := csv.NewReader(strings.NewReader(given(t, list))).Read()
		require.NoError(t, err)
		require.Equal(t, values, back)
	}
	require.Equal(t, "''", List(nil))
}
