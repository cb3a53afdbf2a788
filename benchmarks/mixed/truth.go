package mixed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// design says how a table is simulated.
type design struct {
	Truth   string `json:"truth"` // latent or pairwise
	Graph   string `json:"graph"` // chain, random (as many edges as columns) or hub
	Columns int    `json:"columns"`
	Rows    int    `json:"rows"`
}

func (d design) String() string {
	return fmt.Sprintf("%s %s, %d × %d", d.Truth, d.Graph, d.Rows, d.Columns)
}

// truths draw n rows of columns of the kinds given, joined by the signed network a.
var truths = map[string]func(a *mat.SymDense, of []int, n int, rng *rand.Rand) ([]float64, error){
	"latent": latent, "pairwise": pairwise,
}

// The simulated columns are of these numbers of levels in turn, in random order: 1 of a number, 2 of
// a binary column, −5 of an ordered one with five levels, 3 and 5 of nominal ones.
var turn = []int{1, 2, -5, 3, 5}

// strength is the largest partial correlation of an edge, unless the network needs less.
const strength = 0.4

// simulate draws a complete table and the network behind it.
func (d design) simulate(seed uint64) (network.Adjacency, *data.Table, error) {
	rng := stream.New(seed, stream.Simulate)
	g, err := simulate.Graph(d.Graph, d.Columns, d.Columns, 0.01, rng)
	if err != nil {
		return network.Adjacency{}, nil, err
	}
	a := mat.NewSymDense(d.Columns, nil) // ±1 where two columns are joined
	for j := range d.Columns {
		for k := range j {
			a.SetSym(j, k, math.Round(g.Precision.At(j, k)/0.01))
		}
	}
	of := make([]int, d.Columns)
	for at, j := range rng.Perm(d.Columns) {
		of[j] = turn[at%len(turn)]
	}
	values, err := truths[d.Truth](a, of, d.Rows, rng)
	if err != nil {
		return network.Adjacency{}, nil, err
	}
	t, err := data.NewTable(names(d.Columns), values, nil)
	if err != nil {
		return network.Adjacency{}, nil, err
	}
	for _, k := range of {
		kind, levels := data.Nominal, []string{"a", "b", "c", "d", "e"}
		switch k {
		case 1:
			kind, levels = data.Number, nil
		case 2:
			kind, levels = data.Binary, []string{"no", "yes"}
		case -5:
			kind, levels = data.Ordered, []string{"1", "2", "3", "4", "5"}
		default:
			levels = levels[:k]
		}
		t.Kinds, t.Levels = append(t.Kinds, kind), append(t.Levels, levels)
	}
	return network.Threshold(a, 0.5), t, nil
}

func names(d int) (names []string) {
	for j := range d {
		names = append(names, fmt.Sprintf("x%d", j+1))
	}
	return names
}

// bound is w ≤ most such that the smallest eigenvalue of I + w b is at least 0.15.
func bound(b *mat.SymDense, most float64) (float64, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(b, false) {
		return 0, fmt.Errorf("the eigenvalues of a network did not converge")
	}
	return min(most, 0.85/math.Abs(eigen.Values(nil)[0])), nil
}

// latent draws a multivariate normal z with precision I + w B and cuts it to levels. Column j has a
// block of z: one number, or K − 1 of a nominal column. The block B_jk of joined columns is random
// with largest singular value 1, so their largest canonical partial correlation is w ≤ 0.4.
// A binary and an ordered column are z in intervals. A nominal column has the utilities
// u = m + L z, L Lᵀ = I + 11ᵀ, u_0 = 0, as if each level had a utility of variance 1 of its own, and
// shows the level with the largest.
func latent(a *mat.SymDense, of []int, n int, rng *rand.Rand) ([]float64, error) {
	first, wide := make([]int, len(of)), 0
	for j := range of {
		first[j] = wide
		wide += width(of[j])
	}
	b := mat.NewSymDense(wide, nil)
	for j := range of {
		for k := j + 1; k < len(of); k++ {
			if a.At(j, k) != 0 {
				join(b, first[j], first[k], width(of[j]), width(of[k]), rng)
			}
		}
	}
	w, err := bound(b, strength)
	if err != nil {
		return nil, err
	}
	p := mat.NewSymDense(wide, nil)
	p.ScaleSym(w, b)
	for j := range wide {
		p.SetSym(j, j, 1)
	}
	normal, ok := distmv.NewNormalPrecision(make([]float64, wide), p, rng)
	if !ok {
		return nil, fmt.Errorf("the precision of a network is not positive definite")
	}
	var sigma mat.SymDense
	normal.CovarianceMatrix(&sigma)
	cuts := make([][]float64, len(of))
	for j, k := range of {
		cuts[j] = cut(k, math.Sqrt(sigma.At(first[j], first[j])), rng)
	}
	values := make([]float64, 0, n*len(of))
	z := make([]float64, wide)
	for range n {
		normal.Rand(z)
		for j, k := range of {
			mine := z[first[j] : first[j]+width(k)]
			switch {
			case k == 1:
				values = append(values, mine[0])
			case k <= 2:
				values = append(values, float64(sort.SearchFloat64s(cuts[j], mine[0])))
			default:
				values = append(values, float64(chosen(mine, cuts[j])))
			}
		}
	}
	return values, nil
}

// width is the number of latent columns of a column.
func width(of int) int { return max(1, of-1) }

