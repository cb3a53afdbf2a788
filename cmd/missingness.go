package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
)

// missingnessFlag says what is known of cells missing not at random.
type missingnessFlag struct{ file string }

func (f *missingnessFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "missingness", "", `what is known of cells missing not at random, as JSON: {"logistic":{"x1":{"intercept":1.2,"slope":{"x1":-2,"x2":0.5}}},"censored":{"x3":{"above":1.5}}} (default: missing completely at random)`)
}

// read gives the model, nil if there is none, and the support as it censors it, which
// must hold the table, read from file.
func (f *missingnessFlag) read(t *data.Table, support *domain.Domain, file string) (*missingness.Model, *domain.Domain, error) {
	if f.file == "" {
		return nil, support, nil
	}
	m, err := missingness.Read(f.file, t.Names)
	if err != nil {
		return nil, nil, fmt.Errorf("--missingness: %w", err)
	}
	cut := m.Support(support)
	if err := cut.Check(t.Names); err != nil {
		return nil, nil, fmt.Errorf("--missingness: %s: %w", f.file, err)
	}
	if m.Censored == nil {
		return m, cut, nil
	}
	return m, cut, atLine(t.Inside(cut), file, "correct the row, leave it out, or change the thresholds (--missingness)")
}

// joint is a model with its missingness, if there is any but thresholds.
func joint(m model.Model, by *missingness.Model) model.Model {
	if phi := model.MissingnessOf(by); phi != nil {
		return &model.Joint{Model: m, Missingness: phi}
	}
	return m
}
