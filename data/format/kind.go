package format

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Kind is the type of a column in a file.
type Kind int

const (
	Text     Kind = iota
	Numbers       // float64
	Whole         // int64
	Unsigned      // uint64
	Boolean       // 1 and 0
	Date          // 2013-02-08
	Stamp         // 2013-02-08T12:30:00, to the microsecond, without time zone
	Instant       // the same in UTC, with a trailing Z
	Mixed         // each cell has its own type
	Nothing       // lists, structures: cells are NestedCell
)

// NestedCell is the text of a cell of kind Nothing.
const NestedCell = "(nested)"

// Numeric reports whether cells of the kind are numbers.
func (k Kind) Numeric() bool { return k >= Numbers && k <= Boolean }

func (k Kind) Zone() string {
	if k == Instant {
		return "Z"
	}
	return ""
}

// Keeps reports whether a value of the kind reproduces the cell, up to trailing zeros.
func (k Kind) Keeps(cell string) bool {
	switch {
	case k == Numbers:
		return keepsNumber(cell)
	case k < Whole || k > Instant:
		return true
	}
	x, ok := k.Integer(cell)
	return ok && k.Text(x) == cell
}

// writtenNumber matches numbers as programs write them; 007 and 1e5 may be codes.
var writtenNumber = regexp.MustCompile(`^-?((?:0|[1-9]\d*)?(?:\.\d+)?)(?:[eE][-+]\d+)?$|^-?(\d\.\d+)[eE]\d+$`)

func keepsNumber(cell string) bool {
	if cell == "NaN" || cell == "Inf" || cell == "-Inf" {
		return true
	}
	parts := writtenNumber.FindStringSubmatch(cell)
	x, err := strconv.ParseFloat(cell, 64)
	if parts == nil || err != nil {
		return false
	}
	digits := strings.Trim(strings.Replace(parts[1]+parts[2], ".", "", 1), "0")
	if digits == "" {
		return true // 0
	}
	kept, _, _ := strings.Cut(strings.Replace(strconv.FormatFloat(math.Abs(x), 'e', len(digits)-1, 64), ".", "", 1), "e")
	return len(digits) <= 17 && kept == digits
}

// Number is the shortest text that reads back as x, "NaN", "Inf" or "-Inf" if x is not finite.
func Number(x float64) string {
	switch size := math.Abs(x); {
	case math.IsInf(x, 1):
		return "Inf"
	case x != x, size > math.MaxFloat64, x != 0 && (size < 1e-6 || size >= 1e21):
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

const TimeLayout = "2006-01-02T15:04:05.999999999"

// Time writes the time units·nanos nanoseconds after 1970.
func Time(units, nanos int64) string {
	second := int64(1e9) / nanos
	return time.Unix(units/second, units%second*nanos).UTC().Format(TimeLayout)
}

// Integer is the number that a file holds for a cell of a kind from Whole to Instant: its value, the
// same bits of an unsigned one, days or microseconds since 1970.
func (k Kind) Integer(cell string) (x int64, ok bool) {
	var at time.Time
	var bits uint64
	var err error
	switch k {
	case Whole:
		x, err = strconv.ParseInt(cell, 10, 64)
	case Unsigned:
		bits, err = strconv.ParseUint(cell, 10, 64)
		x = int64(bits)
	case Boolean:
		bits, err = strconv.ParseUint(cell, 2, 1)
		x = int64(bits)
	case Date:
		at, err = time.Parse(time.DateOnly, cell)
		x = at.Unix() / 86400
	default:
		at, err = time.Parse(TimeLayout+k.Zone(), cell)
		x = at.UnixMicro()
	}
	return x, err == nil
}

// Text is the cell of Integer.
func (k Kind) Text(x int64) string {
	switch k {
	case Unsigned:
		return strconv.FormatUint(uint64(x), 10)
	case Date:
		return time.Unix(x*86400, 0).UTC().Format(time.DateOnly)
	case Stamp, Instant:
		return Time(x, 1000) + k.Zone()
	}
	return strconv.FormatInt(x, 10)
}
