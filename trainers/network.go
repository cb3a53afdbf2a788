package trainers

import (
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/trainers/inference"
	"missingscore/trainers/inference/bootstrap"
	"missingscore/trainers/regpath"
	"missingscore/trainers/sparse"
)

// NetworkResult is an estimated network in the table's units.
type NetworkResult struct {
	Names      []string        // of its nodes
	Points     []regpath.Point // the path, columns standardised
	Scores     []float64       // of the selection, one a point; nil for none
	Chosen     int             // of the points
	Cut        bool            // the path ends before the smallest λ, because the choice needed no more of it (regpath.Config.Whole)
	Lambda     float64
	Penalty    regpath.Penalty // by which pairs were put in order, with the pilot's shrinkage
	Ordering   string          // in words: by what the path put pairs in order
	Threshold  float64         // |P_jk| above it is an edge, columns standardised
	Precision  mat.Symmetric   // of the nodes given the covariates: the block of the whole precision
	Mean       []float64
	Covariates []string // columns that are held constant and are no nodes
	Moments    string   // in words: the second moments that are all that the estimate knows of the table; "" where it knows rows
	Choice     string   // in words: what there is to say of the chosen edges; "" for nothing
	Adjacency  network.Adjacency
	Network    *network.Network
	Inference  *inference.Result    // nil without
	Stability  *bootstrap.Stability // nil without
}

func newNetworkResult(names []string, n *regpath.Run, scores []float64, scale data.Scale, whole mat.Symmetric) (*NetworkResult, error) {
	m, chosen, mean := n.Model(), n.State.Refine.Index, scale.Location(n.Model().Mean())
	r := &NetworkResult{
		Scores: scores, Chosen: chosen, Lambda: n.State.Points[chosen].Lambda, Threshold: n.Config.Threshold, Penalty: n.Penalty(), Ordering: n.Ordering(), Choice: n.Choice(), Moments: n.MatrixWords(),
		Cut: n.CutByChoice(), Adjacency: n.Network(m.Packed.Value), Covariates: n.Config.Covariates,
	}
	r.Names, r.Mean, r.Precision = names, mean, whole
	if r.Covariates != nil {
		r.Names, r.Mean, r.Precision = nil, nil, sparse.BlockOf(whole, n.Nodes())
		for _, j := range n.Nodes() {
			r.Names, r.Mean = append(r.Names, names[j]), append(r.Mean, mean[j])
		}
	}
	for _, p := range n.State.Points {
		r.Points = append(r.Points, n.Point(p))
	}
	var err error
	r.Network, err = network.New(r.Names, r.Precision, r.Adjacency)
	if tests := n.State.Tests; err == nil && tests.Done {
		r.Network.TakeEstimates(tests.Pairs)
	}
	return r, err
}

// Edges are the network's, strongest first.
func (r *NetworkResult) Edges() []network.Edge { return r.Network.Edges }

// Adjacencies are the networks along the path, one a point.
func (r *NetworkResult) Adjacencies() []network.Adjacency {
	var out []network.Adjacency
	for _, p := range r.Points {
		out = append(out, p.Adjacency(len(r.Names), r.Threshold))
	}
	return out
}

// Rates compares the networks along the path with a true one. It fails where
// the truth has no edge or no non-edge, and where the path was cut.
func (r *NetworkResult) Rates(truth network.Adjacency) ([]network.Rate, error) {
	if r.Cut {
		return nil, errors.New("the path ends where the choice of λ needed no more of it, and rates are of a whole path: set regpath.Config.Whole")
	}
	var rates []network.Rate
	for _, a := range r.Adjacencies() {
		rate, err := network.Compare(truth, a)
		if err != nil {
			return nil, err
		}
		rates = append(rates, rate)
	}
	return rates, nil
}

// WritePath writes path.csv: a line for each λ, with the rates against a truth if there
// are any. Numbers that there are none of are empty.
func (r *NetworkResult) WritePath(w io.Writer, rates []network.Rate) error {
	c := csv.NewWriter(w)
	header := []string{"lambda", "edges", "loss", "score", "change", "effective_sample_size", "pd_projections", "iterations", "finished"}
	if rates != nil {
		header = append(header, "tpr", "fpr")
	}
	if err := c.Write(header); err != nil {
		return err
	}
	for i, p := range r.Points {
		score := math.NaN()
		if r.Scores != nil {
			score = r.Scores[i]
		}
		record := []string{data.FormatNumber(p.Lambda), strconv.Itoa(p.Edges), data.FormatNumber(p.Loss), data.FormatNumber(score), data.FormatNumber(p.Change), data.FormatNumber(p.EffectiveSize), strconv.Itoa(p.Projections), strconv.Itoa(p.Iterations), strconv.FormatBool(!p.Unfinished)}
		if rates != nil {
			record = append(record, data.FormatNumber(rates[i].TPR), data.FormatNumber(rates[i].FPR))
		}
		if err := c.Write(record); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
