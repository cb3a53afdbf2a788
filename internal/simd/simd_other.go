//go:build !amd64

package simd

const fast = false

func addF64(out, x, y *float64, n, rows int)                {}
func addF32(out, x, y *float32, n, rows int)                {}
func mulF64(out, x, y *float64, n, rows int)                {}
func mulF32(out, x, y *float32, n, rows int)                {}
func adamF64(w, m, v, slope *float64, c *[6]float64, n int) {}
func adamF32(w, m, v, slope *float32, c *[6]float32, n int) {}
func sigmoidF64(out, z, c *float64, n int)                  {}
func sigmoidF32(out, z, c *float32, n int)                  {}
func softplusF64(out, z, s, c *float64, n int)              {}
func softplusF32(out, z, s, c *float32, n int)              {}

func sparseF64(out, panel, values *float64, offsets *uint32, counts *int, rows, space, stride int) {}
func sparseF32(out, panel, values *float32, offsets *uint32, counts *int, rows, space, stride int) {}
