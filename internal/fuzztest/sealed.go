package fuzztest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/checkedfile"
)

// Sealed makes a reader of checked files one of their bodies, which get the mark and their own
// checksum: without it whatever is changed is damage, and nothing is read.
func Sealed[T any](f testing.TB, mark string, read func(path string) (T, error)) func(body string) (T, error) {
	inFile := InFile(f, "sealed", read)
	return func(body string) (T, error) { return inFile(string(checkedfile.Seal(mark, []byte(body)))) }
}

// Body is that of a checked file of this mark.
func Body(f testing.TB, mark, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(f, err)
	body, err := checkedfile.Open(mark, text)
	require.NoError(f, err)
	return string(body)
}
