package trainers

import (
	"cmp"
	"math"

	"missingscore/graph/model"
	"missingscore/internal/memory"
	"missingscore/losses/pairwise"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
	"missingscore/trainers/rows"
)

// What an estimate takes, in numbers of 8 bytes, as measured: 12 for each cell of the table,
// its standardised copy and the batches included (10⁵ rows of 20 columns: 186 MB), and about
// 15 for each pair of columns of a model with a matrix (2000 columns along 100 λ: 2.0 GB),
// and half of one for each of them at each λ that is kept. What rubbish there is, and the tests
// of a table, do not grow any more from 10⁵ rows on: methods that take expectations in closed
// form need 4 for each cell of later rows (10⁶ rows of 20 columns with 5 % missing: 0.57 GB,
// and 0.40 GB where columns are standardised in place).
const (
	cellNumbers      = 12
	laterCellNumbers = 4
	manyRows         = 100_000
	pairNumbers      = 15

	chainNumbers = 3 // for each number that a chain is at: itself, in the state, and in that of the best epoch

	// In place of those of pairs, of methods that know a table by one matrix: of ordered
	// categories, and of few columns; else see pairwise.Needed.
	matrixNumbers = 7
	// And where the matrix came as a file of moments: sums and numbers of rows, and what is counted by them.
	filedNumbers = 4
)

// tableNumbers are those that the rows take.
func (p *Prepared) tableNumbers() float64 {
	n, d := float64(p.Table.N), float64(p.Table.D)
	if p.Estimator.Source.Memory != nil {
		return cellNumbers*n*d + chainNumbers*float64(p.Table.Missing()*cmp.Or(p.Spec.Steps.Draws, engine.DefaultDraws))
	}
	if !p.Estimator.Loss.Needs().NoDraws || p.Table.Cuts != nil {
		return cellNumbers * n * d
	}
	few := math.Min(n, manyRows)
	return (cellNumbers*few + laterCellNumbers*(n-few)) * d
}

// matrixNumbers are those of a method that knows the table by one matrix, along so many λ.
func (p *Prepared) matrixNumbers(lambdas float64) float64 {
	d := float64(p.Table.D)
	if p.Table.Cuts != nil || p.Table.D <= regpath.DenseColumns || p.Spec.Network == nil {
		return p.tableNumbers() + matrixNumbers*d*d
	}
	bytes, _ := pairwise.Needed(p.Table.N, p.Table.D)
	numbers := bytes / 8
	if c := p.Table.Counted; c != nil && c.Pairs != nil {
		numbers += filedNumbers * d * d
	}
	if p.Spec.Network.Select.Resamples() { // moments of each worker's rows and of those held out, and counts of pairs at each λ
		numbers += (2*float64(max(1, p.Spec.Steps.Workers)) + lambdas/2) * d * d
	}
	return numbers
}

// checkMemory refuses an estimate that needs more memory than there is, before it is made.
func (p *Prepared) checkMemory() error {
	d := float64(p.Table.D)
	lambdas := 0.
	if c := p.Spec.Network; c != nil {
		lambdas = float64(c.Lambdas)
	}
	numbers := p.tableNumbers()
	if p.file != nil { // of a file, the sample; and two windows, a byte for each of their marks
		numbers += 9. / 8 * d * math.Min(float64(p.Table.PassRows()), 2*rows.WindowBlocks*float64(p.file.file.BlockRows))
	}
	if _, normal := model.AsNormal(p.Model); normal || p.Spec.Network != nil {
		numbers += (pairNumbers + lambdas/2) * d * d
	}
	if p.Estimator.OfMatrix() {
		numbers = p.matrixNumbers(lambdas)
	}
	if c := p.Spec.Inference; c.Resamples+c.Stability > 0 { // a table, a model and a path for each worker; a number and its place for each pair of a network
		numbers *= 1 + float64(min(max(1, p.Spec.Steps.Workers), c.Resamples+c.Stability))
		numbers += float64(c.Resamples+c.Stability) * d * (d - 1)
		return memory.Check(8*numbers, "choose columns (--columns), fewer workers (--workers) or resamples", "%d resamples of a network of %d columns from %d rows", c.Resamples+c.Stability, p.Table.D, p.Table.N)
	}
	if lambdas > 0 {
		return memory.Check(8*numbers, "choose columns (--columns), fewer λ (--lambdas)", "a network of %d columns from %d rows along %v λ", p.Table.D, p.Table.N, lambdas)
	}
	return memory.Check(8*numbers, "choose columns (--columns)", "a fit to %d rows of %d columns", p.Table.PassRows(), p.Table.D)
}