// join fills the block of b at (j, k) at random, with largest singular value 1.
func join(b *mat.SymDense, j, k, rows, columns int, rng *rand.Rand) {
	block := mat.NewDense(rows, columns, nil)
	block.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, block)
	largest := mat.Norm(block, 2)
	var svd mat.SVD
	if svd.Factorize(block, mat.SVDNone) {
		largest = svd.Values(nil)[0]
	}
	for r := range rows {
		for c := range columns {
			b.SetSym(j+r, k+c, block.At(r, c)/largest)
		}
	}
}

// cut gives the thresholds of a column whose latent one has standard deviation sd, of a nominal
// column its m.
func cut(of int, sd float64, rng *rand.Rand) (cuts []float64) {
	switch of {
	case 1:
	case 2:
		cuts = []float64{sd * distuv.UnitNormal.Quantile(0.35+0.3*rng.Float64())}
	case -5:
		for _, q := range []float64{0.15, 0.4, 0.65, 0.85} {
			cuts = append(cuts, sd*distuv.UnitNormal.Quantile(q))
		}
	default:
		for range of - 1 {
			cuts = append(cuts, 0.8*(rng.Float64()-0.5))
		}
	}
	return cuts
}

// chosen is the level with the largest of the utilities 0, m + L z. L = I + c 11ᵀ with
// c = (√K − 1)/(K − 1) is the symmetric root of I + 11ᵀ for K levels.
func chosen(z, m []float64) int {
	sum := 0.
	for _, x := range z {
		sum += x
	}
	c := (math.Sqrt(float64(len(z)+1)) - 1) / float64(len(z))
	level, best := 0, 0.
	for k, x := range z {
		if u := m[k] + x + c*sum; u > best {
			level, best = k+1, u
		}
	}
	return level
}

// sweeps of the Gibbs sampler for each row: the default of mgmsampler of R's package mgm.
const sweeps = 250

// pairwise draws each row by Gibbs sampling from a pairwise mixed graphical model
// (Haslbeck and Waldorp 2020), whose log density is up to a constant
//
//	Σ_j a_j(x_j) − Σ_{j a number} x_j²/2 + w Σ_{j<k joined} f_jk(x_j) f_kj(x_k).
//
// f is x of a number, ±1 of a binary column, (level − 2)/√2 of an ordered one with five levels, and
// of a nominal one a random score for each level and edge, of mean 0 and variance 1 over levels.
func pairwise(a *mat.SymDense, of []int, n int, rng *rand.Rand) ([]float64, error) {
	negative := mat.NewSymDense(len(of), nil)
	negative.ScaleSym(-1, a)
	w, err := bound(negative, strength)
	if err != nil {
		return nil, err
	}
	edges, base := make([][]edge, len(of)), make([][]float64, len(of))
	for j, k := range of {
		if k == 1 {
			continue
		}
		for range max(k, -k) {
			base[j] = append(base[j], 0.6*(rng.Float64()-0.5))
		}
	}
	for j := range of {
		for k := range j {
			if s := a.At(j, k); s != 0 {
				mine, theirs := scores(of[j], rng), scores(of[k], rng)
				edges[j] = append(edges[j], edge{k, s * w, mine, theirs})
				edges[k] = append(edges[k], edge{j, s * w, theirs, mine})
			}
		}
	}
	values := make([]float64, n*len(of))
	logs := make([]float64, 5)
	for i := range n {
		x := values[i*len(of) : (i+1)*len(of)]
		for j := range x {
			if base[j] != nil {
				x[j] = float64(rng.IntN(len(base[j])))
			}
		}
		for range sweeps {
			for j := range x {
				logs = append(logs[:0], base[j]...)
				x[j] = conditional(edges[j], logs, x, rng)
			}
		}
	}
	return values, nil
}

// edge is one end of a pair of joined columns.
type edge struct {
	to           int
	weight       float64
	mine, theirs []float64 // scores of levels; nil: the number itself
}

// conditional draws a column given the others, x. logs are the base of its levels, none of a number.
func conditional(edges []edge, logs, x []float64, rng *rand.Rand) float64 {
	mean := 0.
	for _, e := range edges {
		theirs := e.weight * x[e.to]
		if e.theirs != nil {
			theirs = e.weight * e.theirs[int(x[e.to])]
		}
		mean += theirs
		for level := range logs {
			logs[level] += theirs * e.mine[level]
		}
	}
	if len(logs) == 0 {
		return mean + rng.NormFloat64()
	}
	return float64(draw(logs, rng))
}

// scores are the scores of a column's levels in one edge, with mean 0 and variance 1.
func scores(of int, rng *rand.Rand) (s []float64) {
	switch of {
	case 1:
		return nil
	case 2:
		return []float64{-1, 1}
	case -5:
		for level := range 5 {
			s = append(s, float64(level-2)/math.Sqrt2)
		}
		return s
	}
	mean, square := 0., 0.
	for range of {
		s = append(s, rng.NormFloat64())
		mean += s[len(s)-1] / float64(of)
	}
	for k := range s {
		s[k] -= mean
		square += s[k] * s[k] / float64(of)
	}
	for k := range s {
		s[k] /= math.Sqrt(square)
	}
	return s
}

// draw draws a place with probability proportional to exp of its number.
func draw(logs []float64, rng *rand.Rand) int {
	sum := 0.
	for k, x := range logs {
		logs[k] = math.Exp(x)
		sum += logs[k]
	}
	u := rng.Float64() * sum
	for k, p := range logs {
		if u -= p; u < 0 {
			return k
		}
	}
	return len(logs) - 1
}
