package posterior

import (
	"math"

	"missingscore/data/truncnorm"
)

// latent draws the numbers behind the observed cells of columns of few values, cell by cell,
// each given the rest of its row and within the interval that its value stands for: the
// normal of mean μ_j − Σ_l≠j P_jl (z_l − μ_l)/P_jj and variance 1/P_jj of the row's component,
// truncated (Albert & Chib 1993, "Bayesian analysis of binary and polychotomous response
// data").
func (s *chain) latent() (ok bool) {
	for j := range s.d {
		cuts := s.cutsOf(j)
		if cuts == nil {
			continue
		}
		for i := range s.n {
			at := i*s.d + j
			if !s.observed[at] {
				continue
			}
			c, row := &s.components[s.of[i]], s.z[i*s.d:i*s.d+s.d]
			own, mean := c.precision[j*s.d+j], c.mean[j]
			for l, v := range row {
				if l != j {
					mean -= c.precision[j*s.d+l] / own * (v - c.mean[l])
				}
			}
			low, high := math.Inf(-1), math.Inf(1)
			if k := s.level[at]; k > 0 {
				low = cuts[k-1]
			}
			if k := s.level[at]; k < len(cuts) {
				high = cuts[k]
			}
			root := math.Sqrt(own)
			row[j] = mean + truncnorm.Transport(s.rng.NormFloat64(), (low-mean)*root, (high-mean)*root)/root
			if math.IsNaN(row[j]) {
				return false
			}
		}
	}
	return true
}
