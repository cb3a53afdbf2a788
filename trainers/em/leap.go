package em

import (
	"math"

	"missingscore/trainers/optim"
)

// Every so many sweeps the descent goes on from where the last ones lead to, by Anderson's
// acceleration (Bertrand & Massias 2021, "Anderson acceleration of coordinate descent"), if the
// loss is less there: where columns nearly depend on each other, each sweep comes but a
// hundredth nearer to the minimum.
const (
	leapMemory = 4  // sweeps that a leap goes by, beside the last one
	leapEvery  = 20 // sweeps
	leapAfter  = 80 // sweeps, a multiple of these: shorter descents need none
)

// leap is the acceleration of one descent.
type leap struct {
	anderson optim.Anderson
	sweeps   int
	x        []float64 // the coordinates before the next sweep, if that is one to go by
}

// after is called after every sweep.
func (e *leap) after(l *Lasso, s []float64, lambda float64) {
	if e.sweeps++; e.sweeps <= leapAfter {
		return
	}
	left := leapEvery - e.sweeps%leapEvery // sweeps to the next leap; after the sweep of a leap all
	if left > leapMemory+1 && left < leapEvery {
		return
	}
	g := l.coordinates()
	if left <= leapMemory || left == leapEvery {
		e.anderson.Memory = leapMemory
		e.anderson.Remember(e.x, g)
	}
	if e.x = g; left < leapEvery {
		return
	}
	ahead, loss := e.anderson.Ahead(), l.loss(lambda)
	e.anderson.Forget()
	if l.put(ahead, s); !(l.loss(lambda) < loss) {
		l.put(g, s)
	}
}

// coordinates are those that the descent visits: the diagonal, then the active pairs.
func (l *Lasso) coordinates() []float64 {
	x := make([]float64, 0, l.d+len(l.active))
	for j := range l.d {
		x = append(x, l.p[j*l.d+j])
	}
	for _, a := range l.active {
		x = append(x, l.p[a.j*l.d+a.k])
	}
	return x
}

// put sets P to the coordinates, and V to PS.
func (l *Lasso) put(coordinates, s []float64) {
	d := l.d
	clear(l.v)
	for j := range d {
		l.p[j*d+j] = coordinates[j]
		l.add(l.v[j*d:j*d+d], coordinates[j], s[j*d:j*d+d])
	}
	for i, a := range l.active {
		j, k, value := a.j, a.k, coordinates[d+i]
		l.p[j*d+k], l.p[k*d+j] = value, value
		if value != 0 {
			l.add(l.v[j*d:j*d+d], value, s[k*d:k*d+d])
			l.add(l.v[k*d:k*d+d], value, s[j*d:j*d+d])
		}
	}
}

// loss is the penalised loss at P.
func (l *Lasso) loss(lambda float64) (sum float64) {
	d := l.d
	for i, p := range l.p {
		sum += p * l.v[i] / 2
	}
	for j := range d {
		sum -= l.p[j*d+j]
	}
	for _, a := range l.active {
		sum += lambda * l.weight(a.j, a.k) * math.Abs(l.p[a.j*d+a.k])
	}
	return sum
}
