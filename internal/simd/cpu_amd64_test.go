package simd

import "testing"

func TestLoopsWithoutVectors(t *testing.T) {
	defer func(was bool) { fast = was }(fast)
	fast = false
	TestLoops(t)
	TestElementary(t)
}
