package figures

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatPoints writes coordinates, x before y, into a cell's column.
func FormatPoints(xy []float64) string {
	var out []string
	for _, v := range xy {
		out = append(out, strconv.FormatFloat(v, 'g', 4, 64))
	}
	return strings.Join(out, " ")
}

// ParsePoints reads them.
func ParsePoints(text string) (xy []float64, err error) {
	for _, number := range strings.Fields(text) {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, fmt.Errorf("points: %q is not a number", number)
		}
		xy = append(xy, v)
	}
	return xy, nil
}
