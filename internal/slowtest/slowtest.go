// Package slowtest marks slow tests.
package slowtest

import (
	"os"
	"testing"
)

// Set reports whether MISSINGSCORE_SLOW is set.
func Set() bool { return os.Getenv("MISSINGSCORE_SLOW") != "" }

// Skip skips the test unless MISSINGSCORE_SLOW is set. took is the test's duration.
func Skip(t testing.TB, took string) {
	t.Helper()
	if !Set() {
		t.Skipf("%s; MISSINGSCORE_SLOW=1 runs it", took)
	}
}
