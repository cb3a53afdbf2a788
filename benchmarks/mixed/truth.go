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
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

type design struct {
	Truth   string `json:"truth"` // latent or pairwise
	Graph   string `json:"graph"` // chain, random (as many edges as columns) or hub
	Columns int    `json:"columns"`
	Rows    int    `json:"rows"`
}

func (d design) String() string {
	return fmt.Sprintf("%s %s, %d × %d", d.Truth, d.Graph, d.Rows, d.Columns)
}

// truths draw n rows, (n, d) row-major, from the signed network a; of holds the kinds of columns
// (turn).
var truths = map[string]func(a *mat.SymDense, of []int, n int, rng *rand.Rand) ([]float64, error){
	"latent": latent, "pairwise": pairwise,
}

// turn lists the kinds: 1 number, 2 binary, −5 ordered with five levels, 3 and 5 nominal.
var turn = []int{1, 2, -5, 3, 5}

// strength is the largest partial correlation of an edge.
const strength = 0.4

func (d design) simulate(seed uint64) (network.Adjacency, *data.Table, error) {
	rng := stream.New(seed, stream.Simulate)
	g, err := simulate.Graph(d.Graph, d.Columns, d.Columns, 0.01, rng)
	if err != nil {
		return network.Adjacency{}, nil, err
	}
	a := mat.NewSymDense(d.Columns, nil) // ±1 for edges
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

// bound returns the largest w ≤ most for which the smallest eigenvalue of I + w b is at least 0.15.
func bound(b *mat.SymDense, most float64) (float64, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(b, false) {
		return 0, fmt.Errorf("the eigenvalues of a network did not converge")
	}
	return min(most, 0.85/math.Abs(eigen.Values(nil)[0])), nil
}

// latent cuts a normal z with precision I + w B into levels; a nominal column has K − 1 numbers and
// shows the largest utility of u = m + L z and u_0 = 0, L Lᵀ = I + 11ᵀ. B_jk is random with largest
// singular value 1, so the largest canonical partial correlation is w ≤ 0.4.
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

func width(of int) int { return max(1, of-1) }

// join draws a random matrix with largest singular value 1.
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

// cut returns thresholds at latent standard deviation sd, or m of a nominal column.
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

// chosen returns the level with the largest utility of 0, m + L z: L = I + c 11ᵀ with c = (√K −
// 1)/(K − 1), the symmetric root of I + 11ᵀ.
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

// The default of mgm::mgmsampler.
const sweeps = 250

// pairwise draws by Gibbs sampling from a pairwise mixed graphical model (Haslbeck and Waldorp
// 2020): log density Σ_j a_j(x_j) − Σ_{j number} x_j²/2 + w Σ_{j<k edge} f_jk(x_j) f_kj(x_k), f = x
// for a number, ±1 for a binary, (level − 2)/√2 for an ordered, and standardised random scores for
// a nominal column.
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

type edge struct {
	to           int
	weight       float64
	mine, theirs []float64 // scores of levels; nil for a number
}

// logs holds a_j of the levels; empty for a number.
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

// scores returns f of the levels for one edge; nil for a number.
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

// draw returns k with probability proportional to exp(logs_k) and overwrites logs.
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
