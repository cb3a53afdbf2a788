package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/picture"
	"missingscore/losses"
	"missingscore/trainers"
)

// Train fits m and gives what is recorded of it: the last epoch's effective sample
// size, whether the fit diverged, and the named errors at the given epochs.
func Train(ctx context.Context, t *data.Table, m graph.Model, c trainers.FitConfig, epochs []int, names ...string) ([]string, error) {
	c.Epochs = epochs[len(epochs)-1]
	state := &trainers.State{}
	_, err := trainers.Fit(ctx, t, m, losses.ObjectiveFor(c.Domain, c.Weight), c, state, nil)
	var diverged *trainers.DivergedError
	if err != nil && !errors.As(err, &diverged) {
		return nil, err
	}
	size := "-"
	if n := len(state.History); n > 0 {
		size = fmt.Sprintf("%.3f", state.History[n-1].EffectiveSize)
	}
	record := []string{size, strconv.FormatBool(diverged != nil)}
	for _, name := range names {
		record = append(record, Trace(state.History, epochs, name))
	}
	return record, nil
}

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

// Shown are the places of some epochs in the list, and of the last.
func Shown(epochs []int, wanted ...int) (ks []int) {
	for k, e := range epochs {
		if slices.Contains(wanted, e) || k == len(epochs)-1 {
			ks = append(ks, k)
		}
	}
	return ks
}

// Series is what the replicates of one variant had at each epoch.
type Series struct {
	Name   string
	Values [][]float64 // by epoch, then replicate
	Failed int         // replicates that did not reach the last epoch
}

// Collect reads column of the records that want chooses.
func Collect(name string, records [][]string, epochs []int, column int, want func([]string) bool) (Series, error) {
	s := Series{Name: name, Values: make([][]float64, len(epochs))}
	for _, r := range records {
		if !want(r) {
			continue
		}
		for k, text := range strings.Fields(r[column]) {
			if text == "-" {
				if k == len(epochs)-1 {
					s.Failed++
				}
				continue
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return s, err
			}
			s.Values[k] = append(s.Values[k], v)
		}
	}
	return s, nil
}

// Best is the epoch with the least mean among those that all replicates reached.
func (s Series) Best() (k int) {
	least := math.Inf(1)
	for i, v := range s.Values {
		if mean := stat.Mean(v, nil); len(v) == len(s.Values[0]) && mean < least {
			k, least = i, mean
		}
	}
	return k
}

// At writes mean ± half width at epoch number k of the list.
func (s Series) At(k int) string {
	if len(s.Values[k]) < 2 {
		return "–"
	}
	mean, half := MeanInterval(s.Values[k])
	return fmt.Sprintf("%.3g ± %.2g", mean, half)
}

// Draw saves the series with their intervals as .svg and .png.
func Draw(path, title, y string, epochs []int, series []Series) error {
	var bands []picture.Band
	for _, s := range series {
		b := picture.Band{Name: s.Name}
		for k, v := range s.Values {
			if len(v) < 2 || len(v) < len(s.Values[0]) {
				continue
			}
			mean, half := MeanInterval(v)
			b.X, b.Y = append(b.X, float64(epochs[k])), append(b.Y, mean)
			b.Low, b.High = append(b.Low, mean-half), append(b.High, mean+half)
		}
		if len(b.X) > 0 {
			bands = append(bands, b)
		}
	}
	p, err := picture.Bands(title, "epoch", y, bands)
	if err != nil {
		return err
	}
	for _, suffix := range []string{".svg", ".png"} {
		if err := picture.Save(path+suffix, p, 16*vg.Centimeter, 11*vg.Centimeter); err != nil {
			return err
		}
	}
	return nil
}

// Markdown writes a table: a line for each series, at the epochs numbered ks.
func Markdown(w io.Writer, epochs, ks []int, series []Series) {
	fmt.Fprint(w, "| variant |")
	for _, k := range ks {
		fmt.Fprintf(w, " epoch %d |", epochs[k])
	}
	fmt.Fprint(w, " best (epoch) | stopped early |\n| --- |", strings.Repeat(" --- |", len(ks)+2), "\n")
	for _, s := range series {
		if len(s.Values[0]) < 2 {
			continue
		}
		fmt.Fprintf(w, "| %s |", s.Name)
		for _, k := range ks {
			fmt.Fprintf(w, " %s |", s.At(k))
		}
		best := s.Best()
		fmt.Fprintf(w, " %s (%d) | %d of %d |\n", s.At(best), epochs[best], s.Failed, len(s.Values[0]))
	}
}
