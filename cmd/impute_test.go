package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/trainers/mcmc"
)

// The message names the column and the flags that help.
func TestTellUnmet(t *testing.T) {
	var f imputeCommand
	f.out, f.components = "out.csv", 5
	m := &mcmc.Mixing{RHat: 1.3, Worst: 2.5, Row: 1}
	said := f.tellUnmet(m, []string{"a", "b, c"})
	require.Contains(t, said, "(R-hat of a column above 1.4, or of its missing cells above 1.2; of b, c it is 2.5), so the result in out.csv is not")
	require.Contains(t, said, "missing cells of b, c, as")
	require.Contains(t, said, `leave it out (--exclude '"b, c"'), take one normal distribution (--components 1), or try more --iterations`)
	for _, f.components = range []int{0, 1} {
		require.NotContains(t, f.tellUnmet(m, []string{"a", "b"}), "--components")
	}
}
