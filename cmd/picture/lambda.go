package picture

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// alongPath is a plot whose horizontal axis is λ, logarithmic and decreasing to
// the right, as a path is walked. A λ that is not positive is an error.
func alongPath(title, y string, lambda []float64) (*plot.Plot, error) {
	if len(lambda) == 0 {
		return nil, fmt.Errorf("picture: the path has no lambda")
	}
	p := blank(title, "λ (log scale, decreasing)", y)
	for _, l := range lambda {
		if !(l > 0) || math.IsInf(l, 1) {
			return nil, fmt.Errorf("picture: lambda is %v; a logarithmic axis needs a positive number", l)
		}
		p.X.Min, p.X.Max = min(p.X.Min, l), max(p.X.Max, l)
	}
	if p.X.Min == p.X.Max {
		p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	}
	p.X.Scale = plot.InvertedScale{Normalizer: plot.LogScale{}}
	p.X.Tick.Marker = logTicks{}
	return p, nil
}

// logTicks labels powers of ten, and 2 and 5 between them where the axis spans
// less than two decades.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	narrow := high/low < 100
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for m := 1.0; m < 10; m++ {
			// Parsed, since 3·10⁻¹ is not the number that prints as 0.3.
			v, err := strconv.ParseFloat(fmt.Sprintf("%ve%v", m, e), 64)
			if err != nil || v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || narrow && (m == 2 || m == 5) {
				t.Label = strconv.FormatFloat(v, 'g', -1, 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
