package simd

// Loops over groups of r rows of m numbers, one row after the other, as the imputations of table rows
// are: x has n groups, c (n, m) a row and w (n·r) r numbers for each. In a training step of few columns
// a call a row costs more than the row's numbers; here one call takes all rows. Results are to the bit
// those of Scale, Add, Mul, Dot and Axpy for each row.

func groupOuter[T Float](out, c, w []T, m, r int) {
	for k, v := range w {
		Scale(out[k*m:k*m+m], v, c[k/r*m:k/r*m+m])
	}
}

func groupAdd[T Float](out, c, x []T, m, r int) {
	for k := range len(x) / m {
		Add(out[k*m:k*m+m], x[k*m:k*m+m], c[k/r*m:k/r*m+m])
	}
}

func groupSquaresSlope[T Float](out, c, x, w []T, m, r int) {
	for k, v := range w {
		Scale(out[k*m:k*m+m], 2*v, c[k/r*m:k/r*m+m])
	}
	Mul(out, out, x)
}

func groupDot[T Float](out, c, x []T, m, r int) {
	for k := range out {
		out[k] = Dot(c[k/r*m:k/r*m+m], x[k*m:k*m+m])
	}
}

func groupSquares[T Float](out, c, x []T, m, r int) {
	for k := range out {
		var sum T
		row := c[k/r*m : k/r*m+m]
		for j, v := range x[k*m : k*m+m] {
			sum += row[j] * T(v*v)
		}
		out[k] = sum
	}
}

func groupMean[T Float](out, w, x []T, m, r int) {
	clear(out)
	for k, v := range w {
		Axpy(out[k/r*m:k/r*m+m], v, x[k*m:k*m+m])
	}
}

func groupSlope[T Float](out, c, g []T, m, r int) {
	clear(out)
	for k, v := range g {
		row := c[k/r*m : k/r*m+m]
		for j := range out {
			out[j] += T(v * row[j])
		}
	}
}
