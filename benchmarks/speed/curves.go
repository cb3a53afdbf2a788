package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/timing"
	"missingscore/graph"
	"missingscore/internal/picture"
)

// curve varies one number of a setting.
type curve struct {
	name, title string
	base        timing.Setting
	set         func(*timing.Setting, int)
	values      []int
}

// curves of the normal experiment at d = 50, and of the path, whose steps take all rows.
func curves() []curve {
	normal := timing.Setting{Experiment: "normal", D: 50, N: 100, Batch: 100, Draws: 10}
	star := timing.Setting{Experiment: "star", D: 50, Batch: 100, Draws: 10}
	return []curve{
		{"d", "columns", normal, func(s *timing.Setting, v int) { s.D = v }, []int{10, 20, 50, 100, 200, 400}},
		{"batch", "rows in a batch", normal, func(s *timing.Setting, v int) { s.Batch, s.N = v, v }, []int{20, 50, 100, 200, 500, 1000}},
		{"r", "imputations per row", normal, func(s *timing.Setting, v int) { s.Draws = v }, []int{1, 3, 10, 30, 100}},
		{"n", "rows of the table", star, func(s *timing.Setting, v int) { s.N = v }, []int{100, 300, 1000, 3000, 10000}},
	}
}

func (c curve) at(value int, method string, t graph.DType) timing.Setting {
	s := c.base
	s.Method, s.DType = method, t
	c.set(&s, value)
	return s
}

// measured is what a fresh process needs for a setting.
type measured struct {
	seconds    spread
	floor      float64 // 0: not known
	peakMemory int     // kB
}

func measure(ctx context.Context, s timing.Setting, rounds int, block float64) (m measured, err error) {
	ours, err := launchOurs()
	if err != nil {
		return m, err
	}
	defer ours.close()
	if err := ours.warm(s, block); err != nil {
		return m, err
	}
	var seconds []float64
	for range rounds {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		t, err := ours.time(block)
		if err != nil {
			return m, err
		}
		seconds, m.peakMemory = append(seconds, t.Seconds), t.Peak
	}
	m.seconds = spreadOf(seconds)
	m.floor, err = floor(ctx, s, block)
	return m, err
}

// drawCurves measures what the results file does not have yet, and gives tables on w and
// pictures in folder.
func drawCurves(ctx context.Context, w io.Writer, folder string, methods []string, types []graph.DType, rounds int, block float64, failed func(key []string, err error)) error {
	blas, err := graph.BLAS()
	if err != nil {
		return err
	}
	var runs []cells.Cell
	for _, c := range curves() {
		for _, v := range c.values {
			for _, m := range methods {
				for _, t := range types {
					s := c.at(v, m, t)
					runs = append(runs, cells.Cell{Key: append([]string{c.name}, key(s)...), Run: func(ctx context.Context) ([]string, error) {
						r, err := measure(ctx, s, rounds, block)
						return r.fields(blas, rounds), err
					}})
				}
			}
		}
	}
	header := append([]string{"curve"}, settingHeader...)
	header = append(header, "blas", "rounds", "floor", "peak_kilobytes", "median", "low", "high")
	records, err := cells.Run(ctx, filepath.Join(folder, "curves.csv"), header, runs, 1, cells.Hooks{Failed: failed})
	if err != nil {
		return err
	}
	found := map[timing.Setting]measured{}
	for _, c := range curves() {
		for _, r := range records {
			if r[0] != c.name {
				continue
			}
			s, m, err := parse(r)
			if err != nil {
				return err
			}
			found[s] = m
		}
		c.table(w, found, methods, types)
		if err := c.draw(folder, found, methods, types); err != nil {
			return err
		}
	}
	return nil
}

// fields are a setting's numbers in curves.csv.
func (m measured) fields(blas string, rounds int) []string {
	return append([]string{blas, strconv.Itoa(rounds), number(m.floor), strconv.Itoa(m.peakMemory)}, m.seconds.fields()...)
}

// parse reads a line of curves.csv.
func parse(r []string) (s timing.Setting, m measured, err error) {
	s.Experiment, s.Method = r[1], r[2]
	if err = s.DType.UnmarshalText([]byte(r[7])); err != nil {
		return s, m, err
	}
	whole, err := numbers(r[3:7])
	if err != nil {
		return s, m, err
	}
	s.D, s.N, s.Batch, s.Draws = int(whole[0]), int(whole[1]), int(whole[2]), int(whole[3])
	v, err := numbers(r[10:15])
	if err != nil {
		return s, m, err
	}
	return s, measured{spread{v[2], v[3], v[4]}, v[0], int(v[1])}, nil
}

// table has a line for each value: time (in brackets the floor) and memory.
func (c curve) table(w io.Writer, found map[timing.Setting]measured, methods []string, types []graph.DType) {
	fmt.Fprintf(w, "\n| %s |", c.title)
	rule := "| --- |"
	for _, m := range methods {
		for _, t := range types {
			fmt.Fprintf(w, " %s %v, ms | MB |", m, t)
			rule += " --- | --- |"
		}
	}
	fmt.Fprintf(w, "\n%s\n", rule)
	for _, v := range c.values {
		fmt.Fprintf(w, "| %d |", v)
		for _, m := range methods {
			for _, t := range types {
				r, ok := found[c.at(v, m, t)]
				switch {
				case !ok:
					fmt.Fprint(w, " – | – |")
					continue
				case r.floor > 0:
					fmt.Fprintf(w, " %.3g (%.3g) |", 1e3*r.seconds.median, 1e3*r.floor)
				default:
					fmt.Fprintf(w, " %.3g |", 1e3*r.seconds.median)
				}
				fmt.Fprintf(w, " %.0f |", float64(r.peakMemory)/1024)
			}
		}
		fmt.Fprintln(w)
	}
}

// draw makes a picture of the times with their spread and, thin, the floors, and of the
// memory for the number of columns.
func (c curve) draw(folder string, found map[timing.Setting]measured, methods []string, types []graph.DType) error {
	var times, memory []picture.Band
	for _, m := range methods {
		for _, t := range types {
			name := fmt.Sprintf("%s %v", m, t)
			b, p := picture.Band{Name: name}, picture.Band{Name: name}
			add := func(b *picture.Band, v int, y spread) {
				b.X, b.Y = append(b.X, float64(v)), append(b.Y, y.median)
				b.Low, b.High = append(b.Low, y.low), append(b.High, y.high)
			}
			for _, v := range c.values {
				r, ok := found[c.at(v, m, t)]
				if !ok || r.seconds.low <= 0 {
					continue
				}
				add(&b, v, r.seconds)
				if r.floor > 0 {
					b.Floor = append(b.Floor, r.floor)
				}
				peak := float64(r.peakMemory) / 1024
				add(&p, v, spread{peak, peak, peak})
			}
			if len(b.X) > 0 {
				times, memory = append(times, b), append(memory, p)
			}
		}
	}
	save := func(suffix, y string, bands []picture.Band) error {
		if len(bands) == 0 {
			return nil
		}
		p, err := picture.Bands("Parameter iteration, "+c.base.Experiment, c.title, y, bands)
		if err != nil {
			return err
		}
		return picture.Save(filepath.Join(folder, c.name+suffix), p, 16*vg.Centimeter, 11*vg.Centimeter)
	}
	if err := save(".svg", "seconds", times); err != nil || c.name != "d" {
		return err
	}
	return save("-memory.svg", "peak memory, MB", memory)
}
