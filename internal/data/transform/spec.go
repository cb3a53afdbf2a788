package transform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/setting"
	"missingscore/internal/shell"
	"missingscore/internal/spelling"
	"missingscore/internal/strictjson"
)

// Kind fits a function.
type Kind struct {
	Fit func(x, weights []float64, low, high float64) Function // from a column's observed cells, their weights (nil: ones) and its bounds

	ByRanks bool // Fit needs the ranks of all cells, so it cannot run in passes over blocks
}

// Kinds lists the functions by name.
var Kinds = map[string]Kind{
	"npn":       {fitNormalScores, true},
	OrdinalKind: {func(x, weights []float64, _, _ float64) Function { return NewOrdinal(x, weights) }, true},
}

func init() {
	for _, f := range elementaries {
		Kinds[f.kind] = Kind{Fit: func([]float64, []float64, float64, float64) Function { return f }}
	}
}

const none = "none"

// Spec says which columns are transformed, by names of Kinds. The zero value transforms none.
type Spec struct {
	Columns map[string]string `json:"columns,omitempty"` // by column; "none" is the identity
	Others  string            `json:"others,omitempty"`  // of all other columns
}

// Parse reads column=log, …, or a function alone for all other columns.
func Parse(items []string) (Spec, error) {
	var s Spec
	for _, item := range items {
		at := strings.LastIndex(item, "=")
		name, kind := "", strings.TrimSpace(item[at+1:])
		if err := known(item, kind); err != nil {
			return s, err
		}
		if at >= 0 {
			name = strings.TrimSpace(item[:at])
		}
		if s.Columns[name] != "" || at < 0 && s.Others != "" {
			return s, setting.Errorf("transform", item, "this column already has a function")
		}
		if at < 0 {
			s.Others = kind
			continue
		}
		if s.Columns == nil {
			s.Columns = map[string]string{}
		}
		s.Columns[name] = kind
	}
	return s, nil
}

func known(item, kind string) error {
	if _, ok := Kinds[kind]; ok || kind == none {
		return nil
	}
	return setting.Errorf("transform", item, "%q is not a function; give column=function, or a function alone for all columns: one of %s, %s", kind, strings.Join(slices.Sorted(maps.Keys(Kinds)), ", "), none)
}

// Fit makes the functions for a table, nil if there are none; support is the domain of its rows. It
// fails with an error of the setting transform for unknown columns or functions and for constant
// T(x), and with a *data.RowError if a cell has no T(x).
func (s Spec) Fit(t *data.Table, support *domain.Domain) (Columns, error) {
	if len(s.Columns) == 0 && s.Others == "" {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Columns)) {
		if !slices.Contains(t.Names, name) {
			if s.Columns[name] == OrdinalKind {
				return nil, setting.Errorf(OrdinalKind, name, "%v", spelling.Unknown("column", name, t.Names))
			}
			return nil, setting.Errorf("transform", name+"="+s.Columns[name], "%v", spelling.Unknown("column", name, t.Names))
		}
	}
	if support == nil {
		support = domain.All(t.D)
	}
	columns := make(Columns, t.D)
	for j, name := range t.Names {
		kind, named := s.Columns[name]
		if !named {
			kind = s.Others
		}
		if kind == "" || kind == none {
			continue
		}
		if err := known(name+"="+kind, kind); err != nil {
			return nil, err
		}
		switch nominal := data.KindOf(t, j) == data.Nominal; {
		case nominal && !named:
			continue
		case nominal && kind != OrdinalKind:
			return nil, setting.Errorf("transform", name+"="+kind, "the column is nominal and has no %s; leave it out", kind)
		}
		columns[j] = Kinds[kind].Fit(t.Column(j), t.ColumnWeights(j), support.Lower[j], support.Upper[j])
		if o, ok := columns[j].(*Ordinal); ok && len(o.values) > MostCategories {
			return nil, tooMany(name, len(o.values), named)
		}
	}
	if !slices.ContainsFunc(columns, func(f Function) bool { return f != nil }) {
		return nil, nil
	}
	return columns, columns.distinguish(t)
}

