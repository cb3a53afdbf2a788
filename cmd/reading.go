package cmd

import (
	"fmt"
	"io"
	"time"
)

// reading shows how much of a table's file is read, where that takes long.
type reading struct {
	bar   *progress
	start time.Time
	shown time.Time // the last line about a file of unknown size
}

const (
	longReading = 5 * time.Second // of which nothing is said up to then
	megabyte    = 1_000_000
)

func newReading(w io.Writer) *reading {
	now := time.Now()
	return &reading{bar: newProgress(w, false), start: now, shown: now}
}

// observe is told how many bytes of the file are read, of size or of a number that is not known.
func (r *reading) observe(read, size int64) {
	switch {
	case size > 0 && read >= size:
		r.bar.finish()
	case time.Since(r.start) < longReading:
	case size > 0:
		if r.bar.stage == "" { // what is left is judged by the whole reading
			r.bar.enter("reading", int(size/megabyte)+1)
			r.bar.start = r.start
		}
		r.bar.count("reading", "MB", int(read/megabyte), int(size/megabyte)+1)
	case time.Since(r.shown) > slow:
		r.shown = time.Now()
		r.bar.note(fmt.Sprintf("reading: %d MB", read/megabyte))
	}
}
