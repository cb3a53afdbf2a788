package fitted

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"missingscore/data"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
)

// MatchConfig says how imputed values are made observed ones.
type MatchConfig struct {
	Donors  int // that one is drawn from; 5
	Seed    uint64
	Workers int                   // draws of the table at once; 1. Results do not depend on it.
	Observe func(done, total int) // called when a draw of the table is done, if set
}

// errNoMatch says why observed values cannot stand for missing ones.
var errNoMatch = errors.New("the model knows that cells are missing because of what they hold, so observed values cannot stand for them: leave predictive-mean matching out")

// Match replaces the missing cells of completed rows, as Impute gives them, by observed
// values of their columns: predictive-mean matching (docs/theory/sampling.md#eq-matching).
// From each joint draw it goes through the columns. A row that lacks column j takes the value
// of one of the c.Donors rows, drawn at random, that have it and whose E[x_j | x_−j] is nearest
// to the row's own, the other cells being as they are completed at that time. Values outside
// the model's domain are no donors; where none is left, the model's draw stays.
//
// The predictions are by the model's parameters as they are, without a draw of them: type 0
// of van Buuren, "Flexible Imputation of Missing Data" (2nd edition 2018, section 3.4.2).
// It gives how many cells kept the model's draw.
func Match(ctx context.Context, f *Model, t *data.Table, r *Imputed, c MatchConfig) (kept int, err error) {
	setting.Default(&c.Donors, 5)
	setting.Default(&c.Workers, 1)
	if c.Donors < 1 || c.Workers < 1 {
		return 0, fmt.Errorf("%d donors, %d workers: both must be positive", c.Donors, c.Workers)
	}
	if f.Missingness != nil {
		return 0, errNoMatch
	}
	if f.ordinal() {
		return 0, errLatentMatch
	}
	m := &matching{model: f, table: t, result: r, config: c}
	if _, err := f.predictor(t.N); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for range min(c.Workers, r.Draws) {
		group.Go(func() {
			if err := panics.Caught(func() error { return m.work(ctx) }); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return int(m.kept.Load()), nil
}

// matching gives out the draws of a table to parallel workers.
type matching struct {
	model  *Model
	table  *data.Table
	result *Imputed
	config MatchConfig

	next, kept atomic.Int64
	lock       sync.Mutex // of done and config.Observe
	done       int
}

func (m *matching) work(ctx context.Context) error {
	p, err := m.model.predictor(m.table.N)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		k := int(m.next.Add(1) - 1)
		if k >= m.result.Draws {
			return nil
		}
		if err := m.draw(ctx, p, k); err != nil {
			return err
		}
		m.lock.Lock()
		if m.done++; m.config.Observe != nil {
			m.config.Observe(m.done, m.result.Draws)
		}
		m.lock.Unlock()
	}
	return nil
}

// draw matches draw k of the table, column by column.
func (m *matching) draw(ctx context.Context, p predictor, k int) error {
	t := m.table
	x := &data.Table{Names: t.Names, N: t.N, D: t.D, Observed: slices.Repeat([]bool{true}, len(t.Values))}
	for i := range t.N {
		x.Values = append(x.Values, m.result.row(i, k, t.D)...)
	}
	x, err := m.model.Transform.Table(x)
	if err != nil {
		return err
	}
	z := m.model.standardised(x).Values
	rng := stream.New(m.config.Seed, stream.Sample, uint64(k), 1)
	for j := range t.D {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.column(p, j, k, z, rng); err != nil {
			return err
		}
	}
	return nil
}

// row is draw k of row i.
func (r *Imputed) row(i, k, d int) []float64 {
	at := (i*r.Draws + k) * d
	return r.Values[at : at+d]
}

// donor is a row with a value, in the order of predictions.
type donor struct {
	row       int
	predicted float64
}

// column matches column j of draw k; z are the completed rows in the units of the model.
func (m *matching) column(p predictor, j, k int, z []float64, rng *rand.Rand) error {
	t := m.table
	var donors []donor
	for i := range t.N {
		if t.Observed[i*t.D+j] {
			donors = append(donors, donor{row: i})
		}
	}
	if len(donors) == t.N || len(donors) == 0 {
		m.kept.Add(int64(t.N - len(donors)))
		return nil
	}
	expected, err := p.expect(z, j)
	if err != nil {
		return err
	}
	for a := range donors {
		donors[a].predicted = expected[donors[a].row]
	}
	rng.Shuffle(len(donors), func(a, b int) { donors[a], donors[b] = donors[b], donors[a] }) // equal predictions in random order
	slices.SortStableFunc(donors, func(a, b donor) int { return cmp.Compare(a.predicted, b.predicted) })
	inside := m.model.allowed(t)
	for i := range t.N {
		if t.Observed[i*t.D+j] {
			continue
		}
		row := m.result.row(i, k, t.D)
		was := row[j]
		near := nearest(donors, expected[i], m.config.Donors, func(from int) bool {
			row[j] = t.Values[from*t.D+j]
			return inside.contains(i, row)
		})
		if row[j] = was; len(near) == 0 {
			m.kept.Add(1)
			continue
		}
		from := near[rng.IntN(len(near))]
		row[j] = t.Values[from*t.D+j]
		z[i*t.D+j] = z[from*t.D+j]
	}
	return nil
}

// nearest are the rows of up to k donors that are nearest to a prediction, of those that may be.
func nearest(donors []donor, predicted float64, k int, mayBe func(row int) bool) (rows []int) {
	high := sort.Search(len(donors), func(a int) bool { return donors[a].predicted >= predicted })
	low := high - 1
	for len(rows) < k && (low >= 0 || high < len(donors)) {
		var d donor
		if high == len(donors) || low >= 0 && predicted-donors[low].predicted <= math.Abs(donors[high].predicted-predicted) {
			d, low = donors[low], low-1
		} else {
			d, high = donors[high], high+1
		}
		if mayBe(d.row) {
			rows = append(rows, d.row)
		}
	}
	return rows
}
