package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
)

// missingnessFlag says what is known of cells missing not at random.
type missingnessFlag struct{ file string }

func (f *missingnessFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "missingness", "", `what is known of cells missing not at random, as JSON: {"logistic":{"x1":{"intercept":1.2,"slope":{"x1":-2,"x2":0.5}}},"censored":{"x3":{"above":1.5}}} (default: missing completely at random)`)
}

// read gives the model, nil if there is none; it must leave room in the support.
func (f *missingnessFlag) read(t *data.Table, support *domain.Domain) (*missingness.Model, error) {
	if f.file == "" {
		return nil, nil
	}
	m, err := missingness.Read(f.file, t.Names)
	if err != nil {
		return nil, fmt.Errorf("--missingness: %w", err)
	}
	if err := m.Support(support).Check(t.Names); err != nil {
		return nil, fmt.Errorf("--missingness: %s: %w", f.file, err)
	}
	return m, nil
}
