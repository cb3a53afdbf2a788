package optim

import (
	"slices"
	"sync/atomic"

	"missingscore/internal/panics"
)

// Tournament orders pairs of columns for parallel coordinate descent: no column is in two matches
// of a round. Results do not depend on workers if the derivative by P_jk depends on rows j and k of
// P only.
type Tournament struct {
	Columns int
	blocks  int
	rounds  [][]int // indices of matches
	first   []int   // match m has pairs first[m] to first[m+1] − 1
}

const (
	blockColumns = 64 // minimum per block
	mostBlocks   = 32
)

// NewTournament makes the rounds; a small matrix is one block, visited in order.
func NewTournament(columns int) *Tournament {
	t := &Tournament{Columns: columns, blocks: 1, rounds: [][]int{{0}}}
	if half := min(columns/blockColumns, mostBlocks) / 2; half > 1 {
		t.blocks = 2 * half
		t.rounds = t.circle()
	}
	return t
}

// circle uses the circle method: the last block stays and the others rotate.
func (t *Tournament) circle() (rounds [][]int) {
	n := t.blocks
	alone := make([]int, n)
	for b := range n {
		alone[b] = t.match(b, b)
	}
	rounds = append(rounds, alone)
	for turn := range n - 1 {
		round := []int{t.match(turn, n-1)}
		for i := 1; i < n/2; i++ {
			round = append(round, t.match((turn+i)%(n-1), (turn-i+n-1)%(n-1)))
		}
		rounds = append(rounds, round)
	}
	return rounds
}

func (t *Tournament) match(a, b int) int { return min(a, b)*t.blocks + max(a, b) }

func (t *Tournament) of(j, k int) int {
	return t.match(j*t.blocks/t.Columns, k*t.blocks/t.Columns)
}

// Draw sorts pairs stably by match.
func Draw[P any](t *Tournament, pairs []P, columns func(P) (j, k int)) {
	if t.first = append(t.first[:0], make([]int, t.blocks*t.blocks+1)...); t.blocks == 1 {
		t.first[1] = len(pairs)
		return
	}
	for _, p := range pairs {
		t.first[t.of(columns(p))+1]++
	}
	for m := range t.blocks * t.blocks {
		t.first[m+1] += t.first[m]
	}
	next, drawn := slices.Clone(t.first), make([]P, len(pairs))
	for _, p := range pairs {
		m := t.of(columns(p))
		drawn[next[m]] = p
		next[m]++
	}
	copy(pairs, drawn)
}

// Play visits the pairs match by match and returns the largest result, NaN if one is NaN. Results
// must not be negative.
func (t *Tournament) Play(workers int, visit func(from, to int) float64) (most float64) {
	for _, round := range t.rounds {
		most = max(most, t.play(round, min(workers, len(round)), visit))
	}
	return most
}

func (t *Tournament) play(round []int, workers int, visit func(from, to int) float64) (most float64) {
	if workers <= 1 {
		for _, m := range round {
			most = max(most, t.meet(m, visit))
		}
		return most
	}
	var next atomic.Int64
	all := panics.NewGroup()
	found := make([]float64, workers)
	for w := range workers {
		all.Go(func() error {
			for i := int(next.Add(1)) - 1; i < len(round); i = int(next.Add(1)) - 1 {
				found[w] = max(found[w], t.meet(round[i], visit))
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		panic(err)
	}
	return slices.Max(found)
}

func (t *Tournament) meet(match int, visit func(from, to int) float64) float64 {
	if t.first[match] == t.first[match+1] {
		return 0
	}
	return visit(t.first[match], t.first[match+1])
}
