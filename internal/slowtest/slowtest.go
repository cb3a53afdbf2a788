// Package slowtest marks tests that take too long for every change.
package slowtest

import (
	"os"
	"testing"
)

// Set reports whether MISSINGSCORE_SLOW is set, as it is at night.
func Set() bool { return os.Getenv("MISSINGSCORE_SLOW") != "" }

// Skip skips the test unless MISSINGSCORE_SLOW is set. took says how long the test takes.
func Skip(t testing.TB, took string) {
	t.Helper()
	if !Set() {
		t.Skipf("%s; MISSINGSCORE_SLOW=1 runs it", took)
	}
}
