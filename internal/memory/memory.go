// Package memory checks large allocations before they are made: Go ends a program without memory.
package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Variable is the environment variable of the usable memory, as 8GB or 500MB; Use overrides it. The
// default is a share of the free memory.
const Variable = "MISSINGSCORE_MEMORY"

const (
	share   = 0.8
	unknown = 64 << 30 // if the system does not report free memory
)

var free = sync.OnceValue(func() float64 {
	if bytes := available(); bytes > 0 {
		return share * bytes
	}
	return unknown
})

var given atomic.Pointer[float64]

// Use sets the limit and overrides Variable. It fails if text is not a size.
func Use(text string) error {
	bytes, ok := parse(text)
	if !ok {
		return fmt.Errorf("%s: %s", text, expected)
	}
	given.Store(&bytes)
	return nil
}

func UseVariable() { given.Store(nil) }

// Limit is the number of usable bytes. It fails if Variable is used and is not a size.
func Limit() (float64, error) {
	if bytes := given.Load(); bytes != nil {
		return *bytes, nil
	}
	text := os.Getenv(Variable)
	if text == "" {
		return free(), nil
	}
	bytes, ok := parse(text)
	if !ok {
		return 0, fmt.Errorf("%s=%s: %s", Variable, text, expected)
	}
	return bytes, nil
}

const expected = "expected a size such as 8GB or 500MB"

var units = []struct {
	name  string
	bytes float64
}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

func parse(text string) (bytes float64, ok bool) {
	for _, u := range units {
		if number, found := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(text)), strings.ToUpper(u.name)); found {
			v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			return v * u.bytes, err == nil && v > 0 && !math.IsInf(v*u.bytes, 0)
		}
	}
	return 0, false
}

// Size writes a number of bytes, as 3.2 GB.
func Size(bytes float64) string {
	for _, u := range units {
		if bytes >= u.bytes {
			return fmt.Sprintf("%.3g %s", bytes/u.bytes, u.name)
		}
	}
	return "0 B"
}

// Error reports a need beyond the limit.
type Error struct {
	What        string // such as "a model of 3 numbers"
	Need, Limit float64
	Advice      string // may be empty
}

func (e *Error) Error() string {
	advice := fmt.Sprintf("set %s where more is available", Variable)
	if e.Advice != "" {
		advice = e.Advice + ", or " + advice
	}
	return fmt.Sprintf("%s needs about %s of memory, but only %s is available: %s", e.What, Size(e.Need), Size(e.Limit), advice)
}

// Check fails with an *Error if bytes exceed Limit.
func Check(bytes float64, advice, what string, args ...any) error {
	limit, err := Limit()
	if err == nil && !(bytes <= limit) {
		return &Error{What: fmt.Sprintf(what, args...), Need: bytes, Limit: limit, Advice: advice}
	}
	return err
}

// Fits fails with an *Error if need exceeds the part of limit that is left to Go's memory.
func Fits(need, limit float64, advice, what string, args ...any) error {
	if room := Room(limit); !(need <= room) {
		return &Error{What: fmt.Sprintf(what, args...), Need: need + limit - room, Limit: limit, Advice: advice}
	}
	return nil
}

const (
	spare        = 32 << 20 // bytes of garbage
	leastPercent = 10
	mostPercent  = 100 // Go's default
)

// Held announces that a program will hold bytes for long. Garbage is then limited to about 64 MB or
// a tenth of the held bytes. release restores the previous limit.
func Held(bytes float64) (release func()) {
	percent := mostPercent
	if bytes > spare {
		percent = max(leastPercent, int(mostPercent*spare/bytes))
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// outside is the measured memory of a process outside Go's: code and the matrix library.
const outside = 50e6

// Collect sets Go's memory limit so that the process stays within limit bytes.
func Collect(limit float64) { debug.SetMemoryLimit(int64(min(Room(limit), math.MaxInt64/2))) }

// Room is the part of a limit left to Go's memory: at least half.
func Room(limit float64) float64 { return max(limit-outside, limit/2) }

// ReadFile is os.ReadFile; it fails if factor times the size exceeds the memory, also for pipes.
func ReadFile(path string, factor float64) ([]byte, error) {
	var system *fs.PathError
	f, err := os.Open(path)
	if errors.As(err, &system) {
		err = fmt.Errorf("%s: %w", path, system.Err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	limit, err := Limit()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	most := int64(limit / factor)
	n, err := text.ReadFrom(io.LimitReader(f, most+1))
	if errors.As(err, &system) {
		err = system.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	if n > most {
		return nil, &Error{What: fmt.Sprintf("%s, of more than %s,", path, Size(float64(most))), Need: limit, Limit: limit}
	}
	return text.Bytes(), nil
}
