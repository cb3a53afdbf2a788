// Package memory bounds what a process asks for before it asks: Go ends a program that
// the system gives no memory, without a word to the user and without saving anything.
package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Variable of the environment says, as 8GB or 500MB, how much memory may be used; Use goes before
// it. Where neither is set, it is share of what is free when it is first asked for.
const Variable = "MISSINGSCORE_MEMORY"

const (
	share   = 0.8
	unknown = 64 << 30 // where the system does not say what is free
)

// free is what is free when the program begins: what it takes itself does not count.
var free = sync.OnceValue(func() float64 {
	if bytes := available(); bytes > 0 {
		return share * bytes
	}
	return unknown
})

// given is the size that Use has; nil: none.
var given atomic.Pointer[float64]

// Use makes text the limit, whatever Variable is. It fails if text is no size.
func Use(text string) error {
	bytes, ok := parse(text)
	if !ok {
		return fmt.Errorf("%s: %s", text, expected)
	}
	given.Store(&bytes)
	return nil
}

// UseVariable makes Variable the limit again.
func UseVariable() { given.Store(nil) }

// Limit is how many bytes may be used. It fails if Variable is asked, and is no size.
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

const expected = "a size is expected, as 8GB or 500MB"

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

// Size is a number of bytes in words, as 3.2 GB.
func Size(bytes float64) string {
	for _, u := range units {
		if bytes >= u.bytes {
			return fmt.Sprintf("%.3g %s", bytes/u.bytes, u.name)
		}
	}
	return "0 B"
}

// Error says what would need more memory than may be used.
type Error struct {
	What        string // as "a model of 3 numbers"
	Need, Limit float64
	Advice      string // what to do about it; may be empty
}

func (e *Error) Error() string {
	advice := fmt.Sprintf("set %s where there is more", Variable)
	if e.Advice != "" {
		advice = e.Advice + ", or " + advice
	}
	return fmt.Sprintf("%s needs about %s of memory, and %s can be used: %s", e.What, Size(e.Need), Size(e.Limit), advice)
}

// Check refuses, by an *Error, what needs more bytes than Limit.
func Check(bytes float64, advice, what string, args ...any) error {
	limit, err := Limit()
	if err == nil && !(bytes <= limit) {
		return &Error{What: fmt.Sprintf(what, args...), Need: bytes, Limit: limit, Advice: advice}
	}
	return err
}

// Fits refuses, by an *Error, what needs more bytes of Go's memory than a limit leaves.
func Fits(need, limit float64, advice, what string, args ...any) error {
	if room := Room(limit); !(need <= room) {
		return &Error{What: fmt.Sprintf(what, args...), Need: need + limit - room, Limit: limit, Advice: advice}
	}
	return nil
}

const (
	spare        = 32 << 20 // bytes that may wait to be collected
	leastPercent = 10
	mostPercent  = 100 // Go's own
)

// Held says how many bytes a program is going to hold for long, as tables. What waits to be
// collected is then bounded by about 64 MB, or by a tenth of what is held, in place of as much
// again: numbers without pointers are quickly passed over. release sets the bound of before.
func Held(bytes float64) (release func()) {
	percent := mostPercent
	if bytes > spare {
		percent = max(leastPercent, int(mostPercent*spare/bytes))
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// outside is what a process holds beside Go's own memory, as measured: its code, and the matrix library.
const outside = 50e6

// Collect has rubbish collected before the process, with what it holds outside Go's memory, takes
// more than limit bytes; Go itself is left half of them at least.
func Collect(limit float64) { debug.SetMemoryLimit(int64(min(Room(limit), math.MaxInt64/2))) }

// Room is how much of a limit is left to Go's memory: half of it at least.
func Room(limit float64) float64 { return max(limit-outside, limit/2) }

// ReadFile is os.ReadFile for a file whose use takes factor times its size: it refuses one
// for which that is too much, also a device or a pipe that never ends.
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

// Resident is a line of a process's memory in bytes, as Linux has it in /proc/PROCESS/status:
// VmRSS is what is resident now, VmHWM the most that has been at a time. The process is a number
// or "self". There is none of a process that has ended, nor on other systems.
//
// ru_maxrss of getrusage(2) is no such figure: it begins with what the process's parent held.
func Resident(process, line string) (bytes float64, ok bool) {
	text, err := os.ReadFile(filepath.Join("/proc", process, "status"))
	if err != nil {
		return 0, false
	}
	_, after, _ := strings.Cut("\n"+string(text), "\n"+line+":")
	kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(strings.SplitN(after, "\n", 2)[0]), " kB"), 64)
	return kilobytes * 1024, err == nil
}
