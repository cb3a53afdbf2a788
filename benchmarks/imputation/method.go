package imputation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/trainers/engine"
)

// method is one way to fill in cells.
type method struct {
	Name   string   `json:"name"`
	By     string   `json:"by"`     // a name of ways
	Option string   `json:"option"` // of mice: its method; of scikit-learn: its imputer
	Match  bool     `json:"match"`  // of ours: draws replaced by observed values
	Tables []string `json:"tables"` // only these; null: all

	Components int `json:"components"` // of a posterior's mixture; 0: as the program does

	Model     string          `json:"model"`   // of a fit; of a network none
	Options   json.RawMessage `json:"options"` // of the model
	Objective string          `json:"objective"`
	Noise     json.RawMessage `json:"noise"`     // of the objective denoising
	Transform string          `json:"transform"` // of all columns
	Honour    bool            `json:"honour"`    // the support of the rows, where it is known
	Epochs    int             `json:"epochs"`
	Rate      float64         `json:"rate"`
	Fit       engine.Config   `json:"fit"`
}

// task is a table whose missing cells are to be filled in.
type task struct {
	table   *data.Table
	support *domain.Domain
	draws   int
	seed    uint64
}

// ways are all there are. A new one is a line here.
var ways = map[string]struct {
	fill    func(context.Context, method, task) (filled, error)
	version func(method) (string, error) // of what is not this program; nil: there is nothing
}{
	"fit":        {fill: fit},
	"network":    {fill: network},
	"posterior":  {fill: fromPosterior},
	"likelihood": {fill: likelihood},
	"mice":       {fill: byMice, version: func(method) (string, error) { return mice.Version() }},
	"sklearn":    {fill: bySklearn, version: func(method) (string, error) { return sklearn.Version() }},
}

// errNone says that a method has no result for a table: that is a result.
var errNone = errors.New("no imputations")

func (m method) check(tables []string) error {
	if _, ok := ways[m.By]; !ok {
		return fmt.Errorf("there is no way %q", m.By)
	}
	for _, t := range m.Tables {
		if !slices.Contains(tables, t) {
			return fmt.Errorf("%q is none of the tables", t)
		}
	}
	return nil
}

// timed fills in, with the seconds and the versions of programs that it took.
func (m method) timed(ctx context.Context, t task) (f filled, seconds, version string, err error) {
	way := ways[m.By]
	version = "-"
	if way.version != nil {
		if version, err = way.version(m); err != nil {
			return f, "", "", err
		}
	}
	start := time.Now()
	f, err = way.fill(ctx, m, t)
	if err == nil && len(f.values) != t.table.Missing() {
		err = fmt.Errorf("%s filled in %d cells of %d", m.Name, len(f.values), t.table.Missing())
	}
	return f, fmt.Sprintf("%.2f", time.Since(start).Seconds()), version, err
}
