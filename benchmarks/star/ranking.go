package star

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/network"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

// Ranking says what is compared.
type Ranking struct {
	Experiment harness.Experiment // Missing or Dense, at full size
	Treatment  string                // one of the experiment's, or ignored
	Missing    []float64             // nil: the experiment's
	Replicates int
	Methods    []string
}

// Rank writes the mean AUC, over an experiment's tables, of several ways to rank pairs:
//
//   - without a path or a penalty, by the correlations of the pairwise-complete correlation
//     matrix, and by its partial correlations;
//   - by each method's path, as the paper does: a pair ranks by the λ at which its edge
//     enters;
//   - by the sizes of the partial correlations at the method's last λ;
//   - by the path of complete rows, each drawn ten times given its observed cells by the
//     method's network at the last λ.
func Rank(ctx context.Context, w io.Writer, r Ranking) error {
	s, at, err := r.settings()
	if err != nil {
		return err
	}
	ways := []string{"marginal", "partial"}
	for _, m := range r.Methods {
		ways = append(ways, m+", path", m+", sizes")
		if m != full {
			ways = append(ways, m+", imputed")
		}
	}
	fmt.Fprintf(w, "| missing | %s |\n| --- |%s\n", strings.Join(ways, " | "), strings.Repeat(" --- |", len(ways)))
	for _, at.missing = range r.Missing {
		sum := make([]float64, len(ways))
		for seed := uint64(1); seed <= uint64(r.Replicates); seed++ {
			values, err := s.rankings(ctx, at, r.Methods, seed)
			if err != nil {
				return fmt.Errorf("%v missing, seed %d: %w", at.missing, seed, err)
			}
			floats.Add(sum, values)
		}
		fmt.Fprintf(w, "| %v |", at.missing)
		for _, v := range sum {
			fmt.Fprintf(w, " %.3f |", v/float64(r.Replicates))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// settings are the experiment's; Missing is filled in.
func (r *Ranking) settings() (s settings, at setting, err error) {
	var sizes struct{ Full, Smoke json.RawMessage }
	if err = json.Unmarshal(r.Experiment.Settings, &sizes); err != nil {
		return s, at, err
	}
	if s, err = decode(sizes.Full); err != nil {
		return s, at, err
	}
	for _, m := range r.Methods {
		if !slices.ContainsFunc(s.variants, func(v harness.Variant) bool { return v.Name == m }) {
			return s, at, fmt.Errorf("method %q: %s has %s", m, r.Experiment.Name, strings.Join(harness.Names(s.variants), ", "))
		}
	}
	treatments := append(s.Treatments, treatment{Name: "ignored", Ignore: true})
	i := slices.IndexFunc(treatments, func(t treatment) bool { return t.Name == r.Treatment })
	if i < 0 {
		return s, at, fmt.Errorf("treatment %q: it is paper, honoured or ignored", r.Treatment)
	}
	if r.Missing == nil {
		r.Missing = s.Missing
	}
	return s, setting{treatment: treatments[i], columns: s.Columns[0], centres: s.Centres[0]}, nil
}

// rankings are the AUCs of one table, in the order of Rank.
func (s settings) rankings(ctx context.Context, at setting, methods []string, seed uint64) (out []float64, err error) {
	truth, support, complete, err := s.simulate(at, seed)
	if err != nil {
		return nil, err
	}
	table, err := hide(complete, at, seed)
	if err != nil {
		return nil, err
	}
	c := correlations(table)
	var p mat.Dense
	if err := p.Inverse(c); err != nil {
		return nil, err
	}
	for _, m := range []*mat.SymDense{c, partialCorrelations(mat.NewSymDense(table.D, p.RawMatrix().Data))} {
		auc, err := ranked(m, truth)
		if err != nil {
			return nil, err
		}
		out = append(out, auc)
	}
	for _, m := range methods {
		of := table
		if m == full {
			of = complete
		}
		path, err := s.path(ctx, at.treatment, s.config(m), of, support, seed)
		if err != nil {
			return nil, err
		}
		auc, err := entered(path, truth)
		if err != nil {
			return nil, err
		}
		sizes, err := ranked(partialCorrelations(path.Precision), truth)
		if err != nil {
			return nil, err
		}
		if out = append(out, auc, sizes); m == full {
			continue
		}
		drawn, err := imputed(table, path, seed)
		if err != nil {
			return nil, err
		}
		if path, err = s.path(ctx, at.treatment, s.config(full), drawn, support, seed); err != nil {
			return nil, err
		}
		if auc, err = entered(path, truth); err != nil {
			return nil, err
		}
		out = append(out, auc)
	}
	return out, nil
}

const full = "full"

// entered is the AUC of a path.
func entered(path *trainers.NetworkResult, truth data.Gaussian) (float64, error) {
	rates, err := path.Rates(network.Threshold(truth.Precision, 1e-12))
	return network.AUC(rates), err
}

// imputed are ten draws of each row given its observed cells, by the chosen network.
func imputed(t *data.Table, path *trainers.NetworkResult, seed uint64) (*data.Table, error) {
	const draws = 10
	c := trainers.Conditional{Mean: path.Mean, Precision: path.Precision, Domain: path.Config.Domain}
	rng := new(stream.Stream).At(seed, stream.Impute)
	b := data.NewBatch(1, t.D)
	out := &data.Table{Names: t.Names, N: draws * t.N, D: t.D}
	for i := range t.N {
		b.Fill(t, []int{i}, 1)
		if err := c.Condition(b.Mask); err != nil {
			return nil, err
		}
		row := slices.Clone(b.X)
		c.Given(row)
		for range draws {
			if _, err := c.Draw(row, rng); err != nil {
				return nil, err
			}
			out.Values = append(out.Values, row...)
		}
	}
	out.Observed = slices.Repeat([]bool{true}, len(out.Values))
	return out, nil
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

// partialCorrelations are −P_jk/√|P_jj P_kk| of a precision matrix, which the inverse of
// pairwise correlations may leave indefinite.
func partialCorrelations(p *mat.SymDense) *mat.SymDense {
	d := p.SymmetricDim()
	out := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			out.SetSym(j, k, -p.At(j, k)/math.Sqrt(math.Abs(p.At(j, j)*p.At(k, k))))
		}
	}
	return out
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
