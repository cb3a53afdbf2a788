package cmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/mcar"
	"missingscore/data/missingness"
	"missingscore/internal/atomicfile"
	"missingscore/trainers"
)

// missingnessFlag says what is known of cells missing not at random.
type missingnessFlag struct{ file string }

// estimateLaw is the value of --missingness that has the law estimated from the table.
const estimateLaw = "estimate"

func (f *missingnessFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "missingness", "", `what is known of missing cells, as JSON: {"logistic":{"x1":{"intercept":1.2,"slope":{"x1":-2,"x2":0.5}}},"censored":{"x3":{"above":1.5}}}; or estimate: logistic laws in the other columns, estimated from the table first (default: as the method takes them, the defaults at random)`)
}

// read gives the model, nil if there is none; it must leave room in the support.
func (f *missingnessFlag) read(t *data.Table, support *domain.Domain) (*missingness.Model, error) {
	switch f.file {
	case "":
		return nil, nil
	case estimateLaw:
		return mcar.Law(t), nil
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

// announce says what came of an estimate of the law.
func (f *missingnessFlag) announce(w io.Writer, p *trainers.Prepared) {
	law := p.Spec.Missingness
	if f.file != estimateLaw {
		return
	}
	if law == nil {
		fmt.Fprintln(w, "--missingness estimate: no column's gaps depend on what other columns hold, so there is no law to estimate")
		return
	}
	for j, name := range p.Table.Names {
		if law.Logistic.Concerns(j) {
			fmt.Fprintf(w, "--missingness estimate: a logistic law for %s\n", name)
		}
	}
}

// write prepares the law that was estimated, to be looked at and used again.
func (f *missingnessFlag) write(set *atomicfile.Set, path string, r *trainers.Result) error {
	law := r.Spec.Missingness
	if f.file != estimateLaw || law == nil || path == "" {
		return nil
	}
	return set.Write(path, func(w io.Writer) error { return law.Write(w, r.Model.Names) })
}

// testedColumns are the columns for JSON: [] rather than null.
func testedColumns(columns []mcar.Column) []mcar.Column { return append([]mcar.Column{}, columns...) }
