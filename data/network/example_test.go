package network_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/network"
)

// The precision of three columns; the second and the third are not joined.
func precision() *mat.SymDense {
	return mat.NewSymDense(3, []float64{
		2, -0.8, 0.5,
		-0.8, 1, 0,
		0.5, 0, 1,
	})
}

// Edges strongest first. The sign of an association is that of the partial correlation,
// opposite to the precision's.
func ExampleNew() {
	p := precision()
	n, err := network.New([]string{"a", "b", "c"}, p, network.Threshold(p, 0.01))
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range n.Edges {
		fmt.Printf("%s – %s %s%.2f\n", e.From, e.To, e.Sign(), max(e.PartialCorrelation, -e.PartialCorrelation))
	}
	// Output:
	// a – b +0.57
	// a – c -0.35
}

func ExampleNetwork_WriteEdges() {
	n := &network.Network{Nodes: []string{"a", "b"}, Edges: []network.Edge{{From: "a", To: "b", Precision: -0.5, PartialCorrelation: 0.25}}}
	if err := n.WriteEdges(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// from,to,weight,partial_correlation,precision
	// a,b,0.25,0.25,-0.5
}

// For igraph, Gephi, Cytoscape and networkx.
func ExampleNetwork_WriteGraphML() {
	n := &network.Network{Nodes: []string{"a", "b"}, Edges: []network.Edge{{From: "a", To: "b", Precision: -0.5, PartialCorrelation: 0.25}}}
	var text strings.Builder
	if err := n.WriteGraphML(&text); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, "<node") || strings.Contains(line, "<edge") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// <node id="n0">
	// <node id="n1">
	// <edge id="e0" source="n0" target="n1">
}

// Of the two true edges one is found, beside none that is not there.
func ExampleCompare() {
	truth := network.Threshold(precision(), 0.01)
	found := network.Threshold(precision(), 0.6)
	rate, err := network.Compare(truth, found)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d of %d edges, true positive rate %.1f, false positive rate %.1f\n", found.Count(), truth.Count(), rate.TPR, rate.FPR)
	// Output:
	// 1 of 2 edges, true positive rate 0.5, false positive rate 0.0
}

// Rates along a path give a curve, and the area under it.
func ExampleAUC() {
	fmt.Printf("%.2f\n", network.AUC([]network.Rate{{FPR: 0, TPR: 0.5}, {FPR: 0.5, TPR: 1}}))
	// Output:
	// 0.88
}
