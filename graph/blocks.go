package graph

import "unsafe"

// Most operations of a training step are short loops over large matrices whose rows do
// not depend on each other. One after the other, each would fetch its matrices from the
// outer caches again. So those that can follow each other make a run, and a run takes
// some rows through all its operations, then the next rows: the same numbers, but they
// stay in the inner caches, and what nobody else needs has memory for some rows only.

// blockBytes is how much a run takes of its largest matrix at a time; tests change it.
var blockBytes = 16 << 10

// place makes runs, by turns of all operations that can be done as they are and of all
// that can be done in blocks, and appends their steps.
func (c *compiler[T]) place() {
	unit := c.unit()
	var runs [][]*operation[T]
	for left := c.order; len(left) > 0; {
		for _, blocked := range []bool{false, true} {
			var run, rest []*operation[T]
			for _, o := range left {
				if o.blocked = o.divides(unit); o.blocked == blocked && c.ready(o, len(runs)+1) {
					o.run = len(runs) + 1
					run = append(run, o)
				} else {
					rest = append(rest, o)
				}
			}
			runs, left = append(runs, run), rest
		}
	}
	for _, o := range c.order {
		for _, n := range o.inputs {
			if p := c.made[n]; p != nil && p.run != o.run {
				p.kept = true
			}
		}
	}
	for i, run := range runs {
		if blocked := i%2 == 1; blocked {
			c.blocks(run, unit)
			continue
		}
		for _, o := range run {
			c.memory[o.node] = make([]T, o.size)
			c.step(o, c.memory[o.node], func(n Node, _ bool) []T { return c.memory[n] })
		}
	}
}

// unit is the number of parts that matrices are divided at: of the large operations, those
// of the one that has the fewest.
func (c *compiler[T]) unit() (unit int) {
	touched := func(o *operation[T]) (n int) {
		for _, input := range o.inputs {
			n += max(1, input.Shape().TotalSize())
		}
		return n + o.size
	}
	most := 0
	for _, o := range c.order {
		if o.parts > 0 {
			most = max(most, touched(o))
		}
	}
	for _, o := range c.order {
		if o.parts > 1 && !o.frozen && 4*touched(o) >= most && (unit == 0 || o.parts < unit) {
			unit = o.parts
		}
	}
	return unit
}

func (o *operation[T]) divides(unit int) bool {
	return unit > 0 && o.parts > 0 && o.parts%unit == 0 && !o.frozen
}

// ready tells whether o can be in the run: all that it needs is there, and what it
// needs whole comes from before.
func (c *compiler[T]) ready(o *operation[T], run int) bool {
	for i, n := range o.inputs {
		p := c.made[n]
		if p != nil && (p.run == 0 || p.run == run && o.blocked && o.takesWhole(i)) {
			return false
		}
	}
	return true
}

func (o *operation[T]) takesWhole(input int) bool { return o.whole != nil && o.whole[input] }

// blocks appends a run's steps for each block.
func (c *compiler[T]) blocks(run []*operation[T], unit int) {
	largest := 0
	for _, o := range run {
		largest = max(largest, o.size)
	}
	var t T
	some := min(unit, max(1, blockBytes*unit/max(1, largest*int(unsafe.Sizeof(t)))))
	for _, o := range run {
		if o.kept {
			c.memory[o.node] = make([]T, o.size)
		} else {
			c.memory[o.node] = make([]T, o.size/unit*some)
		}
	}
	for from := 0; from < unit; from += some {
		to := min(unit, from+some)
		part := func(n Node, whole bool) []T {
			m := c.memory[n]
			if p := c.made[n]; p != nil && !p.kept {
				return m[:p.size/unit*(to-from)]
			}
			if whole {
				return m
			}
			return m[len(m)/unit*from : len(m)/unit*to]
		}
		for _, o := range run {
			c.step(o, part(o.node, false), part)
		}
	}
}

func (c *compiler[T]) step(o *operation[T], out []T, input func(n Node, whole bool) []T) {
	s := step[T]{name: o.name, kernel: o.kernel, out: out, frozen: o.frozen, slope: !o.value}
	for i, n := range o.inputs {
		s.in = append(s.in, input(n, o.takesWhole(i)))
	}
	c.walk.steps = append(c.walk.steps, s)
}
