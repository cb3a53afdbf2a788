package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/spatial/r2"
)

func TestPictureFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	nodes := []string{"Ozone", "Temp, max", "Wind"}
	var said bytes.Buffer
	f := pictureFlags{groupsFlag: "groups"}
	f.groupsFile = write("groups.csv", "name,group\nOzone,air\n\"Temp, max\",\"weather, mostly\"\nelsewhere,\n")
	f.layoutFile = write("layout.csv", "name,x,y\nOzone,1,-2\n\"Temp, max\",0.5,1e1\nelsewhere,a,b\n")
	require.NoError(t, f.load(&said, nodes))
	require.Equal(t, map[string]string{"Ozone": "air", "Temp, max": "weather, mostly"}, f.style.GroupOf)
	require.Equal(t, map[string]r2.Vec{"Ozone": {X: 1, Y: -2}, "Temp, max": {X: 0.5, Y: 10}}, f.style.Layout)
	require.Equal(t, f.layoutFile+" has no place for Wind; they stand beside their neighbours\n", said.String())
	for text, want := range map[string]string{
		"":                             "--layout: " + f.layoutFile + ":1: the first line must be name,x,y",
		"Ozone,1,2\n":                  "the first line must be name,x,y",
		"name,x,y\nOzone,1\n":          "3 cells a line are expected",
		"name,x,y\nWind,1,2\nWind,1,2": `:3: the column "Wind" has a line already`,
		"name,x,y\nelse,1,2\n":         "names none of the table's columns",
		"name,x,y\nWind,1,\n":          `the place of "Wind" is "1", ""; two numbers are expected`,
		"name,x,y\nWind,1,NaN\n":       "two numbers are expected",
		"name,x,y\nWind,1,1e300\n":     "two numbers are expected",
	} {
		require.NoError(t, os.WriteFile(f.layoutFile, []byte(text), 0o600))
		require.ErrorContains(t, f.load(&said, nodes), want)
	}
}
