package figures

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot"

	"missingscore/benchmarks/claims"
	"missingscore/internal/picture"
)

// Bands draws means with their 95 % intervals at the places at; a single replicate
// has no interval. Places along training that not all replicates reached are left
// out, for a mean of the others would leap: see Stopped.
func Bands(title, x, y string, at []float64, series []Series) (*plot.Plot, error) {
	var bands []picture.Band
	for _, s := range series {
		b := picture.Band{Name: s.Name}
		for k, v := range s.Values {
			if len(v) == 0 || s.Failed > 0 && len(v) < len(s.Values[0]) {
				continue
			}
			mean, half := v[0], 0.0
			if len(v) > 1 {
				mean, half = claims.MeanInterval(v)
			}
			b.X, b.Y = append(b.X, at[k]), append(b.Y, mean)
			b.Low, b.High = append(b.Low, mean-half), append(b.High, mean+half)
		}
		if len(b.X) > 0 {
			bands = append(bands, b)
		}
	}
	return picture.Bands(title, x, y, bands)
}

// Stopped says for a caption which methods did not reach the last epoch; empty if all did.
func Stopped(series []Series) string {
	var out []string
	for _, s := range series {
		if s.Failed > 0 {
			out = append(out, fmt.Sprintf("%s %d of %d", picture.MethodTitle(s.Name), s.Failed, len(s.Values[0])))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " Diverged before the end: " + strings.Join(out, ", ") + "; drawn as far as all replicates went."
}
