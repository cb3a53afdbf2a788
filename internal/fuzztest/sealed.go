package fuzztest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/checkedfile"
)

// Sealed adds mark and checksum to bodies, so that mutations reach the reader.
func Sealed[T any](f testing.TB, mark string, read func(path string) (T, error)) func(body string) (T, error) {
	inFile := InFile(f, "sealed", read)
	return func(body string) (T, error) { return inFile(string(checkedfile.Seal(mark, []byte(body)))) }
}

func Body(f testing.TB, mark, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(f, err)
	body, err := checkedfile.Open(mark, text)
	require.NoError(f, err)
	return string(body)
}
