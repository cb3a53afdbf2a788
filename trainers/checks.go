package trainers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/data/diagnose"
	"missingscore/data/transform"
	"missingscore/graph/model"
	"missingscore/internal/memory"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/losses/pairmoments"
	"missingscore/nets"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/inference"
	"missingscore/trainers/inference/debias"
	"missingscore/trainers/inference/sandwich"
	"missingscore/trainers/regpath"
	"missingscore/trainers/rows"
)

// check refuses names of parts that a saved model could not be read by, and what a network cannot have.
func (s Spec) check() error {
	unread := func(field, kind, registry string) error {
		return setting.Errorf(field, kind, "a saved one could not be read: register the name in %s, or leave Kind out", registry)
	}
	imputer := s.Steps.Imputer
	switch {
	case s.Model.New != nil && s.Model.Kind != "" && model.Models[s.Model.Kind] == nil:
		return unread("model", s.Model.Kind, "model.Models")
	case s.Model.New != nil && s.Model.Options != nil:
		return setting.Errorf("model", s.Model.Kind, "ModelSpec.New makes the model, and has no use for Options: leave one of the two out")
	case imputer.New != nil && imputer.Options != nil:
		return setting.Errorf("imputer", imputer.Kind, "ImputerSpec.New makes the imputer, and has no use for Options: leave one of the two out")
	case imputer.New != nil && imputer.Kind != "" && nets.Imputers[imputer.Kind] == nil:
		return unread("imputer", imputer.Kind, "nets.Imputers")
	case s.Network == nil:
		return nil
	case s.Model.New != nil || s.Model.Kind != DefaultModel:
		return &setting.Error{Field: "model", Value: s.Model.Kind, Allowed: "a network is of a Gaussian model"}
	case s.Objective.New != nil || s.Objective.Kind != "auto":
		return &setting.Error{Field: "objective", Value: s.Objective.Kind, Allowed: "a network has the objective auto"}
	case s.Descent != descent.Config{}:
		return setting.Errorf("descent", "", "it is of fits of parameters, and Network asks for a network, whose settings are in it: leave Descent out")
	case s.Truth != nil:
		return fmt.Errorf("a network is compared with its truth afterwards, by NetworkResult.Rates")
	}
	return nil
}

func checkEstimator(p *Prepared, e estimator.Estimator) error {
	if err := e.Check(p.Model, p.objective, p.Support); err != nil {
		return err
	}
	return cmp.Or(checkKindOfTable(p, e), checkByMoments(p, e), checkStreamed(p, e), e.CheckTable(p.Table))
}

// Allows reports whether an estimator can make this estimate.
func (p *Prepared) Allows(e estimator.Estimator) bool {
	if p.mixed() != nil {
		return e.Name == p.Estimator.Name
	}
	return checkKindOfTable(p, e) == nil && byMoments(e, p.original.Counted) && e.Check(p.Model, p.objective, p.Support) == nil && e.CheckTable(p.Table) == nil
}

// checkKindOfTable refuses an estimator of numbers for ordered categories, and the other way
// round, and one of networks for a fit of parameters.
func checkKindOfTable(p *Prepared, e estimator.Estimator) error {
	switch {
	case p.wide && !e.NeedsOrdinal():
		return setting.Errorf("method", e.Name, "it takes cells for numbers, and columns have levels without an order; take em-latent")
	case p.wide:
	case p.Table.Cuts != nil && !e.OfMatrix():
		return setting.Errorf("method", e.Name, "it takes cells for numbers, and of ordered categories (%s) only intervals are known; take em-latent, or pairwise, or leave Spec.Transform=ordinal out", p.Transform.Describe(p.Table.Names))
	case p.Table.Cuts == nil && e.NeedsOrdinal():
		return setting.Errorf("method", e.Name, "it is for tables with ordered categories, and none are named (Spec.Transform=ordinal); take em-exact")
	case e.NeedsOrdinal():
	case e.OfMatrix() && p.Spec.Network == nil:
		return setting.Errorf("method", e.Name, "it goes by moments of pairs of columns, and is for networks (the command network); take em-exact, or exact")
	}
	return nil
}

