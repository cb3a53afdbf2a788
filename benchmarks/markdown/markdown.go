// Package markdown writes the tables of README files.
package markdown

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/claims"
)

// Table is one that a README shows between marks that bear its name.
type Table struct {
	Name   string
	Header []string
	Lines  [][]string
}

// String is the table in Markdown.
func (t Table) String() string {
	var b strings.Builder
	row := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	row(t.Header)
	b.WriteString("|" + strings.Repeat(" --- |", len(t.Header)) + "\n")
	for _, line := range t.Lines {
		row(line)
	}
	return b.String()
}

// Interval shows a mean with the half width of its 95 % t-interval; the number itself
// where there is one only, nothing where there is none.
func Interval(x []float64) string {
	switch len(x) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.3g", x[0])
	}
	mean, half := claims.MeanInterval(x)
	return fmt.Sprintf("%.3g ± %.2g", mean, half)
}

// SignedInterval shows a mean with its sign and the half width of its 95 % t-interval, bold where
// that leaves 0 out; nothing where there are less than two numbers.
func SignedInterval(x []float64) string {
	if len(x) < 2 {
		return ""
	}
	mean, half := claims.MeanInterval(x)
	text := Signed("%+.3f", mean) + fmt.Sprintf(" ± %.3f", half)
	if math.Abs(mean) > half {
		return "**" + text + "**"
	}
	return text
}

// MeanDraws shows the mean effective number of draws; nothing where a method makes none.
func MeanDraws(x []float64) string {
	if mean := stat.Mean(x, nil); !math.IsNaN(mean) {
		return fmt.Sprintf("%.1f", mean)
	}
	return ""
}

// Signed writes a number with a sign as print does.
func Signed(format string, x float64) string {
	return strings.ReplaceAll(fmt.Sprintf(format, x), "-", "−")
}
