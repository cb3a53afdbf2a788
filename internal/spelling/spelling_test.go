package spelling

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"netwrok", "network", 1}, {"ca", "abc", 3}, {"größe", "grösse", 2}} {
		require.Equal(t, c.want, distance([]rune(c.a), []rune(c.b)), "%s %s", c.a, c.b)
		require.Equal(t, c.want, distance([]rune(c.b), []rune(c.a)), "%s %s", c.b, c.a)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"var", "iw", "em-exact", "em-exact-mc", "Solar.R", "gaussian", "gaussian-natural"}
	for typed, want := range map[string]string{"em-exct": "em-exact", "em-exactmc": "em-exact-mc", "EM-EXACT": "em-exact", "solar.r": "Solar.R", "IW": "iw", "gauss": "gaussian", "vra": "var"} {
		name, ok := Nearest(typed, names)
		require.True(t, ok, typed)
		require.Equal(t, want, name)
	}
	for _, typed := range []string{"", "x", "ix", "lasso", "e", "em", "something else"} {
		_, ok := Nearest(typed, names)
		require.False(t, ok, typed)
	}
	require.Equal(t, " (did you mean var?)", DidYouMean("vae", names))
	require.Empty(t, DidYouMean("lasso", names))
}

func TestUnknown(t *testing.T) {
	require.EqualError(t, Unknown("column", "Solar", []string{"Ozone", "Solar.R"}), `there is no column "Solar" (did you mean Solar.R?); columns are Ozone, Solar.R`)
	require.EqualError(t, Unknown("method", "lasso", []string{"iw", "var"}), `there is no method "lasso"; methods are iw, var`)
	require.EqualError(t, Unknown("loss", "l2", nil), `there is no loss "l2"; losses are `)
}
