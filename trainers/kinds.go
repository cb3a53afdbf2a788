package trainers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/data/transform"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/trainers/regpath"
)

// takesLevels reports latent numbers by the kinds of columns (docs/theory/ordinal.md#eq-nominal):
// method auto or em-latent, no support or missingness mechanism, up to latentColumns latent
// numbers.
func takesLevels(t *data.Table, s Spec) bool {
	if s.Network == nil || s.Domain.Bounded() || s.Missingness != nil || t.Counted != nil || s.Steps.Method != "auto" && s.Steps.Method != "em-latent" {
		return false
	}
	levels, nominal, columns := false, false, 0
	for j := range t.D {
		columns++
		switch data.KindOf(t, j) {
		case data.Nominal:
			nominal, columns = true, columns+len(t.Levels[j])-2
		case data.Binary, data.Ordered:
			levels = true
		}
	}
	return (levels || nominal) && (!nominal || columns <= latentColumns)
}

// cutColumns adds thresholds for ordered and binary columns; levels without rows are ignored.
func cutColumns(t *data.Table, s transform.Spec) transform.Spec {
	c := transform.Spec{Columns: maps.Clone(s.Columns), Others: s.Others}
	if c.Columns == nil {
		c.Columns = map[string]string{}
	}
	for j, name := range t.Names {
		kind, seen := data.KindOf(t, j), len(levelsSeen(t, j))
		switch _, named := c.Columns[name]; {
		case named:
		case kind == data.Binary, (kind == data.Ordered || kind == data.Nominal) && seen == 2, kind == data.Ordered && seen <= transform.MostCategories:
			c.Columns[name] = transform.OrdinalKind
		case kind == data.Nominal:
			c.Columns[name] = "none"
		}
	}
	return c
}

// levelsSeen returns the observed levels, ascending.
func levelsSeen(t *data.Table, j int) []float64 {
	x := t.Column(j)
	slices.Sort(x)
	return slices.Compact(x)
}

// blocksOf returns K − 1 latent columns for a nominal column with K ≥ 3 observed levels, else 1;
// wide: any block has several.
func blocksOf(t *data.Table, functions transform.Columns) (blocks []data.Block, wide bool) {
	first := 0
	for j, name := range t.Names {
		b := data.Block{Name: name, First: first, Width: 1, Levels: data.Coded(t, j)}
		if data.KindOf(t, j) == data.Nominal {
			seen := levelsSeen(t, j)
			b.Levels = nil
			for _, level := range seen {
				b.Levels = append(b.Levels, t.Levels[j][int(level)])
			}
			if functions == nil || functions[j] == nil {
				b.Width, wide = len(seen)-1, true
			}
		}
		blocks, first = append(blocks, b), first+b.Width
	}
	return blocks, wide
}

// Each column of a nominal block holds the index of the cell's level among the observed levels.
func utilities(t *data.Table, blocks []data.Block) *data.Table {
	last := blocks[len(blocks)-1]
	d := last.First + last.Width
	w := *t
	w.Names, w.D, w.Blocks, w.Kinds, w.Levels = nil, d, blocks, nil, nil
	w.Values, w.Observed, w.Cuts = make([]float64, t.N*d), make([]bool, t.N*d), make([][]float64, d)
	for j, b := range blocks {
		if b.Width == 1 {
			w.Names = append(w.Names, b.Name)
			if t.Cuts != nil {
				w.Cuts[b.First] = t.Cuts[j]
			}
		}
		var seen []float64
		if b.Width > 1 {
			seen = levelsSeen(t, j)
			for _, level := range b.Levels[1:] {
				w.Names = append(w.Names, b.Name+": "+level)
			}
		}
		for i := range t.N {
			if !t.Observed[i*t.D+j] {
				continue
			}
			x := t.Values[i*t.D+j]
			if seen != nil {
				at, _ := slices.BinarySearch(seen, x)
				x = float64(at)
			}
			for k := range b.Width {
				w.Values[i*d+b.First+k], w.Observed[i*d+b.First+k] = x, true
			}
		}
	}
	return &w
}

