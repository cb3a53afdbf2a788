package cmd

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDescribedColumn(t *testing.T) {
	c := newDescribedColumn("x", 6, []float64{2, 4, 4, 6}) // deviations −2, 0, 0, 2: 8 of 3
	require.Equal(t, describedColumn{"x", "few whole numbers", 3, 2, 4, math.Sqrt(8. / 3), 2, 6}, c)
	require.Equal(t, "two values", newDescribedColumn("x", 3, []float64{0.5, 1.5, 0.5}).Kind)
	require.Equal(t, "numbers", newDescribedColumn("x", 3, []float64{0.5, 1, 2}).Kind)
	many := make([]float64, 11)
	for i := range many {
		many[i] = float64(i)
	}
	require.Equal(t, "whole numbers", newDescribedColumn("x", 11, many).Kind)
}

// What was found wrong with a table is mended by the command to run next: the worked name of a
// column that is far from normal gets a function.
func TestNextMendsSkewedColumns(t *testing.T) {
	var table strings.Builder
	table.WriteString("zinc,shifted level,c\n")
	for i := range 200 {
		z := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/200-1) // quantiles of the normal distribution
		fmt.Fprintf(&table, "%g,%g,%g\n", math.Exp(2*z), math.Exp(2*z)-1, math.Sin(float64(7*i)))
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte(table.String()), 0o600))
	var stdout, stderr bytes.Buffer
	require.Zero(t, run([]string{path}, &stdout, &stderr), stderr.String())
	require.Contains(t, stdout.String(), "--transform 'zinc=log,shifted level=npn' --out t-network\n")
}
