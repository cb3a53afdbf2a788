// Command asm writes the AVX2 loops of package simd (go generate in its folder).
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

type op func(...Op)

type number struct {
	elem, suffix                 string
	size, lanes                  int
	load, store                  op
	masked                       func(from, mask, to Op)
	add, mul, max, and, xor, fma op
	sub, div, sqrt               op
	compare, broadcast           op
}

var double = number{
	elem: "float64", suffix: "F64", size: 8, lanes: 4,
	load: VMOVUPD, store: VMOVUPD, masked: VMASKMOVPD, add: VADDPD, sub: VSUBPD, mul: VMULPD, max: VMAXPD, and: VANDPD, xor: VXORPD,
	fma: VFMADD231PD, compare: VCMPPD, broadcast: VBROADCASTSD, div: VDIVPD, sqrt: VSQRTPD,
}

var single = number{
	elem: "float32", suffix: "F32", size: 4, lanes: 8,
	load: VMOVUPS, store: VMOVUPS, masked: VMASKMOVPS, add: VADDPS, sub: VSUBPS, mul: VMULPS, max: VMAXPS, and: VANDPS, xor: VXORPS,
	fma: VFMADD231PS, compare: VCMPPS, broadcast: VBROADCASTSS, div: VDIVPS, sqrt: VSQRTPS,
}

// zeroSubnormals are the bits of MXCSR by which subnormal results and operands count as 0.
const zeroSubnormals = 1<<15 | 1<<6

// masks, read from byte 32 − s on, has all bits in the first s bytes of a vector.
var masks Mem

// memory loads and stores vectors, whole or masked.
type memory struct {
	load, store func(p GPVirtual, offset int, v VecVirtual)
}

// over runs body for each vector of n numbers, unroll at a time, and for the rest with masks.
func over(t number, unroll int, pointers []GPVirtual, body func(m memory, offset int)) {
	n := pointer("n")
	whole := memory{func(p GPVirtual, o int, v VecVirtual) { t.load(at(p, o), v) }, func(p GPVirtual, o int, v VecVirtual) { t.store(v, at(p, o)) }}
	loop := func(label, after string, unroll int) {
		Label(label)
		CMPQ(n, U32(unroll*t.lanes))
		JL(LabelRef(after))
		for u := range unroll {
			body(whole, u*32)
		}
		for _, p := range pointers {
			ADDQ(U32(unroll*32), p)
		}
		SUBQ(U32(unroll*t.lanes), n)
		JMP(LabelRef(label))
	}
	if unroll > 1 {
		loop("several", "one", unroll)
	}
	loop("one", "rest", 1)
	Label("rest")
	TESTQ(n, n)
	JE(LabelRef("done"))
	table, mask := GP64(), YMM()
	LEAQ(masks.Offset(32), table)
	SHLQ(Imm(map[int]uint64{4: 2, 8: 3}[t.size]), n)
	SUBQ(n, table)
	VMOVDQU(Mem{Base: table}, mask)
	body(memory{func(p GPVirtual, o int, v VecVirtual) { t.masked(at(p, o), mask, v) }, func(p GPVirtual, o int, v VecVirtual) { t.masked(v, mask, at(p, o)) }}, 0)
	for _, p := range pointers {
		ADDQ(n, p)
	}
	Label("done")
}

// eachRow runs body as many times as rows says, at least once.
func eachRow(body func()) {
	rows := pointer("rows")
	Label("row")
	body()
	DECQ(rows)
	JNE(LabelRef("row"))
}

func begin(name, signature string, doc ...string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(doc...)
}

func finish() {
	VZEROUPPER()
	RET()
}