// unwhitened returns W'PW, block by block.
func unwhitened(p mat.Symmetric, m *pairmoments.Moments, blocks []data.Block) *mat.SymDense {
	d := p.SymmetricDim()
	w := mat.NewDense(d, d, nil)
	for a, b := range blocks {
		for j := range b.Width {
			for k := range b.Width {
				if own := m.Whitening[a]; own != nil {
					w.Set(b.First+j, b.First+k, own[j*b.Width+k])
				} else if j == k {
					w.Set(b.First+j, b.First+k, 1)
				}
			}
		}
	}
	var left, whole mat.Dense
	left.Mul(w.T(), p)
	whole.Mul(&left, w)
	out := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			out.SetSym(j, k, (whole.At(j, k)+whole.At(k, j))/2)
		}
	}
	return out
}

// nodePrecision is in the table's units; nominal columns have strengths
// (regpath.Run.NodePrecision).
func nodePrecision(n *regpath.Run, scale data.Scale) *mat.SymDense {
	p := graph.Unpack(len(n.Nodes()), n.NodePrecision(n.Model().Packed.Value))
	for a, j := range n.Nodes() {
		for b := a; b < len(n.Nodes()); b++ {
			p.SetSym(a, b, p.At(a, b)/scale.Deviation[j]/scale.Deviation[n.Nodes()[b]])
		}
	}
	return p
}

// showLevels adds levels of nodes, and for each edge with a binary or nominal end the levels that
// go together; precision covers all columns of the blocks.
func showLevels(net *network.Network, t *data.Table, precision mat.Symmetric, blocks []data.Block) error {
	at := map[string]int{}
	for j, b := range blocks {
		at[b.Name] = j
	}
	side := func(name string) network.Side {
		b := blocks[at[name]]
		s := network.Side{First: b.First, Width: b.Width}
		if data.KindOf(t, at[name]) != data.Ordered && len(b.Levels) == b.Width+1 { // ordered otherwise
			s.Levels = b.Levels
		}
		return s
	}
	for _, name := range net.Nodes {
		net.Levels = append(net.Levels, side(name).Levels)
	}
	for i := range net.Edges {
		e := &net.Edges[i]
		from, to := side(e.From), side(e.To)
		e.Unsigned = from.Width > 1 || to.Width > 1
		if from.Levels == nil && to.Levels == nil {
			continue
		}
		pairs, err := network.Together(precision, from, to)
		if err != nil {
			return fmt.Errorf("levels of %s and %s: %w", e.From, e.To, err)
		}
		e.Together = pairs
	}
	return nil
}

// levelColumns is the number of columns per kind that LevelsText names.
const levelColumns = 5

// LevelsText describes the latent columns and their treatment by em-exact; "" if there are none.
func (p *Prepared) LevelsText() string {
	if !p.latent {
		return ""
	}
	var words, otherwise []string
	for _, kind := range []data.Kind{data.Binary, data.Ordered, data.Nominal} {
		var names []string
		for j, name := range p.Original.Names {
			of := data.KindOf(p.Original, j)
			if of == data.Nominal && p.blocks[j].Width == 1 { // --ordinal orders its levels
				of = data.Ordered
			}
			if of == kind && (p.blocks[j].Width > 1 || p.Table.Ordinal(j)) {
				names = append(names, name)
			}
		}
		if names == nil {
			continue
		}
		words = append(words, string(kind)+": "+strings.Join(few(names, levelColumns, "%d more"), ", "))
		if kind == data.Nominal {
			otherwise = append(otherwise, "leaves nominal ones out")
		} else if otherwise == nil {
			otherwise = append(otherwise, "treats levels as numbers")
		}
	}
	return fmt.Sprintf("columns with levels are latent normal variables: %s; Spec.Steps.Method em-exact %s", strings.Join(words, "; "), strings.Join(otherwise, " and "))
}
