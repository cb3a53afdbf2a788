package simd

import "testing"

func alone(f func()) {
	defer func(was bool) { faster = was }(faster)
	faster = false
	f()
}

func TestLoopsWithoutVectors(t *testing.T) {
	defer func(was, wasFaster bool) { fast, faster = was, wasFaster }(fast, faster)
	fast, faster = false, false
	TestLoops(t)
	TestElementary(t)
}
