package bootstrap

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/trainers/inference"
)

// Dropped shares of rows, evenly from caseMin to caseMax, as in bootnet.
const (
	leastDropped = 0.05
	mostDropped  = 0.75
	droppedTimes = inference.LeastStability
)

// A statistic is stable at a dropped share if its correlation with the whole table's exceeds
// WantedCorrelation with probability wantedShare.
const (
	WantedCorrelation = 0.7
	wantedShare       = 0.95
)

// least is the number of subsamples per share from which 95 % of them is not all.
const least = 20

const (
	strength   = "strength"    // of each column, the sum of absolute partial correlations
	edgeWeight = "edge weight" // of each pair, the partial correlation
)

// Stability compares networks of subsamples with the network of the whole table
// (docs/theory/resampling.md#eq-case-dropping).
type Stability struct {
	Levels      []Level // by statistic and dropped share
	Coefficient map[string]float64
	Warnings    []string
}

// Level is a statistic at a dropped share. A correlation is 0 if a network failed or a statistic is
// constant.
type Level struct {
	Statistic     string
	Dropped       float64 // share of the rows
	Rows          int     // remaining rows
	Fits, Failed  int     // number of subsamples; Failed of them without a result
	Mean, Low, Up float64 // of the correlations: mean, quantiles 0.05 and 0.95
	Share         float64 // share of correlations above 0.7
}

const subsampleUnit = "subsample"

func dropped(i int) float64 {
	return leastDropped + (mostDropped-leastDropped)*float64(i%droppedTimes)/(droppedTimes-1)
}

func left(n int, share float64) int { return int(math.Round((1 - share) * float64(n))) }

// CaseDropping compares strengths and edge weights of subsamples with the whole table's. For a
// shard it runs the estimates and returns nil.
func CaseDropping(ctx context.Context, p inference.Problem) (*Stability, error) {
	n := p.Path.Table.N
	err := fits{
		name: "stability", unit: subsampleUnit, purpose: drawnSubsamples, number: p.Config.Stability, made: &p.State.Subsamples,
		rows: func(i int, rng *rand.Rand) []int {
			rows := rng.Perm(n)[:left(n, dropped(i))]
			slices.Sort(rows)
			return rows
		},
	}.make(ctx, p)
	if err != nil || p.Shard.N > 0 {
		return nil, err
	}
	return compare(inference.FitOf(p.Path), p.State.Subsamples, n, len(p.Path.Nodes())), nil
}

// interpretable is the least coefficient for an interpretation (Epskamp, Borsboom & Fried 2018).
const interpretable = 0.25

func compare(whole inference.Fit, made []inference.Fit, n, d int) *Stability {
	s := &Stability{Coefficient: map[string]float64{}}
	if _, told := failures(subsampleUnit, made); told != "" {
		s.Warnings = append(s.Warnings, told+"; they count as not correlated")
	}
	if n := len(made) / droppedTimes; n < least {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d subsamples at each share of rows give rough stability coefficients: ask for %d or more", n, least*droppedTimes))
	}
	for _, statistic := range []string{strength, edgeWeight} {
		of := func(f inference.Fit) []float64 { return f.Weights(d * (d - 1) / 2) }
		if statistic == strength {
			of = func(f inference.Fit) []float64 { return f.Strengths(d) }
		}
		s.Coefficient[statistic] = 0
		for k := range droppedTimes {
			l := Level{Statistic: statistic, Dropped: dropped(k), Rows: left(n, dropped(k))}
			var r []float64
			for i := k; i < len(made); i += droppedTimes {
				if l.Fits++; made[i].Failed != "" {
					l.Failed++
					r = append(r, 0)
					continue
				}
				r = append(r, correlation(of(whole), of(made[i])))
			}
			l.tell(r)
			if s.Levels = append(s.Levels, l); l.Share >= wantedShare {
				s.Coefficient[statistic] = l.Dropped
			}
		}
	}
	if s.Coefficient[strength] < interpretable {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the strengths' stability coefficient is %.2f, below %g: do not interpret the order of the nodes", s.Coefficient[strength], interpretable))
	}
	return s
}

func (l *Level) tell(r []float64) {
	above := 0
	for _, v := range r {
		if v > WantedCorrelation {
			above++
		}
	}
	slices.Sort(r)
	l.Mean, l.Low, l.Up = stat.Mean(r, nil), quantile(r, 1-wantedShare), quantile(r, wantedShare)
	l.Share = float64(above) / float64(len(r))
}

func correlation(x, y []float64) float64 {
	if len(x) < 2 || slices.Min(x) == slices.Max(x) || slices.Min(y) == slices.Max(y) {
		return 0
	}
	return stat.Correlation(x, y, nil)
}

func (s *Stability) Sentence() string {
	return fmt.Sprintf("correlation stability: %.2f of the rows can be dropped for strength, %.2f for edge weights, with correlations above 0.7 in 95 %% of subsamples. At least 0.25 is required, 0.5 is recommended (Epskamp, Borsboom & Fried 2018)",
		s.Coefficient[strength], s.Coefficient[edgeWeight])
}

// Write writes stability.csv: a line per statistic and share.
func (s *Stability) Write(w io.Writer) error {
	lines := [][]string{{"statistic", "dropped", "rows", "networks", "failed", "correlation", "low", "high", "share_above"}}
	for _, l := range s.Levels {
		lines = append(lines, []string{l.Statistic, data.FormatNumber(l.Dropped), strconv.Itoa(l.Rows), strconv.Itoa(l.Fits), strconv.Itoa(l.Failed),
			data.FormatNumber(l.Mean), data.FormatNumber(l.Low), data.FormatNumber(l.Up), data.FormatNumber(l.Share)})
	}
	return csv.NewWriter(w).WriteAll(lines)
}
