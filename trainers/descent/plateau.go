package descent

// Plateau says how long a fit by LBFGS has come no further: how many iterations ago the loss
// last fell by more than its rounding, or the least relative gradient by half. Of points
// whose losses rounding cannot tell apart it keeps the one where the gradient is least, for
// steps among them go up as often as down.
type Plateau struct {
	Count     int
	Loss      float64   // that the count began with
	Least     float64   // relative gradient
	At        []float64 // all parameters, where it was
	Decrement float64   // what Newton's step from there promises, relative to the loss; of a fit that it ended
}

const plateauIterations = 100

// note counts an iteration that came to theta; noise is the rounding of the loss.
func (p *Plateau) note(theta []float64, loss, noise, relative float64) {
	fell := p.At == nil || loss < p.Loss-noise
	if fell {
		p.Loss = loss
	}
	p.Count++
	if fell || relative < p.Least/2 {
		p.Count = 0
	}
	if fell || relative < p.Least {
		p.Least, p.At = relative, theta
	}
}

func (p *Plateau) reached() bool { return p.Count >= plateauIterations }
