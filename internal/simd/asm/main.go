// Command asm writes the AVX2 loops of package simd (go generate in its folder).
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

type op func(...Op)

// number is what differs between the two types of numbers.
type number struct {
	elem, suffix                      string
	size, lanes                       int
	load, store                       op
	add, sub, mul, max, and, fma, xor op
	compare                           op
	broadcast                         op
	div, sqrt                         op
}

var double = number{
	elem: "float64", suffix: "F64", size: 8, lanes: 4,
	load: VMOVUPD, store: VMOVUPD, add: VADDPD, sub: VSUBPD, mul: VMULPD, max: VMAXPD, and: VANDPD, xor: VXORPD,
	fma: VFMADD231PD, compare: VCMPPD, broadcast: VBROADCASTSD,
	div: VDIVPD, sqrt: VSQRTPD,
}

var single = number{
	elem: "float32", suffix: "F32", size: 4, lanes: 8,
	load: VMOVUPS, store: VMOVUPS, add: VADDPS, sub: VSUBPS, mul: VMULPS, max: VMAXPS, and: VANDPS, xor: VXORPS,
	fma: VFMADD231PS, compare: VCMPPS, broadcast: VBROADCASTSS,
	div: VDIVPS, sqrt: VSQRTPS,
}

const unroll = 4

// over runs body for each vector of n numbers, n a multiple of the lanes.
// Pointers advance by themselves.
func over(t number, n GPVirtual, pointers []GPVirtual, body func(offset int)) {
	many, one, done := "many", "one", "done"
	Label(many)
	CMPQ(n, U32(unroll*t.lanes))
	JL(LabelRef(one))
	for u := range unroll {
		body(u * 32)
	}
	for _, p := range pointers {
		ADDQ(U32(unroll*32), p)
	}
	SUBQ(U32(unroll*t.lanes), n)
	JMP(LabelRef(many))
	Label(one)
	CMPQ(n, U32(t.lanes))
	JL(LabelRef(done))
	body(0)
	for _, p := range pointers {
		ADDQ(U8(32), p)
	}
	SUBQ(U8(t.lanes), n)
	JMP(LabelRef(one))
	Label(done)
}