// checkSettings refuses numbers that cannot be, and what is not known of a table of this size or
// with these weights. It fills in the defaults of Spec.Inference.
func checkSettings(p *Prepared) error {
	s := &p.Spec
	if err := cmp.Or(s.Steps.Check(), setting.NotNegative(setting.Field{Name: "g_cap", Value: s.Weight.Cap})); err != nil {
		return err
	}
	if s.Network == nil {
		if err := cmp.Or(s.Descent.Check(), checkParameters(p)); err != nil {
			return err
		}
		return checkMemory(p)
	}
	if err := s.Network.Check(p.Estimator); err != nil {
		return err
	}
	if err := cmp.Or(checkInference(p), checkWeights(p)); err != nil {
		return err
	}
	if err := checkMemory(p); err != nil {
		return err
	}
	t := p.original
	if pairs := t.NeverTogether(); len(pairs) > 0 && len(pairs) == t.D*(t.D-1)/2 {
		return fmt.Errorf("%s are never observed in the same row, and no other pair is: the table says nothing of a network; rows that have two values or more are needed", diagnose.PairsText(t, pairs))
	}
	return nil
}

func checkOrdinal(s Spec, t *data.Table, columns []int) error {
	if columns == nil {
		return nil
	}
	var names []string
	for _, j := range columns {
		names = append(names, t.Names[j])
	}
	refused := func(why string) error {
		return setting.Errorf(transform.OrdinalKind, strings.Join(names, ","), "%s", why)
	}
	switch {
	case s.Model.New != nil || s.Model.Kind != DefaultModel:
		return refused("ordered categories are taken for intervals of a normal number, and the model is another: take Spec.Model.Kind gaussian, or leave Spec.Transform=ordinal out, which makes them numbers")
	case s.Missingness != nil:
		return refused("ordered categories go with cells missing at random, and a law of missing cells is known (Spec.Missingness): leave one of the two out")
	case s.Network == nil && s.Inference.Asked():
		return refused("parameters of a latent normal have no standard errors here: leave Spec.Inference out, or take the command network with Spec.Inference bootstrap=N")
	case s.Network == nil && s.Descent != descent.Config{Optimiser: s.Descent.Optimiser}, s.Network == nil && s.Descent.Optimiser != "" && s.Descent.Optimiser != "auto":
		return refused("a latent normal is fitted by stochastic EM, which has neither an optimiser nor its settings: leave Spec.Descent.Optimiser, Spec.Descent.Iterations, Spec.Descent.Tolerance, Spec.Descent.Epochs, Spec.Descent.Rate, Spec.Descent.Validation and Spec.Descent.Patience out")
	}
	for _, j := range columns {
		if s.Domain != nil && s.Domain.BoundedColumn(j) {
			return refused("the latent number of " + t.Names[j] + " has no bounds, and its categories are those of the table: leave the bounds of this column out (Spec.Domain.Lower, Spec.Domain.Upper, Spec.Domain)")
		}
	}
	return nil
}

// A table of counted rows holds the moments of rows (data/moments), not the rows.
const takeTable = "take the table itself in place of its moments"

