package excel

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"missingscore/data/format"
)

// shownAs is the meaning of a number by its display format.
type shownAs int

const (
	shownAsNumber  shownAs = iota
	shownAsMoment          // a date, a time of day or both
	shownAsElapsed         // elapsed hours, minutes or seconds
)

// builtInFormat is the meaning of a format without a code in the file (ECMA-376, part 1, 18.8.30):
// 27 to 36 and 50 to 58 are East Asian dates and times, 71 to 81 Thai ones.
func builtInFormat(id int) shownAs {
	switch {
	case id == 46, id == 79:
		return shownAsElapsed
	case 14 <= id && id <= 22, 27 <= id && id <= 36, id == 45, id == 47, 50 <= id && id <= 58, 71 <= id && id <= 81:
		return shownAsMoment
	}
	return shownAsNumber
}

var (
	// Literals of a format code: quoted texts, a character after \, _ or *, and colours,
	// conditions, currencies and languages in brackets. Elapsed time, [h], stays.
	codeLiterals = regexp.MustCompile(`"[^"]*"?|[\\_*].|(?i:general)`)
	codeBrackets = regexp.MustCompile(`\[[^\]]*\]?`)
	codeElapsed  = regexp.MustCompile(`(?i)\[(h+|m+|s+)\]`)
	codeFraction = regexp.MustCompile(`(?i)(s\]?)[.,]0+`)
)

// formatOfCode classifies the first section of a code, which formats numbers above 0. Digit
// placeholders mean a number.
func formatOfCode(code string) shownAs {
	code = codeLiterals.ReplaceAllString(code, "")
	code, _, _ = strings.Cut(code, ";")
	code = codeFraction.ReplaceAllString(code, "$1")
	elapsed := codeElapsed.MatchString(code)
	code = strings.ToLower(codeBrackets.ReplaceAllString(code, ""))
	switch {
	case strings.ContainsAny(code, "0#?"):
		return shownAsNumber
	case elapsed:
		return shownAsElapsed
	case strings.ContainsAny(code, "ymdhsegb"): // e, g and b are years of other calendars
		return shownAsMoment
	}
	return shownAsNumber
}

// Day numbers of a workbook. 29 February 1900, which did not exist, counts.
const (
	lastDay  = 2958465 // 9999-12-31
	leapDays = 60      // of 1900
	from1904 = 1462
)

// shown writes a number of days as text: 2013-02-08, 2013-02-08T12:30:00, a time of day 12:30:00 or
// elapsed time 36:30:00, to the millisecond. ok is false if the number has no such text.
func (f shownAs) shown(days float64, epoch bool) (text string, ok bool) {
	if f == shownAsElapsed && days >= 0 && days <= lastDay || f == shownAsMoment && days >= 0 && days < 1 {
		ms := int64(math.Round(days * 86400e3))
		text = fmt.Sprintf("%02d:%02d:%02d", ms/3600000, ms/60000%60, ms/1000%60)
		if ms%1000 != 0 {
			text += strings.TrimRight(fmt.Sprintf(".%03d", ms%1000), "0")
		}
		return text, true
	}
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

// daysOf converts a date or time to days, with its style in parts; ok reports whether a sheet
// reproduces the text.
func daysOf(text string) (days float64, style int, ok bool) {
	shown, style := shownAsMoment, 2
	at, err := time.Parse(format.TimeLayout, text)
	if err != nil {
		style = 1
		at, err = time.Parse(time.DateOnly, text)
	}
	if err == nil {
		days = float64(at.UnixMilli()-time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli()) / 86400e3
		if days >= leapDays {
			days++
		}
	} else if hours, rest, found := strings.Cut(text, ":"); found {
		shown, style = shownAsElapsed, 3
		h, wrong := strconv.Atoi(hours)
		at, err = time.Parse("04:05", rest)
		if err = cmp.Or(wrong, err); err == nil {
			days = (float64(h)*3600 + at.Sub(at.Truncate(time.Hour)).Seconds()) / 86400
		}
	}
	if err != nil {
		return 0, 0, false
	}
	back, ok := shown.shown(days, false)
	return days, style, ok && back == text
}
