// Package memory bounds what a process asks for before it asks: Go ends a program that
// the system gives no memory, without a word to the user and without saving anything.
package memory

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// How much memory may be used is said, as 8GB or 500MB, by the command line's Flag or else by the
// environment Variable. Where neither is set, it is share of what is free when it is first asked
// for.
const (
	Flag     = "--memory"
	Variable = "MISSINGSCORE_MEMORY"
)

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

// given is the size that Flag has; nil: none.
var given atomic.Pointer[float64]

// Use makes text, the value of Flag, the limit, whatever Variable is. It fails if text is no size.
func Use(text string) error {
	bytes, ok := parse(text)
	if !ok {
		return fmt.Errorf("%s %s: %s", Flag, text, expected)
	}
	given.Store(&bytes)
	return nil
}

// UseVariable makes Variable the limit again, for a command line without Flag.
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
	advice := fmt.Sprintf("set %s or %s where there is more", Flag, Variable)
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
