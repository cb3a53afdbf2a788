package report

import (
	"math"

	"missingscore/cmd/picture"
	"missingscore/data/network"
)

// explore is the explorer of a comparison: pairs that are an edge in one of the networks or may
// differ, the most certain differences first, up to mostPairs.
func (c Comparison) explore(s *picture.Scene) *explorer {
	names := c.Groups[0].Result.Network.Names
	x := newExplorer(names, s, c.Groups[0].Title, c.Groups[1].Title)
	x.Compare, x.File, x.Level = true, "networks", math.Round(1000*c.Result.Config.Level)/10
	for _, d := range c.Ranked() {
		if len(x.From) == mostPairs {
			x.Left += " Not all pairs are here; differences.csv has all."
			break
		}
		if d.Weights[0] == 0 && d.Weights[1] == 0 && !(certain(d) <= x.Rates()[0]) {
			continue
		}
		u := network.Unknown(0)
		u.Estimate, u.Low, u.High, u.P, u.Q = d.Value, d.Low, d.High, d.P, certain(d)
		if e := d.Estimates; e != nil && e.Q == u.Q && e.Q < d.Q { // the more certain of the two
			u.Estimate, u.Low, u.High, u.P = e.Value, e.Low, e.High, e.P
		}
		j, k := x.names[d.From], x.names[d.To]
		x.add(min(j, k), max(j, k), &u, d.Weights[0], d.Weights[1])
	}
	x.finish()
	return x
}
