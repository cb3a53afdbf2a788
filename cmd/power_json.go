package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"missingscore/trainers/power"
)

// powerJSON is power.json, and with seconds what --json prints.
type powerJSON struct {
	Sensitivity float64 `json:"sensitivity"`
	// Rows, Low and High are null beyond the numbers of rows that were tried.
	Rows     *int        `json:"rows"`
	Low      *int        `json:"low"`
	High     *int        `json:"high"`
	Reached  string      `json:"reached"` // "within" the rows that were tried, "below" or "above" them
	Answer   string      `json:"answer"`
	Truth    truthJSON   `json:"truth"`
	Method   string      `json:"method"`
	Tables   int         `json:"tables"`
	Level    float64     `json:"level"`
	Points   []pointJSON `json:"points"`
	Warnings []string    `json:"warnings"`
	BLAS     string      `json:"blas"`
	Seconds  *float64    `json:"seconds,omitempty"`
}

type truthJSON struct {
	Source  string `json:"source"`
	Columns int    `json:"columns"`
	Edges   int    `json:"edges"`
}

type pointJSON struct {
	Rows        int                 `json:"rows"`
	Tables      int                 `json:"tables"`
	Failed      int                 `json:"failed"`
	Unconverged int                 `json:"unconverged"`
	Measures    map[string]meanJSON `json:"measures"`
}

// meanJSON is a mean: null for what is not known.
type meanJSON struct {
	Mean *float64 `json:"mean"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// encodePower is the object as a line.
func encodePower(f *powerCommand, blas string, seconds *float64) ([]byte, error) {
	r, c := f.result, f.result.Config
	out := powerJSON{
		Sensitivity: c.Sensitivity, Rows: tried(r.Needed.Rows), Low: tried(r.Needed.Low), High: tried(r.Needed.High), Reached: "within", Answer: answer(r),
		Truth: truthJSON{f.source, len(f.problem.Truth.Names), f.problem.Truth.Edges()}, Method: f.spec.Steps.Method,
		Tables: c.Tables, Level: c.Level, Warnings: append([]string{}, r.Warnings...), BLAS: blas, Seconds: seconds,
	}
	switch {
	case r.Needed.Rows == 0:
		out.Reached = "below"
	case math.IsInf(r.Needed.Rows, 1):
		out.Reached = "above"
	}
	for _, p := range r.Points {
		q := pointJSON{Rows: p.Rows, Tables: p.Tables, Failed: p.Failed, Unconverged: p.Unconverged, Measures: map[string]meanJSON{}}
		for m, v := range p.Means {
			q.Measures[power.Names[m]] = meanJSON{known(v.Value), known(v.Low), known(v.High)}
		}
		out.Points = append(out.Points, q)
	}
	text, err := json.Marshal(out)
	return append(text, '\n'), err
}

// tried is a number of rows, nil beyond those that were tried.
func tried(rows float64) *int {
	if rows == 0 || math.IsInf(rows, 1) {
		return nil
	}
	return new(int(math.Ceil(rows)))
}

// table writes the measures by number of rows, and the answer.
func (f *powerCommand) table(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(columns, "rows\t")
	for _, name := range power.Names {
		fmt.Fprintf(columns, "%s\t", name)
	}
	fmt.Fprintln(columns)
	for _, p := range f.result.Points {
		fmt.Fprintf(columns, "%d\t", p.Rows)
		for _, m := range p.Means {
			if math.IsNaN(m.Value) {
				fmt.Fprint(columns, "–\t")
				continue
			}
			fmt.Fprintf(columns, "%.3f\t", m.Value)
		}
		fmt.Fprintln(columns)
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\nresults in %s\n", answer(f.result), f.out)
	return err
}
