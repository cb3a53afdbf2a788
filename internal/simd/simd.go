// Package simd has the inner loops of training in AVX2, with portable fallbacks. asm/main.go
// generates the assembly.
package simd

//go:generate sh -c "cd asm && GOWORK=off go run . -out ../simd_amd64.s -stubs ../stubs_amd64.go -pkg simd"

import (
	"math"
	"unsafe"
)

// Float is float32 or float64.
type Float interface{ float32 | float64 }

// Instructions names the vector instructions in use.
func Instructions() string {
	if fast {
		return "AVX2"
	}
	return "no vectors"
}

func double[T Float]() bool { var x T; return unsafe.Sizeof(x) == 8 }

func p64[T Float](x []T) *float64 { return (*float64)(unsafe.Pointer(unsafe.SliceData(x))) }
func p32[T Float](x []T) *float32 { return (*float32)(unsafe.Pointer(unsafe.SliceData(x))) }

// The loops below take rows, each as long as the argument that is one row: calls cost.

// Add is out_r = x_r + y.
func Add[T Float](out, x, y []T) {
	x = x[:len(out)]
	switch rows := rowsOf(out, y); {
	case rows == 0:
	case !fast:
		for i, v := range x {
			out[i] = v + y[i%len(y)]
		}
	case double[T]():
		addF64(p64(out), p64(x), p64(y), len(y), rows)
	default:
		addF32(p32(out), p32(x), p32(y), len(y), rows)
	}
}

// Mul is out_r = x_r ∘ y.
func Mul[T Float](out, x, y []T) {
	x = x[:len(out)]
	switch rows := rowsOf(out, y); {
	case rows == 0:
	case !fast:
		for i, v := range x {
			out[i] = v * y[i%len(y)]
		}
	case double[T]():
		mulF64(p64(out), p64(x), p64(y), len(y), rows)
	default:
		mulF32(p32(out), p32(x), p32(y), len(y), rows)
	}
}

func rowsOf[T Float](x, row []T) int {
	if len(row) == 0 {
		return 0
	}
	return len(x) / len(row)
}

// AdamConstants holds c of m = c₀ m + c₁ g, v = c₂ v + c₃ g², w = w − c₄ m/(√v + c₅).
type AdamConstants [6]float64

// Adam makes one step. Subnormal numbers count as 0. Bits are identical on all machines.
func Adam[T Float](w, m, v, g []T, c *AdamConstants) {
	m, v, g = m[:len(w)], v[:len(w)], g[:len(w)]
	var k [6]T
	for i, v := range c {
		k[i] = T(v)
	}
	switch {
	case !fast:
		adam(w, m, v, g, &k)
	case double[T]():
		adamF64(p64(w), p64(m), p64(v), p64(g), (*[6]float64)(unsafe.Pointer(&k)), len(w))
	default:
		adamF32(p32(w), p32(m), p32(v), p32(g), (*[6]float32)(unsafe.Pointer(&k)), len(w))
	}
}

func adam[T Float](w, m, v, g []T, c *[6]T) {
	for j := range w {
		m[j] = normal(normal(c[0]*normal(m[j])) + normal(c[1]*normal(g[j])))
		v[j] = normal(normal(c[2]*normal(v[j])) + normal(normal(c[3]*normal(g[j]))*normal(g[j])))
		w[j] = normal(normal(w[j]) - normal(normal(c[4]*m[j])/(T(math.Sqrt(float64(v[j])))+c[5])))
	}
}

func normal[T Float](x T) T {
	least := T(0x1p-126)
	if double[T]() {
		tiny := 0x1p-1022 // a variable: float32 cannot hold the constant
		least = T(tiny)
	}
	if x > -least && x < least {
		return 0
	}
	return x
}

// Seen sets x = values where observed and 0 elsewhere, and mask = 1 or 0, without branches.
func Seen(x, mask, values []float64, observed []bool) {
	x, mask, values = x[:len(observed)], mask[:len(observed)], values[:len(observed)]
	one := math.Float64bits(1)
	for j, o := range observed {
		keep := uint64(0)
		if o {
			keep = 1
		}
		x[j] = math.Float64frombits(math.Float64bits(values[j]) & -keep)
		mask[j] = math.Float64frombits(one & -keep)
	}
}

// Narrow converts float64 to float32.
func Narrow(dst []float32, src []float64) {
	for i, v := range src[:len(dst)] {
		dst[i] = float32(v)
	}
}

// Widen converts float32 to float64.
func Widen(dst []float64, src []float32) {
	for i, v := range src[:len(dst)] {
		dst[i] = float64(v)
	}
}
