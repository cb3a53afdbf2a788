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
	switch k {
	case Whole:
		x, err := strconv.ParseInt(cell, 10, 64)
		return err == nil && strconv.FormatInt(x, 10) == cell
	case Unsigned:
		x, err := strconv.ParseUint(cell, 10, 64)
		return err == nil && strconv.FormatUint(x, 10) == cell
	case Boolean:
		return cell == "0" || cell == "1"
	case Numbers:
		return keepsNumber(cell)
	case Date:
		at, err := time.Parse(time.DateOnly, cell)
		return err == nil && at.Format(time.DateOnly) == cell
	case Stamp, Instant:
		micros, ok := Microseconds(k, cell)
		return ok && Time(micros, 1000)+k.Zone() == cell
	}
	return true
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

func Microseconds(k Kind, cell string) (int64, bool) {
	at, err := time.Parse(TimeLayout+k.Zone(), cell)
	return at.UnixMicro(), err == nil
}

func Days(cell string) (int32, bool) {
	at, err := time.Parse(time.DateOnly, cell)
	return int32(at.Unix() / 86400), err == nil
}
