// Package figures draws the results of experiments: means with their intervals by setting or
// by epoch.
package figures

import "gonum.org/v1/plot"

// Figure is a picture with its caption.
type Figure struct {
	Name, Caption string // of the file, without suffix; of the report
	Plot          *plot.Plot
	Width, Height float64 // centimetres
}
