package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadmeIsThisProgram(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	readme, program, module := read("../../../README.md"), read("main.go"), read("../go.mod")
	require.Contains(t, readme, "```go\n"+program+"```")
	require.Contains(t, readme, "replace missingscore => ../missingscore")
	require.Contains(t, module, "missingscore v0.0.0")
	require.Contains(t, module, "replace missingscore => ")
}

func Example() {
	home, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	defer os.Chdir(home)
	if err := os.Chdir(strings.TrimSuffix(home, "examples/extension/network")); err != nil {
		panic(err)
	}
	main()
	// Output:
	// Ozone – Temp +0.61
	// Ozone – Wind -0.44
	// Ozone – Solar.R +0.21
}
