// Package simd holds the elementwise loops that a training step spends its time
// in, with AVX2 and AVX-512 instructions where the machine has them. The assembly
// is written by asm/main.go.
package simd

//go:generate sh -c "cd asm && GOWORK=off go run . -out ../simd_amd64.s -stubs ../stubs_amd64.go -pkg simd"

import (
	"math"
	"unsafe"
)

// Float is a type of numbers.
type Float interface{ float32 | float64 }

// AdamConstants are c of m = c₀ m + c₁ g, v = c₂ v + c₃ g², w = w − c₄ m/(√v + c₅).
type AdamConstants [6]float64

func constants[T Float](c *AdamConstants) (k [6]T) {
	for i, v := range c {
		k[i] = T(v)
	}
	return k
}

// The plain loops: for machines without the instructions, for what is left over
// at the end of a slice, and as the truth in tests.

func add[T Float](out, x, y []T) {
	x, y = x[:len(out)], y[:len(out)]
	for i, v := range x {
		out[i] = v + y[i]
	}
}

func sub[T Float](out, x, y []T) {
	x, y = x[:len(out)], y[:len(out)]
	for i, v := range x {
		out[i] = v - y[i]
	}
}

func mul[T Float](out, x, y []T) {
	x, y = x[:len(out)], y[:len(out)]
	for i, v := range x {
		out[i] = v * y[i]
	}
}

func scale[T Float](out []T, k T, x []T) {
	for i, v := range x[:len(out)] {
		out[i] = k * v
	}
}

func axpy[T Float](out []T, k T, x []T) {
	for i, v := range x[:len(out)] {
		out[i] += k * v
	}
}

func rectify[T Float](row, bias []T) {
	bias = bias[:len(row)]
	for i, v := range row {
		row[i] = max(v+bias[i], 0)
	}
}

// gate has no branch on random signs, which would cost ten times as much.
func gate[T Float](out, y, g []T) {
	y, g = y[:len(out)], g[:len(out)]
	for i, v := range y {
		on := 0
		if v > 0 {
			on = 1
		}
		out[i] = T(on) * g[i]
	}
}

func dot[T Float](x, y []T) (s T) {
	y = y[:len(x)]
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// adam takes subnormal numbers for 0, as the moments of a unit without a gradient become.
func adam[T Float](w, m, v, g []T, c *[6]T) {
	m, v, g = m[:len(w)], v[:len(w)], g[:len(w)]
	for j := range w {
		m[j] = normal(normal(c[0]*normal(m[j])) + normal(c[1]*normal(g[j])))
		v[j] = normal(normal(c[2]*normal(v[j])) + normal(normal(c[3]*normal(g[j]))*normal(g[j])))
		w[j] = normal(normal(w[j]) - normal(normal(c[4]*m[j])/(T(math.Sqrt(float64(v[j])))+c[5])))
	}
}

func double[T Float]() bool { var x T; return unsafe.Sizeof(x) == 8 }

// normal is x, or 0 where x is subnormal.
func normal[T Float](x T) T {
	least := T(0x1p-126)
	if double[T]() {
		tiny := 0x1p-1022 // a variable: the constant is none of float32's
		least = T(tiny)
	}
	if x > -least && x < least {
		return 0
	}
	return x
}

func convert[T, S Float](dst []T, src []S) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = T(v)
	}
}