func checkCounted(t *data.Table, s Spec) error {
	if t.Counted == nil {
		return nil
	}
	switch {
	case s.Model.New != nil || s.Model.Kind != DefaultModel:
		return setting.Errorf("model", s.Model.Kind, "moments of rows tell of the gaussian model only: %s", takeTable)
	case s.Domain.Bounded():
		return setting.Errorf("domain", "", "on a support the loss depends on rows, not on their moments: %s", takeTable)
	case s.Missingness != nil:
		return setting.Errorf("missingness", "", "a law of missing cells is of rows, not of their moments: %s", takeTable)
	case s.Transform.Others == transform.OrdinalKind || slices.Contains(slices.Collect(maps.Values(s.Transform.Columns)), transform.OrdinalKind):
		return setting.Errorf("ordinal", "", "moments are means and products of numbers, and how often each category was seen is not in them: %s", takeTable)
	case len(s.Transform.Columns) > 0 || s.Transform.Others != "":
		return setting.Errorf("transform", "", "moments cannot be transformed: transform the table before its moments are taken, or %s", takeTable)
	case s.KeepUnits:
		return setting.Errorf("keep_units", true, "moments are standardised: %s", takeTable)
	case s.Network == nil && s.Inference.Asked():
		return setting.Errorf("inference", s.Inference.Kind, "errors by the rows need rows: %s", takeTable)
	case s.Network == nil && s.Descent.Validation != nil && *s.Descent.Validation > 0:
		return setting.Errorf("validation", *s.Descent.Validation, "moments have no rows to hold out: %s", takeTable)
	case s.Network == nil && s.Descent.Optimiser == "adam":
		return setting.Errorf("optimiser", "adam", "it goes by batches of rows: leave it out, or %s", takeTable)
	case s.Network == nil:
		return nil
	}
	n, c := s.Network, s.Inference
	switch asks := c.Asked() || n.Select.ByTests(); {
	case n.Select.Resamples():
		return setting.Errorf("select", n.Select.Kind, "it divides the rows, and moments have none to divide: take ebic or fdr, or %s", takeTable)
	case c.Stability > 0:
		return setting.Errorf("stability", c.Stability, "it leaves rows out, and moments have none: %s", takeTable)
	case c.Asked() && (c.Kind == debias.Robust || inference.Kinds[c.Kind].Resamples):
		return setting.Errorf("inference", c.Kind, "it goes by the rows, and moments have none: take Spec.Inference model, or %s", takeTable)
	case asks && t.D > debias.DirectColumns:
		return setting.Errorf("inference", c.Kind, "of more than %d columns it goes by the rows, and moments have none: %s", debias.DirectColumns, takeTable)
	}
	return nil
}

// byMoments reports whether an estimator's loss of a normal model depends on the rows by the
// moments that the table has; always of a table of rows.
func byMoments(e estimator.Estimator, c *data.Counted) bool {
	switch needs := e.Loss.Needs(); {
	case c == nil || e.OfMatrix():
		return true
	case c.Pairs != nil:
		return false
	default:
		return !e.Draws() && (needs.Moments || needs.Normal || e.NeedsCompleteRows())
	}
}

func checkByMoments(p *Prepared, e estimator.Estimator) error {
	c := p.original.Counted
	if byMoments(e, c) {
		if _, classical := p.objective.(losses.Classical); c != nil && !classical {
			return setting.Errorf("objective", p.Spec.Objective.Kind, "with it a loss depends on more of the rows than their moments: take classical, or %s", takeTable)
		}
		return nil
	}
	var names []string
	for _, other := range estimator.All {
		if byMoments(other, c) && checkKindOfTable(p, other) == nil {
			names = append(names, other.Name)
		}
	}
	if c.Pairs != nil {
		return setting.Errorf("method", e.Name, "the file has moments of pairs of columns alone (moments.Options.Pairs), which %s goes by: take it (the command network), or %s", strings.Join(names, ", "), takeTable)
	}
	return setting.Errorf("method", e.Name, "it goes by more of the rows than their moments: take %s, or %s", strings.Join(names, ", "), takeTable)
}

func checkStreamed(p *Prepared, e estimator.Estimator) error {
	s := p.Spec
	switch {
	case p.file == nil:
		return nil
	case e.Source.Memory != nil:
		return notStreamed(fmt.Sprintf("the chains of method %s keep numbers for each missing cell of each row: take em-var, em-full or another method without chains", e.Name))
	case s.Inference.Asked():
		return notStreamed("standard errors go by all rows: leave Spec.Inference out")
	case p.missingness != nil && p.missingness.Estimated:
		return notStreamed("a law of missing cells is estimated from all rows: estimate it from a part of them, and give it by Spec.Missingness FILE")
	}
	for j, f := range p.Transform {
		if f != nil && transform.Kinds[f.Kind()].ByRanks {
			return notStreamed(fmt.Sprintf("%s of %s goes by the ranks of all rows: take log, sqrt or another function, or none", f.Kind(), p.Table.Names[j]))
		}
	}
	return nil
}

func notStreamed(why string) error { return &setting.Error{Field: "stream", Allowed: why} }

