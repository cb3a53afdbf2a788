package benchmarks

import (
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"missingscore/internal/picture"
	"missingscore/trainers"
)

// Trace writes one of a fit's errors at the given epochs, separated by spaces;
// epochs that a fit which stopped early did not reach are "-".
func Trace(history []trainers.Record, epochs []int, name string) string {
	var out []string
	for _, epoch := range epochs {
		value := "-"
		if epoch <= len(history) {
			for _, e := range history[epoch-1].Errors {
				if e.Name == name {
					value = strconv.FormatFloat(e.Value, 'g', 5, 64)
				}
			}
		}
		out = append(out, value)
	}
	return strings.Join(out, " ")
}

// EffectiveSize writes that of a fit's last epoch; "-" if it made none.
func EffectiveSize(history []trainers.Record) string {
	if len(history) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", history[len(history)-1].EffectiveSize)
}

// Epochs are those at which errors are written: about ten a decade, and the last.
func Epochs(last int) []int {
	var out []int
	for _, e := range []int{1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 85, 100, 120, 140, 170, 200} {
		if e < last {
			out = append(out, e)
		}
	}
	return append(out, last)
}

// Series is what the replicates of one method had at each epoch, or at each setting.
type Series struct {
	Name   string
	Values [][]float64 // by epoch or setting, then replicate
	Failed int         // replicates that did not reach the last epoch
}

// Training reads a measure along training: by epoch for each of the methods.
func (r Results) Training(m Measure, methods []string) ([]Series, error) {
	var out []Series
	for _, method := range methods {
		chosen, err := r.Only(m.With("method", method).Where)
		if err != nil {
			return nil, err
		}
		column, err := r.column(m.Column)
		if err != nil {
			return nil, err
		}
		s := Series{Name: method}
		for _, line := range chosen.Lines {
			trace := strings.Fields(line[column])
			s.Values = append(s.Values, make([][]float64, max(0, len(trace)-len(s.Values)))...)
			for k, text := range trace {
				if text == "-" {
					if k == len(trace)-1 {
						s.Failed++
					}
					continue
				}
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return nil, fmt.Errorf("column %s: %w", m.Column, err)
				}
				s.Values[k] = append(s.Values[k], v)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// Bands draws means with their 95 % intervals at the places at; a single replicate
// has no interval. Places along training that not all replicates reached are left
// out, for a mean of the others would leap: see Stopped.
func Bands(title, x, y string, at []float64, series []Series) (*plot.Plot, error) {
	var bands []picture.Band
	for _, s := range series {
		b := picture.Band{Name: s.Name}
		for k, v := range s.Values {
			if len(v) == 0 || s.Failed > 0 && len(v) < len(s.Values[0]) {
				continue
			}
			mean, half := v[0], 0.0
			if len(v) > 1 {
				mean, half = MeanInterval(v)
			}
			b.X, b.Y = append(b.X, at[k]), append(b.Y, mean)
			b.Low, b.High = append(b.Low, mean-half), append(b.High, mean+half)
		}
		if len(b.X) > 0 {
			bands = append(bands, b)
		}
	}
	return picture.Bands(title, x, y, bands)
}

// Stopped says for a caption which methods did not reach the last epoch; empty if all did.
func Stopped(series []Series) string {
	var out []string
	for _, s := range series {
		if s.Failed > 0 {
			out = append(out, fmt.Sprintf("%s %d of %d", picture.MethodTitle(s.Name), s.Failed, len(s.Values[0])))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " Ran away before the end: " + strings.Join(out, ", ") + "; drawn as far as all replicates went."
}
