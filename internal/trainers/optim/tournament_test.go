package optim

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/panics"
)

func TestTournament(t *testing.T) {
	for _, d := range []int{1, 5, 255, 256, 300, 1000, 2100} {
		tour := NewTournament(d)
		require.Equal(t, d < 4*blockColumns, tour.blocks == 1)
		var pairs [][2]int
		for j := range d {
			for k := j + 1; k < d; k += 1 + d/100 {
				pairs = append(pairs, [2]int{j, k})
			}
		}
		had := map[[2]int]int{}
		for i, p := range pairs {
			had[p] = i
		}
		Draw(tour, pairs, func(p [2]int) (int, int) { return p[0], p[1] })
		largest := 0
		for m := range tour.blocks * tour.blocks {
			largest = max(largest, tour.first[m+1]-tour.first[m])
		}
		require.LessOrEqual(t, largest*tour.blocks*(tour.blocks+1)/2, 3*len(pairs), "%d columns: workers have alike much to do", d)
		visited := 0
		for r, round := range tour.rounds {
			in := map[int]int{}
			for m, match := range round {
				last := -1
				for _, p := range pairs[tour.first[match]:tour.first[match+1]] {
					require.Greater(t, had[p], last)
					last = had[p]
					for _, column := range p {
						other, ok := in[column]
						require.True(t, !ok || other == m, "%d columns, round %d: column %d", d, r, column)
						in[column] = m
					}
					visited++
				}
			}
		}
		require.Equal(t, len(had), visited)
		require.Len(t, pairs, visited)
	}
}

// Each pair once, by any number of workers; a panic comes back.
func TestPlay(t *testing.T) {
	tour := NewTournament(520)
	var pairs [][2]int
	for j := range 520 {
		for k := j + 1; k < 520; k++ {
			pairs = append(pairs, [2]int{j, k})
		}
	}
	Draw(tour, pairs, func(p [2]int) (int, int) { return p[0], p[1] })
	for _, workers := range []int{0, 1, 3, 100} {
		times := make([]int, len(pairs))
		require.EqualValues(t, len(pairs), tour.Play(workers, func(from, to int) float64 {
			for i := from; i < to; i++ {
				times[i]++
			}
			return float64(to)
		}))
		require.Equal(t, slices.Repeat([]int{1}, len(pairs)), times)
		fault := errors.New("a fault")
		err := panics.Caught(func() error { tour.Play(workers, func(int, int) float64 { panic(fault) }); return nil })
		require.Equal(t, fault, err.(*panics.Error).Value)
	}
}