// checkWeights refuses networks of weighted rows (docs/theory/weights.md) that need rows to count
// alike.
func checkWeights(p *Prepared) error {
	s := p.Spec
	asks := s.Inference.Asked() && !inference.Kinds[s.Inference.Kind].Resamples || s.Network.Select.ByTests()
	why := ""
	switch {
	case p.original.Weights == nil:
	case p.Support.Bounded():
		why = "a network on a support is chosen by losses of completed rows, which count alike: take the command fit for its parameters"
	case s.Missingness != nil:
		why = "a network with a law of missing cells is chosen by losses of rows, which count alike: take the command fit for its parameters"
	case asks && p.Table.D > debias.DirectColumns:
		why = fmt.Sprintf("standard errors of more than %d columns are of rows that count alike: take Spec.Inference bootstrap=N", debias.DirectColumns)
	}
	if why == "" {
		return nil
	}
	return setting.Errorf("weights", "", "%s, or leave the weights out", why)
}

// checkInference fills in the defaults of Spec.Inference for a network and refuses kinds that do
// not go with the estimator, the support or a known law.
func checkInference(p *Prepared) (err error) {
	c, byTests := &p.Spec.Inference, p.Spec.Network.Select.ByTests()
	if c.Kind == inference.Auto {
		c.Kind, p.NoIntervals = automatic(p)
	}
	if byTests {
		if err := inference.Kinds[testKind(p)].Check(p.Estimator, p.Support); err != nil {
			return setting.Errorf("select", p.Spec.Network.Select.Kind, "pairs are tested by Spec.Inference %s, which method %s lacks: take Spec.Network.Select ebic or Spec.Steps.Method em-exact", testKind(p), p.Estimator.Name)
		}
		if !c.Asked() {
			c.Kind = testKind(p)
		}
	}
	if *c, err = c.Resolve(); err != nil || !c.Asked() {
		return err
	}
	kinds := []string{c.Kind}
	if byTests {
		kinds = append(kinds, testKind(p))
	}
	for _, name := range kinds {
		kind := inference.Kinds[name]
		if p.missingness != nil && kind.NoLaw {
			return setting.Errorf("inference", name, "it is not for tables whose cells are missing by a known law: take Spec.Inference bootstrap=N")
		}
		if err := kind.Check(p.Estimator, p.Support); err != nil {
			return err
		}
	}
	return nil
}

// automaticColumns is the largest number of columns for which inference "auto" gives intervals.
const automaticColumns = 100

// automatic resolves inference "auto"; why says in words why it is none.
func automatic(p *Prepared) (kind, why string) {
	kind = debias.Robust
	if p.original.Counted != nil {
		kind = debias.Model
	}
	switch t := p.Table; {
	case t.D > automaticColumns:
		return inference.None, fmt.Sprintf("they take long for more than %d columns: Spec.Inference %s", automaticColumns, kind)
	case p.missingness != nil || inference.Kinds[kind].Check(p.Estimator, p.Support) != nil:
		return inference.None, fmt.Sprintf("for method %s they come from resamples: Spec.Inference bootstrap=500", p.Estimator.Name)
	case !debias.Enough(t):
		return inference.None, fmt.Sprintf("the table has too few rows for %d columns: Spec.Inference %s gives rough ones", t.D, kind)
	}
	return kind, ""
}

// testKind is the kind of inference whose tests choose edges: the kind that is asked for if it has
// p values, else robust, or model for moments, which have no rows.
func testKind(p *Prepared) string {
	switch c := p.Spec.Inference; {
	case c.Asked() && !inference.Kinds[c.Kind].Resamples:
		return c.Kind
	case p.original.Counted != nil:
		return debias.Model
	}
	return debias.Robust
}

