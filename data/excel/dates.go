package excel

import (
	"math"
	"regexp"
	"strings"
	"time"

	"missingscore/data/format"
)

// ECMA-376, part 1, 18.8.30; 27 to 36 and 50 to 58 are East Asian.
func builtInDate(id int) bool {
	return 14 <= id && id <= 17 || id == 22 || 27 <= id && id <= 36 || 50 <= id && id <= 58
}

// Quoted texts, a character after \, _ or *, and colours, conditions, currencies in brackets.
var codeLiterals = regexp.MustCompile(`"[^"]*"?|[\\_*].|\[[^\]]*\]?|(?i:general)`)

// showsDate looks for a year, a day or a month's name; e, g and b are years of other calendars.
func showsDate(code string) bool {
	code, _, _ = strings.Cut(codeLiterals.ReplaceAllString(strings.ToLower(code), ""), ";")
	return (strings.ContainsAny(code, "ydegb") || strings.Contains(code, "mmm")) && !strings.ContainsAny(code, "#?") && !strings.HasPrefix(code, "0")
}

// Day numbers of a workbook. 29 February 1900, which did not exist, counts.
const (
	lastDay  = 2958465 // 9999-12-31
	leapDays = 60      // of 1900
	from1904 = 1462
)

// date writes 2013-02-08 or, to the millisecond, 2013-02-08T12:30:00.
func date(days float64, epoch bool) (text string, ok bool) {
	if epoch {
		days += from1904
	}
	if !(days >= 0 && days < lastDay+1) {
		return "", false
	}
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if days < leapDays {
		first = first.AddDate(0, 0, 1)
	}
	whole := math.Floor(days)
	at := first.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round((days-whole)*86400e3)) * time.Millisecond)
	if days == whole {
		return at.Format(time.DateOnly), true
	}
	return at.Format("2006-01-02T15:04:05.999"), true
}

// daysOf reports in ok whether a sheet reproduces the text.
func daysOf(text string) (days float64, style int, ok bool) {
	style = 2
	at, err := time.Parse(format.TimeLayout, text)
	if err != nil {
		style = 1
		if at, err = time.Parse(time.DateOnly, text); err != nil {
			return 0, 0, false
		}
	}
	days = float64(at.UnixMilli()-time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli()) / 86400e3
	if days >= leapDays {
		days++
	}
	back, ok := date(days, false)
	return days, style, ok && back == text
}