func tooMany(name string, values int, named bool) error {
	list := shell.List([]string{name})
	if !named {
		return setting.Errorf("ordinal", "all", "column %s has %d different values, but %d ordered categories are the maximum: add Spec.Transform %s=none to treat it as a number", name, values, MostCategories, list)
	}
	return setting.Errorf("ordinal", name, "column %s has %d different values, but %d ordered categories are the maximum: treat it as a number (leave it out here), or use its ranks with Spec.Transform %s=npn", name, values, MostCategories, list)
}

func (c Columns) distinguish(t *data.Table) error {
	y, err := c.Table(t)
	if err != nil {
		return err
	}
	for j, f := range c {
		if f == nil {
			continue
		}
		if x := y.Column(j); slices.Min(x) == slices.Max(x) {
			return setting.Errorf("transform", t.Names[j]+"="+f.Kind(), "it maps every value of %s to %s", t.Names[j], fmt.Sprint(x[0]))
		}
	}
	return nil
}

// file is a function in JSON: an elementary one has a kind only, npn the fields to Upper.
type file struct {
	Kind       string    `json:"kind"`
	Values     []float64 `json:"values,omitempty"`
	Scores     []float64 `json:"scores,omitempty"`
	Lower      *float64  `json:"lower,omitempty"`
	Upper      *float64  `json:"upper,omitempty"`
	Categories []float64 `json:"categories,omitempty"`
	Thresholds []float64 `json:"thresholds,omitempty"`
}

func (f file) function() (Function, error) {
	switch f.Kind {
	case "npn":
		if len(f.Values) < 2 || len(f.Values) != len(f.Scores) {
			return nil, errors.New("it needs two values or more, and as many scores")
		}
		if !increasing(f.Values) || !increasing(f.Scores) {
			return nil, errors.New("its values and its scores must increase")
		}
		s := &normalScores{values: f.Values, scores: f.Scores, lower: math.Inf(-1), upper: math.Inf(1)}
		if f.Lower != nil {
			s.lower = *f.Lower
		}
		if f.Upper != nil {
			s.upper = *f.Upper
		}
		return s, nil
	case OrdinalKind:
		if len(f.Categories) < 2 || len(f.Thresholds) != len(f.Categories)-1 {
			return nil, errors.New("it needs two categories or more, and one threshold fewer")
		}
		if !increasing(f.Categories) || !increasing(f.Thresholds) {
			return nil, errors.New("its categories and its thresholds must increase")
		}
		return (&Ordinal{values: f.Categories}).At(f.Thresholds), nil
	}
	return Kinds[f.Kind].Fit(nil, nil, 0, 0), nil
}

func increasing(x []float64) bool {
	for k := 1; k < len(x); k++ {
		if !(x[k-1] < x[k]) {
			return false
		}
	}
	return true
}

// Encode writes the functions by column, as {"zinc": {"kind": "log"}}; nil for none.
func (c Columns) Encode(names []string) (json.RawMessage, error) {
	if c == nil {
		return nil, nil
	}
	by := map[string]Function{}
	for j, f := range c {
		if f != nil {
			by[names[j]] = f
		}
	}
	return json.Marshal(by)
}

// Read reads the output of Encode for these columns.
func Read(text []byte, names []string) (Columns, error) {
	var by map[string]json.RawMessage
	if err := strictjson.Unmarshal(text, &by); err != nil {
		return nil, err
	}
	c := make(Columns, len(names))
	for name, own := range by {
		j := slices.Index(names, name)
		if j < 0 {
			return nil, spelling.Unknown("column", name, names)
		}
		var f file
		if err := strictjson.Unmarshal(own, &f); err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		if _, known := Kinds[f.Kind]; !known {
			return nil, fmt.Errorf("column %q: %w", name, spelling.Unknown("function", f.Kind, slices.Sorted(maps.Keys(Kinds))))
		}
		var err error
		if c[j], err = f.function(); err != nil {
			return nil, fmt.Errorf("column %q: %s: %w", name, f.Kind, err)
		}
	}
	return c, nil
}