func pointer(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

func at(p GPVirtual, offset int) Mem { return Mem{Base: p, Disp: offset} }

// binary is out = x ∘ y.
func binary(t number, name, doc string, f op) {
	TEXT(name+t.suffix, NOSPLIT, "func(out, x, y *"+t.elem+", n int)")
	Pragma("noescape")
	Doc(name + t.suffix + " is " + doc)
	out, x, y, n := pointer("out"), pointer("x"), pointer("y"), pointer("n")
	over(t, n, []GPVirtual{out, x, y}, func(o int) {
		v := YMM()
		t.load(at(x, o), v)
		f(at(y, o), v, v)
		t.store(v, at(out, o))
	})
	VZEROUPPER()
	RET()
}

// scalar is out = k x, or out + k x.
func scaled(t number, name, doc string, accumulate bool) {
	TEXT(name+t.suffix, NOSPLIT, "func(out, x *"+t.elem+", k "+t.elem+", n int)")
	Pragma("noescape")
	Doc(name + t.suffix + " is " + doc)
	out, x, n := pointer("out"), pointer("x"), pointer("n")
	k := YMM()
	t.broadcast(parameter("k"), k)
	over(t, n, []GPVirtual{out, x}, func(o int) {
		v := YMM()
		if accumulate {
			t.load(at(out, o), v)
			t.fma(at(x, o), k, v)
		} else {
			t.mul(at(x, o), k, v)
		}
		t.store(v, at(out, o))
	})
	VZEROUPPER()
	RET()
}

func parameter(name string) Mem {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// rectify is row = max(row + bias, 0).
func rectify(t number) {
	TEXT("rectify"+t.suffix, NOSPLIT, "func(row, bias *"+t.elem+", n int)")
	Pragma("noescape")
	Doc("rectify" + t.suffix + " is row = max(row + bias, 0).")
	row, bias, n := pointer("row"), pointer("bias"), pointer("n")
	zero := YMM()
	t.xor(zero, zero, zero)
	over(t, n, []GPVirtual{row, bias}, func(o int) {
		v := YMM()
		t.load(at(row, o), v)
		t.add(at(bias, o), v, v)
		t.max(v, zero, v) // this order keeps NaN
		t.store(v, at(row, o))
	})
	VZEROUPPER()
	RET()
}

// gate is out = slope where y > 0, else 0.
func gate(t number) {
	TEXT("gate"+t.suffix, NOSPLIT, "func(out, y, slope *"+t.elem+", n int)")
	Pragma("noescape")
	Doc("gate" + t.suffix + " is out = slope where y > 0, else 0.")
	out, y, g, n := pointer("out"), pointer("y"), pointer("slope"), pointer("n")
	zero := YMM()
	t.xor(zero, zero, zero)
	over(t, n, []GPVirtual{out, y, g}, func(o int) {
		v := YMM()
		t.compare(Imm(1), at(y, o), zero, v) // 0 < y
		t.and(at(g, o), v, v)
		t.store(v, at(out, o))
	})
	VZEROUPPER()
	RET()
}

// dot is Σ x y in 16 (32) partial sums.
func dot(t number) {
	TEXT("dot"+t.suffix, NOSPLIT, "func(x, y *"+t.elem+", n int) "+t.elem)
	Pragma("noescape")
	Doc("dot" + t.suffix + " is Σ x y.")
	x, y, n := pointer("x"), pointer("y"), pointer("n")
	var sums [unroll]VecVirtual
	for u := range sums {
		sums[u] = YMM()
		t.xor(sums[u], sums[u], sums[u])
	}
	over(t, n, []GPVirtual{x, y}, func(o int) {
		v := YMM()
		t.load(at(x, o), v)
		t.fma(at(y, o), v, sums[o/32])
	})
	t.add(sums[1], sums[0], sums[0])
	t.add(sums[3], sums[2], sums[2])
	t.add(sums[2], sums[0], sums[0])
	high := XMM()
	VEXTRACTF128(Imm(1), sums[0], high)
	low := sums[0].AsX()
	t.add(high, low, low)
	if t.lanes == 4 {
		VSHUFPD(Imm(1), low, low, high)
		VADDSD(high, low, low)
	} else {
		VMOVHLPS(low, low, high)
		VADDPS(high, low, low)
		VMOVSHDUP(low, high)
		VADDSS(high, low, low)
	}
	Store(low, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// nonzero counts numbers that are not 0.
func nonzero(t number) {
	TEXT("nonzero"+t.suffix, NOSPLIT, "func(x *"+t.elem+", n int) int")
	Pragma("noescape")
	Doc("nonzero" + t.suffix + " counts the numbers that are not 0.")
	x, n := pointer("x"), pointer("n")
	count := GP64()
	XORQ(count, count)
	zero := YMM()
	t.xor(zero, zero, zero)
	over(t, n, []GPVirtual{x}, func(o int) {
		v, mask := YMM(), GP32()
		t.compare(Imm(4), at(x, o), zero, v) // not equal
		if t.lanes == 4 {
			VMOVMSKPD(v, mask)
		} else {
			VMOVMSKPS(v, mask)
		}
		POPCNTL(mask, mask)
		ADDQ(mask.As64(), count)
	})
	Store(count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// adam is one step of Adam, in the order of operations of the plain loop, so that
// the results are the same to the bit.
func adam(t number) {
	TEXT("adam"+t.suffix, NOSPLIT, "func(w, m, v, slope *"+t.elem+", c *[6]"+t.elem+", n int)")
	Pragma("noescape")
	Doc("adam" + t.suffix + " is m = c0 m + c1 slope, v = c2 v + (c3 slope) slope, w = w - c4 m / (√v + c5).")
	w, m, v, g, c, n := pointer("w"), pointer("m"), pointer("v"), pointer("slope"), pointer("c"), pointer("n")
	var k [6]VecVirtual
	for i := range k {
		k[i] = YMM()
		t.broadcast(at(c, t.size*i), k[i])
	}
	over(t, n, []GPVirtual{w, m, v, g}, func(o int) {
		x, y, z := YMM(), YMM(), YMM()
		t.load(at(g, o), x)
		t.mul(at(m, o), k[0], y)
		t.mul(x, k[1], z)
		t.add(z, y, y)
		t.store(y, at(m, o))
		t.mul(x, k[3], z)
		t.mul(x, z, z)
		t.mul(at(v, o), k[2], x)
		t.add(z, x, x)
		t.store(x, at(v, o))
		t.sqrt(x, x)
		t.add(k[5], x, x)
		t.mul(k[4], y, y)
		t.div(x, y, y)
		t.load(at(w, o), x)
		t.sub(y, x, x)
		t.store(x, at(w, o))
	})
	VZEROUPPER()
	RET()
}

// convert narrows and widens.
func convert() {
	TEXT("narrow", NOSPLIT, "func(out *float32, x *float64, n int)")
	Pragma("noescape")
	Doc("narrow is float64 to float32; n is a multiple of 4.")
	out, x, n := pointer("out"), pointer("x"), pointer("n")
	Label("loop")
	CMPQ(n, U8(4))
	JL(LabelRef("done"))
	v := XMM()
	VCVTPD2PSY(at(x, 0), v)
	VMOVUPS(v, at(out, 0))
	ADDQ(U8(32), x)
	ADDQ(U8(16), out)
	SUBQ(U8(4), n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()

	TEXT("widen", NOSPLIT, "func(out *float64, x *float32, n int)")
	Pragma("noescape")
	Doc("widen is float32 to float64; n is a multiple of 4.")
	out, x, n = pointer("out"), pointer("x"), pointer("n")
	Label("loop")
	CMPQ(n, U8(4))
	JL(LabelRef("done"))
	y := YMM()
	VCVTPS2PD(at(x, 0), y)
	VMOVUPD(y, at(out, 0))
	ADDQ(U8(16), x)
	ADDQ(U8(32), out)
	SUBQ(U8(4), n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// transpose turns 4 by 4 blocks of a row strip.
func transpose() {
	TEXT("transposeF64", NOSPLIT, "func(out, x *float64, rows, cols, n int)")
	Pragma("noescape")
	Doc("transposeF64 transposes four rows of x (rows, cols), the first n columns of them, n a multiple of 4.")
	out, x, rows, cols, n := pointer("out"), pointer("x"), pointer("rows"), pointer("cols"), pointer("n")
	SHLQ(Imm(3), rows)
	SHLQ(Imm(3), cols)
	x2, out2 := GP64(), GP64()
	LEAQ(Mem{Base: x, Index: cols, Scale: 2}, x2)
	Label("loop")
	CMPQ(n, U8(4))
	JL(LabelRef("done"))
	LEAQ(Mem{Base: out, Index: rows, Scale: 2}, out2)
	a, b, c, d := YMM(), YMM(), YMM(), YMM()
	e, f, g, h := YMM(), YMM(), YMM(), YMM()
	VMOVUPD(Mem{Base: x}, a)
	VMOVUPD(Mem{Base: x, Index: cols, Scale: 1}, b)
	VMOVUPD(Mem{Base: x2}, c)
	VMOVUPD(Mem{Base: x2, Index: cols, Scale: 1}, d)
	VUNPCKLPD(b, a, e)
	VUNPCKHPD(b, a, f)
	VUNPCKLPD(d, c, g)
	VUNPCKHPD(d, c, h)
	VPERM2F128(Imm(0x20), g, e, a)
	VPERM2F128(Imm(0x20), h, f, b)
	VPERM2F128(Imm(0x31), g, e, c)
	VPERM2F128(Imm(0x31), h, f, d)
	VMOVUPD(a, Mem{Base: out})
	VMOVUPD(b, Mem{Base: out, Index: rows, Scale: 1})
	VMOVUPD(c, Mem{Base: out2})
	VMOVUPD(d, Mem{Base: out2, Index: rows, Scale: 1})
	ADDQ(U8(32), x)
	ADDQ(U8(32), x2)
	LEAQ(Mem{Base: out, Index: rows, Scale: 4}, out)
	SUBQ(U8(4), n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()

	TEXT("transposeF32", NOSPLIT, "func(out, x *float32, rows, cols, n int)")
	Pragma("noescape")
	Doc("transposeF32 transposes four rows of x (rows, cols), the first n columns of them, n a multiple of 4.")
	out, x, rows, cols, n = pointer("out"), pointer("x"), pointer("rows"), pointer("cols"), pointer("n")
	SHLQ(Imm(2), rows)
	SHLQ(Imm(2), cols)
	x2, out2 = GP64(), GP64()
	LEAQ(Mem{Base: x, Index: cols, Scale: 2}, x2)
	Label("loop")
	CMPQ(n, U8(4))
	JL(LabelRef("done"))
	LEAQ(Mem{Base: out, Index: rows, Scale: 2}, out2)
	a, b, c, d = XMM(), XMM(), XMM(), XMM()
	e, f, g, h = XMM(), XMM(), XMM(), XMM()
	VMOVUPS(Mem{Base: x}, a)
	VMOVUPS(Mem{Base: x, Index: cols, Scale: 1}, b)
	VMOVUPS(Mem{Base: x2}, c)
	VMOVUPS(Mem{Base: x2, Index: cols, Scale: 1}, d)
	VUNPCKLPS(b, a, e)
	VUNPCKHPS(b, a, f)
	VUNPCKLPS(d, c, g)
	VUNPCKHPS(d, c, h)
	VUNPCKLPD(g, e, a)
	VUNPCKHPD(g, e, b)
	VUNPCKLPD(h, f, c)
	VUNPCKHPD(h, f, d)
	VMOVUPS(a, Mem{Base: out})
	VMOVUPS(b, Mem{Base: out, Index: rows, Scale: 1})
	VMOVUPS(c, Mem{Base: out2})
	VMOVUPS(d, Mem{Base: out2, Index: rows, Scale: 1})
	ADDQ(U8(16), x)
	ADDQ(U8(16), x2)
	LEAQ(Mem{Base: out, Index: rows, Scale: 4}, out)
	SUBQ(U8(4), n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// compress lists what is not 0 in each row (AVX-512).
func compress(t number) {
	TEXT("compress"+t.suffix, NOSPLIT, "func(values *"+t.elem+", offsets *uint32, x *"+t.elem+", steps *[17]uint32, n int) int")
	Pragma("noescape")
	Doc("compress"+t.suffix+" lists the numbers of x that are not 0, with their offsets;",
		"steps are those of the first numbers, and what a vector adds; n is a multiple of 8 (16).")
	values, offsets, x, steps, n := pointer("values"), pointer("offsets"), pointer("x"), pointer("steps"), pointer("n")
	count := GP64()
	XORQ(count, count)
	lanes := 64 / t.size
	offset, step, v := vector(lanes), vector(lanes), ZMM()
	VMOVDQU32(at(steps, 0), offset)
	VPBROADCASTD(at(steps, 64), step)
	k := K()
	Label("loop")
	CMPQ(n, U8(lanes))
	JL(LabelRef("done"))
	bits := GP32()
	o := vector(lanes)
	if t.lanes == 4 {
		VMOVUPD(Mem{Base: x}, v)
		VPTESTMQ(v, v, k)
		VCOMPRESSPD_Z(v, k, v)
		VPCOMPRESSD_Z(offset, k, o)
		KMOVB(k, bits)
		VMOVUPD(v, Mem{Base: values, Index: count, Scale: 8})
	} else {
		VMOVUPS(Mem{Base: x}, v)
		VPTESTMD(v, v, k)
		VCOMPRESSPS_Z(v, k, v)
		VPCOMPRESSD_Z(offset, k, o)
		KMOVW(k, bits)
		VMOVUPS(v, Mem{Base: values, Index: count, Scale: 4})
	}
	VMOVDQU32(o, Mem{Base: offsets, Index: count, Scale: 4})
	VPADDD(step, offset, offset)
	POPCNTL(bits, bits)
	ADDQ(bits.As64(), count)
	ADDQ(U8(64), x)
	SUBQ(U8(lanes), n)
	JMP(LabelRef("loop"))
	Label("done")
	Store(count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func vector(lanes int) VecVirtual {
	if lanes == 8 {
		return YMM()
	}
	return ZMM()
}

// sparse multiplies listed rows by some vectors' width of a panel.
func sparse(t number, vectors int) {
	together := 8 / vectors
	name := fmt.Sprintf("sparse%d%s", vectors, t.suffix)
	TEXT(name, NOSPLIT, "func(out, panel, values *"+t.elem+", offsets *uint32, counts *int, rows, space, stride int)")
	Pragma("noescape")
	Doc(name+" is out_i = Σ_t values_it panel[offsets_it], "+fmt.Sprint(vectors*t.lanes)+" columns.",
		"Lists have room for space entries; stride is between rows of out, in bytes; so are the offsets.")
	out, panel, values, offsets, counts, rows := pointer("out"), pointer("panel"), pointer("values"), pointer("offsets"), pointer("counts"), pointer("rows")
	acc := make([]VecVirtual, vectors*together)
	for i := range acc {
		acc[i] = YMM()
	}
	value, offset, left, v, o := GP64(), GP64(), GP64(), YMM(), GP32()
	entry := func(u int) {
		MOVL(at(offset, 4*u), o)
		t.broadcast(at(value, t.size*u), v)
		for j := range vectors {
			t.fma(Mem{Base: panel, Index: o.As64(), Scale: 1, Disp: 32 * j}, v, acc[u*vectors+j])
		}
	}
	Label("row")
	TESTQ(rows, rows)
	JE(LabelRef("done"))
	MOVQ(at(counts, 0), left)
	MOVQ(values, value)
	MOVQ(offsets, offset)
	for _, a := range acc {
		t.xor(a, a, a)
	}
	Label("several")
	CMPQ(left, U8(together))
	JL(LabelRef("single"))
	for u := range together {
		entry(u)
	}
	ADDQ(U8(together*t.size), value)
	ADDQ(U8(together*4), offset)
	SUBQ(U8(together), left)
	JMP(LabelRef("several"))
	Label("single")
	TESTQ(left, left)
	JE(LabelRef("store"))
	entry(0)
	ADDQ(U8(t.size), value)
	ADDQ(U8(4), offset)
	DECQ(left)
	JMP(LabelRef("single"))
	Label("store")
	for j := range vectors {
		for u := 1; u < together; u++ {
			t.add(acc[u*vectors+j], acc[j], acc[j])
		}
		t.store(acc[j], at(out, 32*j))
	}
	space := GP64()
	MOVQ(parameter("space"), space)
	LEAQ(Mem{Base: values, Index: space, Scale: uint8(t.size)}, values)
	LEAQ(Mem{Base: offsets, Index: space, Scale: 4}, offsets)
	ADDQ(U8(8), counts)
	ADDQ(parameter("stride"), out)
	DECQ(rows)
	JMP(LabelRef("row"))
	Label("done")
	VZEROUPPER()
	RET()
}

func main() {
	ConstraintExpr("amd64")
	for _, t := range []number{double, single} {
		binary(t, "add", "out = x + y.", t.add)
		binary(t, "sub", "out = x - y.", t.sub)
		binary(t, "mul", "out = x y.", t.mul)
		scaled(t, "scale", "out = k x.", false)
		scaled(t, "axpy", "out = out + k x.", true)
		rectify(t)
		gate(t)
		dot(t)
		nonzero(t)
		adam(t)
		compress(t)
		for vectors := range 4 {
			sparse(t, vectors+1)
		}
	}
	convert()
	transpose()
	Generate()
}
