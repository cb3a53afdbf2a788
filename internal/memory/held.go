package memory

import "runtime/debug"

const (
	spare        = 64 << 20 // bytes that may wait to be collected
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
