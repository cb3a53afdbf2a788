package path

import (
	"context"
	"fmt"
	"math"

	"missingscore/internal/setting"
	"missingscore/internal/stream"
)

// stars chooses the densest network that is stable under subsampling (Liu, Roeder &
// Wasserman 2010).
type stars struct{ plain }

// DefaultBeta of "stars", as its authors.
const DefaultBeta = 0.05

const (
	starsSamples = 20 // as huge and pulsar
	betaMust     = "the largest instability must be a number between 0 and 0.5"
)

func (stars) name() string { return "stars" }

func (stars) form() string { return "stars[=BETA] (stability under subsampling)" }

func (stars) parse(value string) (s Selection, err error) {
	s.Kind = "stars"
	if value != "" {
		s.Beta, err = number(value, betaMust)
	}
	return s, err
}

func (stars) resolve(s Selection, _ int) (Selection, error) {
	if setting.Default(&s.Beta, DefaultBeta); !(s.Beta > 0 && s.Beta < 0.5) {
		return s, setting.Errorf("select", fmt.Sprintf("stars=%v", s.Beta), betaMust)
	}
	return s, nil
}

func (stars) describe(s Selection, _, _ bool) string {
	return fmt.Sprintf("StARS: the densest network with an instability of at most %g over subsamples", s.Beta)
}

// parts are subsamples of size 10√n, or 0.8 n for n ≤ 144, as its authors recommend.
func (stars) parts(_ Selection, rows int, seed uint64) (parts []rowPart) {
	size := int(10 * math.Sqrt(float64(rows)))
	if rows <= 144 {
		size = int(0.8 * float64(rows))
	}
	for k := range starsSamples {
		parts = append(parts, rowPart{fit: stream.New(seed, stream.Replicate, uint64(k)).Perm(rows)[:size]})
	}
	return sorted(parts)
}

func (stars) choose(_ context.Context, r *Run) (c choice, err error) {
	c.scores = r.State.Resampled.instability(r.candidates())[:len(r.State.Points)]
	for i, ok := range r.choosable() {
		if ok && c.scores[i] <= r.Config.Select.Beta {
			c.point = i
		}
	}
	return c, nil
}

// instability is StARS's D̄ at each λ: the mean over so many pairs of 2θ(1−θ), θ the share
// of parts with the edge, of those that have a result, made monotone from the largest λ down. It is +Inf where a
// part's path has ended.
func (f *Resampled) instability(of int) []float64 {
	scores := make([]float64, len(f.Counts))
	n, top, ends := float64(len(f.Done)-f.failed()), 0.0, math.MaxInt
	for k, points := range f.Points {
		if f.Failed[k] == "" {
			ends = min(ends, points)
		}
	}
	for l, pairs := range f.Counts {
		sum := 0.0
		for _, c := range pairs {
			theta := float64(c) / n
			sum += 2 * theta * (1 - theta)
		}
		top = max(top, sum/float64(of))
		if scores[l] = top; l >= ends {
			scores[l] = math.Inf(1)
		}
	}
	return scores
}
