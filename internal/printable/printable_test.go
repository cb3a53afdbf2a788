package printable

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"λ — ü\t𝒳\n":             "λ — ü\t𝒳\n",
		"a\u202eb\u2066c\u200fd": `a\u202eb\u2066c\u200fd`,
		"\x1b[31mred\x07\r":      `\u001b[31mred\u0007\u000d`,
		"\u0085\u2028\ufeff\x7f": `\u0085\u2028\ufeff\u007f`,
		"cut\xffoff\x9b":         "cut\ufffdoff\ufffd",
		"":                       "",
	} {
		require.Equal(t, want, Text(text))
		require.Equal(t, []string{want, "b"}, Texts([]string{text, "b"}))
		var b bytes.Buffer
		n, err := Writer{&b}.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, want, b.String())
	}
}

func TestCell(t *testing.T) {
	whole := strings.Repeat("ü", 60)
	require.Equal(t, whole, Cell(whole))
	require.Equal(t, whole+"…", Cell(whole+"1"))
	require.Empty(t, Cell(""))
}