func pointer(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

func at(p GPVirtual, offset int) Mem { return Mem{Base: p, Disp: offset} }

func parameter(name string) Mem {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// binary is out = f(x, y) for each row of x.
func binary(t number, name, doc string, f func(x, y VecVirtual)) {
	begin(name+t.suffix, "func(out, x, y *"+t.elem+", n, rows int)", name+t.suffix+" is "+doc+" x and out have rows of n numbers, y is one.")
	out, x := pointer("out"), pointer("x")
	eachRow(func() {
		y := pointer("y")
		over(t, 1, []GPVirtual{out, x, y}, func(m memory, o int) {
			v, w := YMM(), YMM()
			m.load(x, o, v)
			m.load(y, o, w)
			f(v, w)
			m.store(out, o, v)
		})
	})
	finish()
}

// adam keeps the plain loop's order of operations, so results are the same to the bit. Subnormal
// numbers are taken for 0: some processors multiply them a hundred times slower.
func adam(t number) {
	begin("adam"+t.suffix, "func(w, m, v, slope *"+t.elem+", c *[6]"+t.elem+", n int)",
		"adam"+t.suffix+" is m = c0 m + c1 slope, v = c2 v + (c3 slope) slope, w = w - c4 m / (√v + c5),", "with 0 in place of subnormal numbers.")
	before, within := AllocLocal(4), AllocLocal(4)
	control := GP32()
	STMXCSR(before)
	MOVL(before, control)
	ORL(U32(zeroSubnormals), control)
	MOVL(control, within)
	LDMXCSR(within)
	w, m, v, g, c := pointer("w"), pointer("m"), pointer("v"), pointer("slope"), pointer("c")
	var k [6]VecVirtual
	for i := range k {
		k[i] = YMM()
		t.broadcast(at(c, t.size*i), k[i])
	}
	over(t, 1, []GPVirtual{w, m, v, g}, func(to memory, o int) {
		x, y, z := YMM(), YMM(), YMM()
		to.load(g, o, x)
		to.load(m, o, y)
		t.mul(y, k[0], y)
		t.mul(x, k[1], z)
		t.add(z, y, y)
		to.store(m, o, y)
		t.mul(x, k[3], z)
		t.mul(x, z, z)
		to.load(v, o, x)
		t.mul(x, k[2], x)
		t.add(z, x, x)
		to.store(v, o, x)
		t.sqrt(x, x)
		t.add(k[5], x, x)
		t.mul(k[4], y, y)
		t.div(x, y, y)
		to.load(w, o, x)
		t.sub(y, x, x)
		to.store(w, o, x)
	})
	LDMXCSR(before)
	finish()
}

// sparse multiplies listed rows by a panel of four vectors' width.
func sparse(t number) {
	const vectors, together = 4, 2
	name := "sparse" + t.suffix
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

// elementary are σ(z) and log(1 + eᶻ). c has vectors of constants: those before `horner`, then coefficients of a
// polynomial from the highest power on.
func elementary(t number, terms, logTerms int) {
	const log2e, high, low, most, least, one, two, horner = 0, 1, 2, 3, 4, 5, 6, 7
	round, integer, shift, add, fma, subtract, bits := VROUNDPD, VCVTPD2DQY, VPSLLQ, VPADDQ, VFMADD213PD, VFNMADD231PD, 52
	least2 := VMINPD
	if t.elem == single.elem {
		round, integer, shift, add, fma, subtract, bits = VROUNDPS, VCVTPS2DQ, VPSLLD, VPADDD, VFMADD213PS, VFNMADD231PS, 23
		least2 = VMINPS
	}
	table := func() (constant func(k int) Mem) {
		c := pointer("c")
		return func(k int) Mem { return at(c, 32*k) }
	}
	polynomial := func(constant func(k int) Mem, first, n int, x VecVirtual) VecVirtual {
		p := YMM()
		t.load(constant(first), p)
		for k := 1; k < n; k++ {
			fma(constant(first+k), x, p)
		}
		return p
	}
	begin("sigmoid"+t.suffix, "func(out, z, c *"+t.elem+", n int)", "sigmoid"+t.suffix+" is out = 1/(1 + exp(−z)).")
	out, z, constant := pointer("out"), pointer("z"), table()
	over(t, 1, []GPVirtual{out, z}, func(m memory, o int) {
		x, n, limit := YMM(), YMM(), YMM()
		m.load(z, o, n)
		t.xor(x, x, x)
		t.sub(n, x, x)
		t.load(constant(most), limit) // this order keeps NaN
		least2(x, limit, x)
		t.load(constant(least), limit)
		t.max(x, limit, x)
		t.mul(constant(log2e), x, n)
		round(Imm(8), n, n)
		subtract(constant(high), n, x)
		subtract(constant(low), n, x)
		p := polynomial(constant, horner, terms, x)
		if t.elem == double.elem {
			half := XMM()
			integer(n, half)
			VPMOVSXDQ(half, n)
		} else {
			integer(n, n)
		}
		shift(Imm(uint64(bits)), n, n)
		add(n, p, p)
		t.load(constant(one), x)
		t.add(x, p, p)
		t.div(p, x, x)
		m.store(out, o, x)
	})
	finish()
	begin("softplus"+t.suffix, "func(out, z, s, c *"+t.elem+", n int)", "softplus"+t.suffix+" is out = log(1 + exp(z)) = max(z, 0) + 2 artanh(w), w = q/(2 − q), q = min(s, 1 − s), with s = σ(z).")
	out, z, constant = pointer("out"), pointer("z"), table()
	s := pointer("s")
	over(t, 1, []GPVirtual{out, z, s}, func(m memory, o int) {
		q, w, u, v := YMM(), YMM(), YMM(), YMM()
		m.load(s, o, w)
		t.load(constant(one), q)
		t.sub(w, q, q)
		least2(q, w, q)
		t.load(constant(two), w)
		t.sub(q, w, w)
		t.div(w, q, w)
		t.mul(w, w, u)
		p := polynomial(constant, horner+terms, logTerms, u)
		m.load(z, o, v)
		t.xor(u, u, u)
		t.max(v, u, v)
		t.fma(w, p, v)
		m.store(out, o, v)
	})
	finish()
}

func main() {
	ConstraintExpr("amd64")
	masks = GLOBL("masks", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(map[bool]uint64{true: 1<<64 - 1}[i < 4]))
	}
	for _, t := range []number{double, single} {
		binary(t, "add", "out = x + y.", func(x, y VecVirtual) { t.add(y, x, x) })
		binary(t, "mul", "out = x y.", func(x, y VecVirtual) { t.mul(y, x, x) })
		adam(t)
		sparse(t)
	}
	elementary(double, 14, 18)
	elementary(single, 8, 8)
	Generate()
}
