package memory

import (
	"math"
	"runtime/debug"
)

const (
	spare        = 32 << 20 // bytes that may wait to be collected
	leastPercent = 10
	mostPercent  = 100 // Go's own
)

// Held says how many bytes a program is going to hold for long, as tables. What waits to be
// collected is then bounded by about 64 MB, or by a tenth of what is held, in place of as much
// again: numbers without pointers are quickly passed over.
func Held(bytes float64) {
	percent := mostPercent
	if bytes > spare {
		percent = max(leastPercent, int(mostPercent*spare/bytes))
	}
	debug.SetGCPercent(percent)
}

// outside is what a process holds beside Go's own memory, as measured: its code, and the matrix
// library.
const outside = 50e6

// Collect has rubbish collected before the process, with what it holds outside Go's memory, takes
// more than limit bytes; Go itself is left half of them at least.
func Collect(limit float64) { debug.SetMemoryLimit(int64(min(Room(limit), math.MaxInt64/2))) }

// Room is how much of a limit is left to Go's memory: half of it at least.
func Room(limit float64) float64 { return max(limit-outside, limit/2) }
