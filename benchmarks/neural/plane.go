package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/vg"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/trainers/fitted/mcmc"
	"missingscore/graph/model"
	"missingscore/internal/picture"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

// planes draws the truth in the plane and the fits of the first replicate that have a
// log density: normalised on a grid, and rows drawn by Hamiltonian Monte Carlo from the
// complete rows of the table, which are in all modes.
func (s settings) planes(ctx context.Context, name string, names []string, first uint64) error {
	of, err := density(name, first)
	if err != nil {
		return err
	}
	if len(of.Means[0]) != 2 {
		return nil
	}
	truth, err := model.NewMixture(of)
	if err != nil {
		return err
	}
	table, err := s.table(of, first, false)
	if err != nil {
		return err
	}
	if table, err = table.CompleteRows(); err != nil {
		return err
	}
	g := gridAround(of)
	star, err := g.density(truth)
	if err != nil {
		return err
	}
	top := []picture.Plane{{Title: "truth", Density: star}}
	below := []picture.Plane{{Title: "draws", Points: of.Draw(shown, stream.New(first, stream.Simulate, 1))}}
	for _, method := range names {
		saved, err := trainers.LoadModel(s.model(name, method, first, first))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		m := saved.InUnits()
		if has, err := model.HasDensity(m); err != nil || !has {
			continue
		}
		p, err := g.density(m)
		if err != nil {
			return err
		}
		draws, err := mcmc.HMC(ctx, m, nil, table.Values, mcmc.Options{WarmUp: 150, Draws: 50}, stream.New(first, stream.Simulate, 3))
		if err != nil {
			return err
		}
		fmt.Printf("%s, %s: Kullback–Leibler divergence of the truth from the fit %.3g, largest R-hat %.3f\n", name, picture.MethodTitle(method), g.divergence(star, p), draws.WorstRHat())
		top = append(top, picture.Plane{Title: picture.MethodTitle(method), Density: p})
		below = append(below, picture.Plane{Title: "draws", Points: some(draws.Last)})
	}
	fmt.Println()
	p, err := picture.Planes("Densities of the first replicate, and draws", append(top, below...), len(top), g.x, g.y, g.side, floats.Max(star))
	if err != nil {
		return err
	}
	return picture.Save(filepath.Join(s.out, name+"-densities.svg"), p, vg.Length(len(top))*3.2*vg.Centimeter, 9*vg.Centimeter)
}

const shown = 300 // draws

func some(draws []float64) []float64 { return draws[:min(len(draws), 2*shown)] }

// grid is a square with its centre, cut into squares.
type grid struct{ x, y, side float64 }

const cells = 90 // of a grid's side

// gridAround is around a mixture's means and 4 of their deviations.
func gridAround(of data.Mixture) grid {
	var x, y []float64
	for k, mean := range of.Means {
		x = append(x, mean[0]-4*of.Deviations[k][0], mean[0]+4*of.Deviations[k][0])
		y = append(y, mean[1]-4*of.Deviations[k][1], mean[1]+4*of.Deviations[k][1])
	}
	return grid{(floats.Min(x) + floats.Max(x)) / 2, (floats.Min(y) + floats.Max(y)) / 2, max(floats.Max(x)-floats.Min(x), floats.Max(y)-floats.Min(y))}
}

// density is a model's at the midpoints, normalised on the grid.
func (g grid) density(m model.Model) ([]float64, error) {
	p, err := graph.Build(func(b *graph.Builder) {
		b.Output("log density", m.Evaluate(b, b.Input("x", cells*cells, 2)).Density(b))
	})
	if err != nil {
		return nil, err
	}
	step := g.side / cells
	for i := range cells * cells {
		p.Input("x")[2*i] = g.x - g.side/2 + (float64(i%cells)+0.5)*step
		p.Input("x")[2*i+1] = g.y - g.side/2 + (float64(i/cells)+0.5)*step
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

// divergence is Σ p log p/q over the grid: Kullback and Leibler's.
func (g grid) divergence(p, q []float64) (sum float64) {
	for i, v := range p {
		if v > 0 {
			sum += v * math.Log(v/q[i])
		}
	}
	return sum * math.Pow(g.side/cells, 2)
}
