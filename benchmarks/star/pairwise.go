package star

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks"
	"missingscore/data"
	"missingscore/data/network"
)

// Pairwise ranks the edges of the tables of dense-missing and star-missing, without a
// path or a penalty, by the partial correlations of the pairwise-complete correlation
// matrix and by its correlations themselves, and writes the mean AUC over replicates.
func Pairwise(w io.Writer, replicates int) error {
	fmt.Fprintln(w, "| experiment | missing | partial correlations | marginal |\n| --- | --- | --- | --- |")
	for _, e := range []benchmarks.Experiment{Dense, Missing} {
		var sizes struct{ Full, Smoke settings }
		if err := benchmarks.Decode(e.Settings, &sizes); err != nil {
			return err
		}
		s := sizes.Full
		for _, p := range s.Missing {
			at := setting{columns: s.Columns[0], missing: p, centres: s.Centres[0]}
			var partial, marginal float64
			for seed := range uint64(replicates) {
				truth, _, table, err := s.simulate(at, seed+1)
				if err != nil {
					return err
				}
				if table, err = hide(table, at, seed+1); err != nil {
					return err
				}
				c := correlations(table)
				of, err := ranked(c, truth)
				if err != nil {
					return err
				}
				marginal += of / float64(replicates)
				inverse, err := partialCorrelations(c)
				if err != nil {
					return fmt.Errorf("%s, %v missing, seed %d: %w", e.Name, p, seed+1, err)
				}
				if of, err = ranked(inverse, truth); err != nil {
					return err
				}
				partial += of / float64(replicates)
			}
			fmt.Fprintf(w, "| %s | %v | %.3f | %.3f |\n", e.Name, p, partial, marginal)
		}
	}
	return nil
}

// correlations are those of each two columns over the rows that have both.
func correlations(t *data.Table) *mat.SymDense {
	c := mat.NewSymDense(t.D, nil)
	for j := range t.D {
		for k := j; k < t.D; k++ {
			var x, y []float64
			for i := 0; i < len(t.Values); i += t.D {
				if t.Observed[i+j] && t.Observed[i+k] {
					x, y = append(x, t.Values[i+j]), append(y, t.Values[i+k])
				}
			}
			c.SetSym(j, k, stat.Correlation(x, y, nil))
		}
	}
	return c
}

// partialCorrelations are −P_jk/√|P_jj P_kk| with P = C⁻¹, which a pairwise C may leave
// indefinite.
func partialCorrelations(c *mat.SymDense) (*mat.SymDense, error) {
	d := c.SymmetricDim()
	var p mat.Dense
	if err := p.Inverse(c); err != nil {
		return nil, err
	}
	out := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			out.SetSym(j, k, -p.At(j, k)/math.Sqrt(math.Abs(p.At(j, j)*p.At(k, k))))
		}
	}
	return out, nil
}

// ranked is the AUC of the pairs in the order of their absolute values.
func ranked(m *mat.SymDense, truth data.Gaussian) (float64, error) {
	d := m.SymmetricDim()
	edges := network.Threshold(truth.Precision, 1e-12)
	var rates []network.Rate
	for j := range d {
		for k := j + 1; k < d; k++ {
			rate, err := network.Compare(edges, network.Threshold(m, math.Abs(m.At(j, k))))
			if err != nil {
				return 0, err
			}
			rates = append(rates, rate)
		}
	}
	return network.AUC(rates), nil
}
