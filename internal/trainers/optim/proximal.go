package optim

// Proximal is a gradient step of size Rate, then soft-thresholding of the off-diagonal elements by
// Lambda·Rate times their weights, packed; nil: all 1 (docs/theory/path.md#eq-soft-threshold).
type Proximal struct {
	Rate, Lambda float64
	Weights      []float64
}

func (p Proximal) Step(packed, grad []float64, d int) {
	for j, i := 0, 0; j < d; j++ {
		for k := j; k < d; k, i = k+1, i+1 {
			packed[i] -= p.Rate * grad[i]
			if k > j {
				threshold := p.Lambda * p.Rate
				if p.Weights != nil {
					threshold *= p.Weights[i]
				}
				packed[i] = SoftThreshold(packed[i], threshold)
			}
		}
	}
}

// SoftThreshold returns sign(x)·max(|x| − t, 0)
func SoftThreshold(x, t float64) float64 {
	switch {
	case x > t:
		return x - t
	case x < -t:
		return x + t
	}
	return 0
}
