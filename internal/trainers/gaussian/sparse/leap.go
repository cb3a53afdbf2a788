package sparse

import (
	"math"

	"missingscore/internal/trainers/optim"
)

// Anderson's acceleration of coordinate descent (Bertrand & Massias 2021) every leapEvery sweeps,
// accepted if the loss is less.
const (
	leapMemory = 4  // earlier sweeps in a leap
	leapEvery  = 20 // sweeps
	leapAfter  = 80 // sweeps before the first leap, a multiple of leapEvery
)

type leap struct {
	anderson optim.Anderson
	sweeps   int
	x        []float64 // coordinates before the next sweep, if it is used
}

func (e *leap) after(l *Lasso, lambda float64) {
	if e.sweeps++; e.sweeps <= leapAfter {
		return
	}
	left := leapEvery - e.sweeps%leapEvery // sweeps to the next leap
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
	if l.put(ahead); !(l.loss(lambda) < loss) {
		l.put(g)
	}
}

func (l *Lasso) coordinates() (x []float64) {
	x = append(x, l.diagonal...)
	for _, a := range l.active {
		x = append(x, l.rows[a.j].value[a.inJ])
	}
	return x
}

func (l *Lasso) put(x []float64) {
	copy(l.diagonal, x)
	for i, a := range l.active {
		l.setPair(a, x[l.D+i])
	}
}

func (l *Lasso) loss(lambda float64) (sum float64) {
	for j, v := range l.diagonal {
		sum += v * (l.product(j, j)/2 - 1)
	}
	for _, a := range l.active {
		j, k, v := int(a.j), int(a.k), l.rows[a.j].value[a.inJ]
		sum += v*(l.product(j, k)+l.product(k, j))/2 + lambda*l.weight(j, k)*math.Abs(v)
	}
	return sum
}
