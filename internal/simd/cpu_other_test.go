//go:build !amd64

package simd

func alone(f func()) { f() }
