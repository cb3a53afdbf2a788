package scale

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/outside"
	"missingscore/data"
	"missingscore/internal/data/network"
)

//go:embed cglasso.R
var cglasso []byte

//go:embed huge.R
var huge []byte

//go:embed scikit.py
var scikit []byte

// Arguments: the number of λ, smallest over largest λ, the edge threshold, tolerances, and those of
// the limit. Output: a line (seconds, megabytes, number of networks), a line (network, column,
// column) per edge, from 0, and with a limit the largest difference of a partial correlation from
// it.
var peers = map[string]*outside.Program{
	"cglasso":      outside.R("cglasso.R", cglasso, "cglasso"),
	"huge":         outside.R("huge.R", huge, "huge"),
	"scikit-learn": outside.Python("scikit.py", scikit, "sklearn"),
}

func (s settings) peer(ctx context.Context, m method, t *data.Table) (o outcome, err error) {
	arguments := []string{strconv.Itoa(s.Lambdas)}
	for _, v := range slices.Concat([]float64{1 / s.Ratio, threshold}, m.Stop, m.Limit) {
		arguments = append(arguments, strconv.FormatFloat(v, 'g', -1, 64))
	}
	lines, printed, err := peers[m.Peer].Run(ctx, t, arguments...)
	if err != nil {
		return o, err
	}
	if o, err = readPeer(lines, t.D); err != nil || len(m.Limit) == 0 {
		o.away = unknown
		return o, err
	}
	away, err := strconv.ParseFloat(strings.TrimSpace(printed), 64)
	if err != nil {
		return o, fmt.Errorf("the script printed %q, not the distance from the limit", printed)
	}
	o.away = strconv.FormatFloat(away, 'g', 3, 64)
	return o, nil
}

func readPeer(lines [][]float64, d int) (o outcome, err error) {
	if len(lines) == 0 || len(lines[0]) != 3 {
		return o, fmt.Errorf("the script wrote no line of seconds, megabytes and networks")
	}
	o.seconds, o.megabytes = lines[0][0], fmt.Sprintf("%.0f", lines[0][1])
	for range int(lines[0][2]) {
		o.networks = append(o.networks, network.Adjacency{D: d, Edge: make([]bool, d*(d-1)/2)})
	}
	for _, line := range lines[1:] {
		at, j, k := int(line[0]), int(min(line[1], line[2])), int(max(line[1], line[2]))
		if at < 0 || at >= len(o.networks) || j < 0 || j == k || k >= d {
			return o, fmt.Errorf("the script wrote %v, which is no edge", line)
		}
		o.networks[at].Edge[j*(2*d-j-1)/2+k-j-1] = true
	}
	return o, nil
}
