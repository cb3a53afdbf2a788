package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// The command of the report is as a shell takes it, without what a result does not depend on.
func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  string
	}{
		{[]string{"a b.csv", "--columns", `x,"y,z"`, "--gamma=0.5", "--out", "o", "--workers", "3", "--memory", "8GB"}, `missingscore network 'a b.csv' --columns='x,"y,z"' --gamma=0.5`},
		{[]string{"it's.csv", "--refit=false", "--g-per-row"}, `missingscore network 'it'\''s.csv' --g-per-row --refit=false`},
	} {
		got := ""
		root := &cobra.Command{Use: "missingscore"}
		cmd := &cobra.Command{Use: "network", Run: func(cmd *cobra.Command, _ []string) { got = commandLine(cmd) }}
		flags := cmd.Flags()
		flags.StringSlice("columns", nil, "")
		flags.Float64("gamma", 0.25, "")
		flags.String("out", "", "")
		flags.Int("workers", 1, "")
		flags.String("memory", "", "")
		flags.Bool("refit", true, "")
		flags.Bool("g-per-row", false, "")
		root.AddCommand(cmd)
		root.SetArgs(append([]string{"network"}, c.given...))
		require.NoError(t, root.Execute())
		require.Equal(t, c.want, got)
	}
}

func TestReadGroupsOfColumns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "groups.csv")
	read := func(text string) (map[string]string, error) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return readGroupsOfColumns(file, []string{"Ozone", "Temp, max"})
	}
	got, err := read("name,group\nOzone,air\n\"Temp, max\",\"weather, mostly\"\nelsewhere,\n")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Ozone": "air", "Temp, max": "weather, mostly", "elsewhere": ""}, got)
	for text, want := range map[string]string{
		"":                                    "the first line is expected to be name,group",
		"Ozone,air\n":                         "the first line is expected to be name,group",
		"name,group\nOzone,air,2\n":           "two cells a line are expected",
		"name,group\nOzone,air\nOzone,more\n": `the column "Ozone" has two groups`,
		"name,group\nWind,air\n":              "names none of the table's columns",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want)
	}
}
