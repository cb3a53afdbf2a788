package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// softmax is the plain loop of softmax.go in float32: see there. A group is a row of groups.go.
func softmax() {
	const (
		leastExponent = iota
		log2e
		rounding
		bias
		log2High
		log2Low
		exp0
	)
	const (
		exp4 = exp0 + 4
		one  = exp0 + 5
	)
	t := single
	TEXT("groupSoftmaxF32", NOSPLIT, "func(out, x *float32, c *uint32, n, whole, tail, careful int, mask *uint32)")
	Pragma("noescape")
	Doc("groupSoftmaxF32 is out_k = exp(x_k)/Σ_l exp(x_l) within n groups.")
	mask := tailMask()
	out, x, c := pointer("out"), pointer("x"), pointer("c")
	n, whole, tail := pointer("n"), pointer("whole"), pointer("tail")
	constant := func(k int) Mem { return at(c, 32*k) }
	j, left, row := GP64(), GP64(), GP64()
	MOVQ(whole, row)
	ADDQ(tail, row)
	first, top, high := YMM(), YMM(), XMM()

	// vectors runs whole for each whole vector of the group, and part for its tail.
	vectors := func(name string, each func(), part func()) {
		XORQ(j, j)
		Label(name)
		CMPQ(j, whole)
		JE(LabelRef(name + "Tail"))
		each()
		ADDQ(U8(32), j)
		JMP(LabelRef(name))
		Label(name + "Tail")
		TESTQ(tail, tail)
		JE(LabelRef(name + "Done"))
		part()
		Label(name + "Done")
	}
	store := func(name string, v VecVirtual) { // of the tail
		CMPQ(n, parameter("careful"))
		JLE(LabelRef(name + "Last"))
		t.store(v, indexed(out, j, 0))
		JMP(LabelRef(name + "Done"))
		Label(name + "Last")
		t.masked(v, mask, indexed(out, j, 0))
	}
	exponential := func(y VecVirtual) (e VecVirtual) { // of y ≤ 0
		keep, m, bits := YMM(), YMM(), YMM()
		e = YMM()
		VCMPPS(Imm(5), constant(leastExponent), y, keep) // not less: NaN too
		VMULPS(constant(log2e), y, bits)
		VADDPS(constant(rounding), bits, bits)
		VCVTTPS2DQ(bits, bits)
		VPSUBD(constant(bias), bits, m)
		VPSLLD(Imm(23), bits, bits)
		VCVTDQ2PS(m, m)
		VMULPS(constant(log2High), m, e)
		VSUBPS(e, y, y)
		VMULPS(constant(log2Low), m, e)
		VSUBPS(e, y, y)
		VMOVUPS(constant(exp0), e)
		for k := exp0 + 1; k <= exp4; k++ {
			VMULPS(y, e, e)
			VADDPS(constant(k), e, e)
		}
		VMULPS(y, e, e)
		VMULPS(y, e, e)
		VADDPS(y, e, e)
		VADDPS(constant(one), e, e)
		VMULPS(e, bits, e)
		VANDPS(keep, e, e)
		return e
	}

	Label("group")
	TESTQ(n, n)
	JE(LabelRef("done"))
	VBROADCASTSS(at(x, 0), first)
	VMOVUPS(first, top)
	vectors("max", func() { VMAXPS(indexed(x, j, 0), top, top) }, func() {
		v := YMM()
		t.masked(indexed(x, j, 0), mask, v)
		VBLENDVPS(mask, v, first, v)
		VMAXPS(v, top, top)
	})
	VEXTRACTF128(Imm(1), top, high)
	low := top.AsX()
	VMAXPS(high, low, low)
	VMOVHLPS(low, low, high)
	VMAXPS(high, low, low)
	VMOVSHDUP(low, high)
	VMAXSS(high, low, low)
	VBROADCASTSS(low, top)

	vectors("exp", func() {
		y := YMM()
		t.load(indexed(x, j, 0), y)
		VSUBPS(top, y, y)
		t.store(exponential(y), indexed(out, j, 0))
	}, func() {
		y := YMM()
		t.masked(indexed(x, j, 0), mask, y)
		VSUBPS(top, y, y)
		store("exp", exponential(y))
	})

	sum, divisor := XMM(), YMM()
	VXORPS(sum, sum, sum)
	XORQ(left, left)
	Label("sum")
	VADDSS(indexed(out, left, 0), sum, sum)
	ADDQ(U8(4), left)
	CMPQ(left, row)
	JNE(LabelRef("sum"))
	VBROADCASTSS(sum, divisor)
	vectors("divide", func() {
		v := YMM()
		t.load(indexed(out, j, 0), v)
		VDIVPS(divisor, v, v)
		t.store(v, indexed(out, j, 0))
	}, func() {
		v := YMM()
		t.masked(indexed(out, j, 0), mask, v)
		VDIVPS(divisor, v, v)
		store("divide", v)
	})
	ADDQ(row, x)
	ADDQ(row, out)
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}
