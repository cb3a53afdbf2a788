package neural

import (
	"missingscore/benchmarks/figures"
	"missingscore/data/simulate"
	"missingscore/graph/model"

	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/trainers/mcmc"
)

// plane shows a fit of the first replicate in the plane: the Kullback–Leibler divergence
// of the truth from it, the largest R-hat of rows drawn by Hamiltonian Monte Carlo from
// the complete rows of the table, which are in all modes, its density normalised on a
// square, and the rows.
func (s settings) plane(ctx context.Context, d density, of simulate.Mixture, truth, m model.Model) ([]string, error) {
	table, err := s.table(d, of, 1, false)
	if err != nil {
		return nil, err
	}
	if table, err = table.CompleteRows(); err != nil {
		return nil, err
	}
	g := squareAround(of)
	want, err := g.density(truth)
	if err != nil {
		return nil, err
	}
	got, err := g.density(m)
	if err != nil {
		return nil, err
	}
	draws, err := mcmc.HMC(ctx, m, nil, table.Values, mcmc.Options{WarmUp: 150, Draws: 50}, stream.New(1, stream.Simulate, 3))
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%.3g", g.divergence(want, got)), fmt.Sprintf("%.3f", draws.WorstRHat()),
		shades(got, floats.Max(want)), figures.FormatPoints(draws.Last[:min(len(draws.Last), 2*shownDraws)])}, nil
}

const (
	shownDraws = 300
	shadesOf   = 255 // the truth's largest density
)

// shades writes a density in parts of the largest that is told apart.
func shades(density []float64, most float64) string {
	var out []string
	for _, v := range density {
		out = append(out, strconv.Itoa(int(math.Round(shadesOf*min(v/most, 1)))))
	}
	return strings.Join(out, " ")
}

// readShades reads them as a density.
func readShades(text string, most float64) (density []float64, err error) {
	for _, shade := range strings.Fields(text) {
		v, err := strconv.Atoi(shade)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", planeColumn, err)
		}
		density = append(density, most*float64(v)/shadesOf)
	}
	return density, nil
}

// square is one with its centre, cut into squares.
type square struct{ x, y, side float64 }

const perSide = 90 // small squares of a side

// squareAround is around a mixture's means and 4 of their deviations.
func squareAround(of simulate.Mixture) square {
	var x, y []float64
	for k, mean := range of.Means {
		x = append(x, mean[0]-4*of.Deviations[k][0], mean[0]+4*of.Deviations[k][0])
		y = append(y, mean[1]-4*of.Deviations[k][1], mean[1]+4*of.Deviations[k][1])
	}
	return square{(floats.Min(x) + floats.Max(x)) / 2, (floats.Min(y) + floats.Max(y)) / 2, max(floats.Max(x)-floats.Min(x), floats.Max(y)-floats.Min(y))}
}

// density is a model's at the midpoints, normalised on the square.
func (g square) density(m model.Model) ([]float64, error) {
	p, err := graph.Build(func(b *graph.Builder) {
		b.Output("log density", m.Evaluate(b, b.Input("x", perSide*perSide, 2)).NeedLogDensity(b))
	})
	if err != nil {
		return nil, err
	}
	step := g.side / perSide
	for i := range perSide * perSide {
		p.Input("x")[2*i] = g.x - g.side/2 + (float64(i%perSide)+0.5)*step
		p.Input("x")[2*i+1] = g.y - g.side/2 + (float64(i/perSide)+0.5)*step
	}
	if err := p.Run(); err != nil {
		return nil, err
	}
	out := slices.Clone(p.Output("log density"))
	total := floats.LogSumExp(out) + 2*math.Log(step)
	for i := range out {
		out[i] = math.Exp(out[i] - total)
	}
	return out, nil
}

// divergence is Σ p log p/q over the square: Kullback and Leibler's.
func (g square) divergence(p, q []float64) (sum float64) {
	for i, v := range p {
		if v > 0 {
			sum += v * math.Log(v/q[i])
		}
	}
	return sum * math.Pow(g.side/perSide, 2)
}
