package missingness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"missingscore/data/domain"
	"missingscore/internal/printable"
	"missingscore/internal/spelling"
	"missingscore/internal/strictjson"
)

type file[R, T any] struct {
	Logistic map[string]R `json:"logistic,omitempty"`
	Censored map[string]T `json:"censored,omitempty"`

	Estimated bool `json:"estimated,omitempty"`
}

type regression struct {
	Intercept *float64           `json:"intercept"` // a pointer, because 0 is a valid intercept
	Slope     map[string]float64 `json:"slope,omitempty"`
}

type threshold struct {
	Below *float64 `json:"below,omitempty"`
	Above *float64 `json:"above,omitempty"`
}

// Read reads a missingness.json for a table with these columns:
//
//	{"logistic": {"x1": {"intercept": 1.2, "slope": {"x1": -2, "x2": 0.5}}},
//	 "censored": {"x3": {"above": 1.5}, "x4": {"below": -1}}}
//
// Here x1 is observed with probability 1/(1 + exp(−1.2 + 2 x1 − 0.5 x2)), and exactly the cells of
// x3 above 1.5 and of x4 below −1 are missing. Other columns are observed, or missing completely at
// random. "estimated": true says that the numbers come from the table itself.
func Read(path string, names []string) (*Model, error) {
	return strictjson.File(path, func(text []byte) (*Model, error) { return Parse(text, names) })
}

// Parse does the work of Read on text.
func Parse(text []byte, names []string) (*Model, error) {
	var f file[json.RawMessage, json.RawMessage] // laws one by one, so that errors name the column
	if err := strictjson.Decode(text, &f, `{"logistic":{"x1":{"intercept":1.2,"slope":{"x1":-2,"x2":0.5}}},"censored":{"x3":{"above":1.5},"x4":{"below":-1}}}`); err != nil {
		return nil, err
	}
	if len(f.Logistic)+len(f.Censored) == 0 {
		return nil, errors.New(`it has neither "logistic" nor "censored": add one`)
	}
	m := &Model{Estimated: f.Estimated}
	if len(f.Logistic) > 0 {
		m.Logistic = NewLogistic(len(names))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Logistic)) {
		if err := m.parseLogistic(f.Logistic[name], name, names); err != nil {
			return nil, err
		}
	}
	if len(f.Censored) > 0 {
		m.Censored = domain.All(len(names))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Censored)) {
		if err := m.parseCensored(f.Censored[name], name, names); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Model) parseLogistic(text []byte, name string, names []string) error {
	j, err := column(names, name)
	if err != nil {
		return fmt.Errorf("logistic: %w", err)
	}
	var r regression
	if err := strictjson.Decode(text, &r, `{"intercept":1.2,"slope":{"x1":-2}}`); err != nil {
		return fmt.Errorf("logistic: column %q: %w", name, err)
	}
	if r.Intercept == nil {
		return fmt.Errorf(`logistic: column %q needs an "intercept", a number`, name)
	}
	m.Logistic.Intercept[j] = *r.Intercept
	for on, slope := range r.Slope {
		k, err := column(names, on)
		if err != nil {
			return fmt.Errorf("logistic: slope of column %q: %w", name, err)
		}
		m.Logistic.Slope.Set(j, k, slope)
	}
	return nil
}

func (m *Model) parseCensored(text []byte, name string, names []string) error {
	j, err := column(names, name)
	if err != nil {
		return fmt.Errorf("censored: %w", err)
	}
	var t threshold
	if err := strictjson.Decode(text, &t, `{"above":1.5}`); err != nil {
		return fmt.Errorf("censored: column %q: %w", name, err)
	}
	switch {
	case m.Logistic != nil && m.Logistic.Concerns(j):
		return fmt.Errorf("column %q is both logistic and censored: choose one", name)
	case t.Above != nil && t.Below == nil:
		m.Censored.Upper[j] = *t.Above
	case t.Below != nil && t.Above == nil:
		m.Censored.Lower[j] = *t.Below
	default:
		return fmt.Errorf(`censored: column %q needs exactly one of "above" and "below", a number`, name)
	}
	return nil
}

func column(names []string, name string) (int, error) {
	j := slices.Index(names, name)
	if j < 0 {
		return j, spelling.Unknown("column", name, names)
	}
	return j, nil
}

// Write writes the format of Read.
func (m *Model) Write(w io.Writer, names []string) error {
	f := file[regression, threshold]{Logistic: map[string]regression{}, Censored: map[string]threshold{}, Estimated: m.Estimated}
	for j, name := range names {
		if l := m.Logistic; l != nil && l.Concerns(j) {
			r := regression{Intercept: &l.Intercept[j], Slope: map[string]float64{}}
			for k, slope := range l.Slope.RawRowView(j) {
				if slope != 0 {
					r.Slope[names[k]] = slope
				}
			}
			f.Logistic[name] = r
		}
		if c := m.Censored; c != nil && c.BoundedColumn(j) {
			var t threshold
			if !math.IsInf(c.Lower[j], -1) {
				t.Below = &c.Lower[j]
			}
			if !math.IsInf(c.Upper[j], 1) {
				t.Above = &c.Upper[j]
			}
			f.Censored[name] = t
		}
	}
	return json.NewEncoder(printable.Writer{W: w}).Encode(f)
}