// checkParameters fills in the defaults of Spec.Inference for a fit of parameters and refuses fits
// without standard errors.
func checkParameters(p *Prepared) (err error) {
	c := &p.Spec.Inference
	if !c.Asked() && c.Stability == 0 {
		if *c != (inference.Config{}) {
			*c, err = c.Resolve()
		}
		return err
	}
	if p.Spec.Descent.Penalty.Asked() {
		return setting.Errorf("inference", c.Kind, "its standard errors are of a minimum of the loss alone, and a penalty moves the fit away from it; leave one of the two out")
	}
	if err := sandwich.Check(*c, sandwich.Fit{
		Estimator: p.Estimator, Model: p.Model, Kind: p.Spec.Model.Kind, Objective: p.objective, Table: p.Table,
		Draws: cmp.Or(p.Spec.Steps.Draws, engine.DefaultDraws), Law: p.missingness != nil, KeepUnits: p.Spec.KeepUnits,
	}); err != nil {
		return err
	}
	*c, err = c.Resolve()
	return err
}

// Memory of an estimate, in numbers of 8 bytes, as measured, with the standardised copy and the batches
// (10⁵ rows of 20 columns: 186 MB; 2000 columns along 100 λ: 2.0 GB).
const (
	cellNumbers      = 12 // a cell
	laterCellNumbers = 4  // a cell of rows beyond manyRows, for expectations in closed form
	manyRows         = 100_000
	pairNumbers      = 15 // a pair of columns, for a model with a matrix; and half of one at each λ that is kept
	chainNumbers     = 3  // a number of a chain: itself, in the state, and in the state of the best epoch
	matrixNumbers    = 7  // a pair, for methods of one matrix: with ordered categories or few columns; else see pairmoments.Needed
	filedNumbers     = 4  // a pair, where the matrix came as a file of moments
)

func rowNumbers(p *Prepared) float64 {
	n, d := float64(p.Table.N), float64(p.Table.D)
	switch {
	case p.Estimator.Source.Memory != nil:
		return cellNumbers*n*d + chainNumbers*float64(p.Table.Missing()*cmp.Or(p.Spec.Steps.Draws, engine.DefaultDraws))
	case !p.Estimator.Loss.Needs().NoDraws || p.Table.Cuts != nil:
		return cellNumbers * n * d
	}
	few := math.Min(n, manyRows)
	return (cellNumbers*few + laterCellNumbers*(n-few)) * d
}

func checkMemory(p *Prepared) error {
	t, s := p.Table, p.Spec
	n, d, workers, lambdas := t.N, float64(t.D), max(1, s.Steps.Workers), 0.
	if s.Network != nil {
		lambdas = float64(s.Network.Lambdas)
	}
	_, normal := model.AsNormal(p.Model)
	numbers := rowNumbers(p)
	switch {
	case p.Estimator.OfMatrix() && (t.Cuts != nil || t.D <= regpath.DenseColumns || s.Network == nil):
		numbers += matrixNumbers * d * d
	case p.Estimator.OfMatrix():
		bytes, _ := pairmoments.Needed(n, t.D)
		numbers = bytes / 8
		if c := t.Counted; c != nil && c.Pairs != nil {
			numbers += filedNumbers * d * d
		}
		if s.Network.Select.Resamples() { // moments of each worker's rows and of those held out, and counts of pairs at each λ
			numbers += (2*float64(workers) + lambdas/2) * d * d
		}
	default:
		if p.file != nil { // two windows, with a byte for each mark
			numbers += 9. / 8 * d * math.Min(float64(t.PassRows()), 2*rows.WindowBlocks*float64(p.file.file.BlockRows))
		}
		if normal || s.Network != nil {
			numbers += (pairNumbers + lambdas/2) * d * d
		}
	}
	if again := s.Inference.Resamples + s.Inference.Stability; again > 0 { // a table, a model and a path for each worker; a number and its place for each pair of a network
		numbers *= 1 + float64(min(workers, again))
		numbers += float64(again) * d * (d - 1)
		return memory.Check(8*numbers, "choose columns (ReadOptions.Columns), fewer workers (Spec.Steps.Workers) or resamples", "%d resamples of a network of %d columns from %d rows", again, t.D, n)
	}
	if lambdas > 0 {
		return memory.Check(8*numbers, "choose columns (ReadOptions.Columns), fewer λ (Spec.Network.Lambdas)", "a network of %d columns from %d rows along %v λ", t.D, n, lambdas)
	}
	return memory.Check(8*numbers, "choose columns (ReadOptions.Columns)", "a fit to %d rows of %d columns", t.PassRows(), t.D)
}
