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
	loadMasked, fmaBroadcast          op
}

var double = number{
	elem: "float64", suffix: "F64", size: 8, lanes: 4,
	load: VMOVUPD, store: VMOVUPD, add: VADDPD, sub: VSUBPD, mul: VMULPD, max: VMAXPD, and: VANDPD, xor: VXORPD,
	fma: VFMADD231PD, compare: VCMPPD, broadcast: VBROADCASTSD,
	div: VDIVPD, sqrt: VSQRTPD, loadMasked: func(o ...Op) { VMOVUPD_Z(o[0], o[1], o[2]) }, fmaBroadcast: VFMADD231PD_BCST,
}

var single = number{
	elem: "float32", suffix: "F32", size: 4, lanes: 8,
	load: VMOVUPS, store: VMOVUPS, add: VADDPS, sub: VSUBPS, mul: VMULPS, max: VMAXPS, and: VANDPS, xor: VXORPS,
	fma: VFMADD231PS, compare: VCMPPS, broadcast: VBROADCASTSS,
	div: VDIVPS, sqrt: VSQRTPS, loadMasked: func(o ...Op) { VMOVUPS_Z(o[0], o[1], o[2]) }, fmaBroadcast: VFMADD231PS_BCST,
}

const unroll = 4

// zeroSubnormals are the bits of MXCSR by which results and operands that are subnormal count as 0.
const zeroSubnormals = 1<<15 | 1<<6

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
	low := t.horizontal(sums[0], XMM())
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
// the results are the same to the bit. Subnormal numbers are taken for 0 while it runs: the
// moments of a unit that has no gradient any more shrink until they are such, which some
// processors multiply a hundred times slower.
func adam(t number) {
	TEXT("adam"+t.suffix, NOSPLIT, "func(w, m, v, slope *"+t.elem+", c *[6]"+t.elem+", n int)")
	Pragma("noescape")
	Doc("adam"+t.suffix+" is m = c0 m + c1 slope, v = c2 v + (c3 slope) slope, w = w - c4 m / (√v + c5),", "with 0 in place of subnormal numbers.")
	before, within := AllocLocal(4), AllocLocal(4)
	control := GP32()
	STMXCSR(before)
	MOVL(before, control)
	ORL(U32(zeroSubnormals), control)
	MOVL(control, within)
	LDMXCSR(within)
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
	LDMXCSR(before)
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

// sparse multiplies listed rows by some vectors' width of a panel; wide, by four vectors of 64 bytes,
// with offsets half as large as they are (AVX-512).
func sparse(t number, vectors int, wide bool) {
	together, name, bytes, scale, vector := 8/vectors, fmt.Sprintf("sparse%d%s", vectors, t.suffix), 32, uint8(1), YMM
	if wide {
		together, name, bytes, scale, vector = 2, "sparseWide"+t.suffix, 64, 2, ZMM
	}
	TEXT(name, NOSPLIT, "func(out, panel, values *"+t.elem+", offsets *uint32, counts *int, rows, space, stride int)")
	Pragma("noescape")
	Doc(name+" is out_i = Σ_t values_it panel[offsets_it], "+fmt.Sprint(vectors*bytes/t.size)+" columns.",
		"Lists have room for space entries; stride is between rows of out, in bytes; so are the offsets.")
	out, panel, values, offsets, counts, rows := pointer("out"), pointer("panel"), pointer("values"), pointer("offsets"), pointer("counts"), pointer("rows")
	acc := make([]VecVirtual, vectors*together)
	for i := range acc {
		acc[i] = vector()
	}
	value, offset, left, v, o := GP64(), GP64(), GP64(), vector(), GP32()
	entry := func(u int) {
		MOVL(at(offset, 4*u), o)
		t.broadcast(at(value, t.size*u), v)
		for j := range vectors {
			t.fma(Mem{Base: panel, Index: o.As64(), Scale: scale, Disp: bytes * j}, v, acc[u*vectors+j])
		}
	}
	Label("row")
	TESTQ(rows, rows)
	JE(LabelRef("done"))
	MOVQ(at(counts, 0), left)
	MOVQ(values, value)
	MOVQ(offsets, offset)
	for _, a := range acc {
		if wide {
			VPXORQ(a, a, a)
		} else {
			t.xor(a, a, a)
		}
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
		t.store(acc[j], at(out, bytes*j))
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

// strided are addresses in rows. at moves them to a column.
type strided struct {
	stride   GPVirtual
	from, to []GPVirtual // of rows 0, 3, 6 …
}

func rowsFrom(p, stride GPVirtual, rows int) (s strided) {
	s.stride = stride
	for i := 0; i < rows; i += 3 {
		s.to = append(s.to, GP64())
		if i == 0 {
			s.from = append(s.from, p)
			continue
		}
		next := GP64()
		LEAQ(Mem{Base: s.from[len(s.from)-1], Index: stride, Scale: 2}, next)
		ADDQ(stride, next)
		s.from = append(s.from, next)
	}
	return s
}

func (s strided) at(offset GPVirtual) {
	for i, p := range s.from {
		LEAQ(Mem{Base: p, Index: offset, Scale: 1}, s.to[i])
	}
}

func (s strided) row(p []GPVirtual, i, offset int) Mem {
	m := Mem{Base: p[i/3], Disp: offset}
	if i%3 > 0 {
		m.Index, m.Scale = s.stride, uint8(i%3)
	}
	return m
}

// places goes through pairs of offsets (of a column in a row, of its row in a matrix),
// so many at once.
func places(together int, body func(u int, column, row GPVirtual)) {
	place, count := pointer("places"), pointer("count")
	column, row := GP64(), GP64()
	loop := func(label, after string, together int) {
		Label(label)
		CMPQ(count, Imm(uint64(together)))
		JL(LabelRef(after))
		for u := range together {
			MOVL(at(place, 8*u), column.As32())
			MOVL(at(place, 8*u+4), row.As32())
			body(u, column, row)
		}
		ADDQ(Imm(uint64(8*together)), place)
		SUBQ(Imm(uint64(together)), count)
		JMP(LabelRef(label))
	}
	if together > 1 {
		loop("several", "single", together)
	}
	loop("single", "after", 1)
	Label("after")
}

// across multiplies listed columns of some rows by the matrix's rows (AVX-512).
func across(t number, rows, vectors int) {
	name := fmt.Sprintf("across%dx%d%s", rows, vectors, t.suffix)
	TEXT(name, NOSPLIT, "func(out, start, b, x *"+t.elem+", places *[2]uint32, count, outStride, xStride int, last uint16)")
	Pragma("noescape")
	Doc(name+fmt.Sprintf(" is out_i = start + Σ_p x_i[p0] b[p1] for %d rows i, %d vectors wide,", rows, vectors),
		"of the last the numbers in the mask only. Offsets and strides are in bytes.")
	mask := K()
	KMOVW(parameter("last"), mask)
	load := func(m Mem, v int, to VecVirtual) {
		if v == vectors-1 {
			t.loadMasked(m, mask, to)
		} else {
			t.load(m, to)
		}
	}
	start, b := pointer("start"), pointer("b")
	acc := make([]VecVirtual, rows*vectors)
	for v := range vectors {
		for i := range rows {
			acc[i*vectors+v] = ZMM()
			load(at(start, 64*v), v, acc[i*vectors+v])
		}
	}
	x := rowsFrom(pointer("x"), pointer("xStride"), rows)
	chains := max(1, 4/rows) // sums that do not wait for each other
	for i := rows * vectors; i < chains*rows*vectors; i++ {
		acc = append(acc, ZMM())
		VPXORQ(acc[i], acc[i], acc[i])
	}
	places(chains, func(u int, column, row GPVirtual) {
		x.at(column)
		for v := range vectors {
			y := ZMM()
			load(Mem{Base: b, Index: row, Scale: 1, Disp: 64 * v}, v, y)
			for i := range rows {
				t.fmaBroadcast(x.row(x.to, i, 0), y, acc[(u*rows+i)*vectors+v])
			}
		}
	})
	for i := rows * vectors; i < len(acc); i++ {
		t.add(acc[i], acc[i%(rows*vectors)], acc[i%(rows*vectors)])
	}
	out := rowsFrom(pointer("out"), pointer("outStride"), rows)
	for v := range vectors {
		for i := range rows {
			m := out.row(out.from, i, 64*v)
			if v == vectors-1 {
				t.store(acc[i*vectors+v], mask, m)
			} else {
				t.store(acc[i*vectors+v], m)
			}
		}
	}
	VZEROUPPER()
	RET()
}

// down adds listed columns of some rows times other rows to the matrix's rows (AVX-512).
func down(t number, rows, vectors int) {
	name := fmt.Sprintf("down%dx%d%s", rows, vectors, t.suffix)
	TEXT(name, NOSPLIT, "func(out, y, x *"+t.elem+", places *[2]uint32, count, yStride, xStride int, last uint16)")
	Pragma("noescape")
	Doc(name+fmt.Sprintf(" is out[p1] = out[p1] + Σ_i x_i[p0] y_i for %d rows i, %d vectors wide,", rows, vectors),
		"of the last the numbers in the mask only. Offsets and strides are in bytes.")
	mask := K()
	KMOVW(parameter("last"), mask)
	load := func(m Mem, v int, to VecVirtual) {
		if v == vectors-1 {
			t.loadMasked(m, mask, to)
		} else {
			t.load(m, to)
		}
	}
	y := rowsFrom(pointer("y"), pointer("yStride"), rows)
	held := make([]VecVirtual, rows*vectors)
	for v := range vectors {
		for i := range rows {
			held[i*vectors+v] = ZMM()
			load(y.row(y.from, i, 64*v), v, held[i*vectors+v])
		}
	}
	out := pointer("out")
	x := rowsFrom(pointer("x"), pointer("xStride"), rows)
	places(1, func(_ int, column, row GPVirtual) {
		x.at(column)
		for v := range vectors {
			sum, m := ZMM(), Mem{Base: out, Index: row, Scale: 1, Disp: 64 * v}
			load(m, v, sum)
			for i := range rows {
				t.fmaBroadcast(x.row(x.to, i, 0), held[i*vectors+v], sum)
			}
			if v == vectors-1 {
				t.store(sum, mask, m)
			} else {
				t.store(sum, m)
			}
		}
	})
	VZEROUPPER()
	RET()
}

// upTo runs body for n vectors of 64 bytes, at least one, the last with the numbers of
// the mask only; next goes on to the next vector.
func (t number) upTo(n GPVirtual, last Register, body func(load func(GPVirtual, VecVirtual), store func(VecVirtual, GPVirtual)), next func()) {
	Label("loop")
	CMPQ(n, Imm(1))
	JE(LabelRef("end"))
	body(func(p GPVirtual, v VecVirtual) { t.load(at(p, 0), v) }, func(v VecVirtual, p GPVirtual) { t.store(v, at(p, 0)) })
	next()
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("end")
	body(func(p GPVirtual, v VecVirtual) { t.loadMasked(at(p, 0), last, v) }, func(v VecVirtual, p GPVirtual) { t.store(v, last, at(p, 0)) })
}

// differs marks the columns in which a row differs from the first (AVX-512).
func differs(t number) {
	TEXT("differs"+t.suffix, NOSPLIT, "func(marks *uint8, first, x *"+t.elem+", n int, last uint16) int")
	Pragma("noescape")
	Doc("differs"+t.suffix+" marks the numbers of x that differ from first's and counts them: a bit of marks",
		"each; n vectors, of the last the numbers in the mask only.")
	marks, first, x, n := pointer("marks"), pointer("first"), pointer("x"), pointer("n")
	last, different := K(), K()
	KMOVW(parameter("last"), last)
	count, bits := GP64(), GP32()
	XORQ(count, count)
	v, w := ZMM(), ZMM()
	mark := func() {
		if t.lanes == 4 {
			VCMPPD(Imm(4), w, v, different)
		} else {
			VCMPPS(Imm(4), w, v, different)
		}
		KMOVW(different, bits)
		if t.lanes == 4 {
			MOVB(bits.As8(), at(marks, 0))
		} else {
			MOVW(bits.As16(), at(marks, 0))
		}
		POPCNTL(bits, bits)
		ADDQ(bits.As64(), count)
	}
	t.upTo(n, last, func(load func(GPVirtual, VecVirtual), _ func(VecVirtual, GPVirtual)) {
		load(first, v)
		load(x, w)
		mark()
	}, func() {
		ADDQ(Imm(uint64(8/t.size)), marks)
		ADDQ(Imm(64), first)
		ADDQ(Imm(64), x)
	})
	Store(count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// split lists columns (AVX-512).
func split() {
	TEXT("split", NOSPLIT, "func(marked, others *[2]uint32, marks *uint8, first *[9][2]uint32, n int) int")
	Pragma("noescape")
	Doc("split lists the places of the columns that are marked and of the others, and counts the former;",
		"first are those of the first eight columns, and what eight columns add. There are n times eight.")
	marked, others, marks, first, n := pointer("marked"), pointer("others"), pointer("marks"), pointer("first"), pointer("n")
	place, step, some := ZMM(), ZMM(), ZMM()
	VMOVDQU64(at(first, 0), place)
	VPBROADCASTQ(at(first, 64), step)
	k, other := K(), K()
	bits, count := GP32(), GP64()
	XORQ(count, count)
	Label("loop")
	TESTQ(n, n)
	JE(LabelRef("done"))
	MOVBLZX(at(marks, 0), bits)
	KMOVW(bits, k)
	KNOTB(k, other)
	VPCOMPRESSQ_Z(place, k, some)
	VMOVDQU64(some, at(marked, 0))
	VPCOMPRESSQ_Z(place, other, some)
	VMOVDQU64(some, at(others, 0))
	POPCNTL(bits, bits)
	ADDQ(bits.As64(), count)
	LEAQ(Mem{Base: marked, Index: bits.As64(), Scale: 8}, marked)
	NEGQ(bits.As64())
	LEAQ(Mem{Base: others, Index: bits.As64(), Scale: 8, Disp: 64}, others)
	VPADDD(step, place, place)
	INCQ(marks)
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("done")
	Store(count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// seen is the plain loop of seen.go: see there.
func seen() {
	TEXT("seenF64", NOSPLIT, "func(x, mask, values *float64, observed *bool, n int)")
	Pragma("noescape")
	Doc("seenF64 is x = values where observed, else 0, and mask = 1 or 0; n is a multiple of 4.")
	x, mask, values, observed, n := pointer("x"), pointer("mask"), pointer("values"), pointer("observed"), pointer("n")
	one, zero, v, w := YMM(), YMM(), YMM(), YMM()
	VPCMPEQQ(one, one, one)
	VPSRLQ(Imm(54), one, one)
	VPSLLQ(Imm(52), one, one) // the bits of 1.0
	VPXOR(zero, zero, zero)
	Label("loop")
	CMPQ(n, U8(4))
	JL(LabelRef("done"))
	VPMOVZXBQ(at(observed, 0), v)
	VPSUBQ(v, zero, v)
	VPAND(at(values, 0), v, w)
	VMOVUPD(w, at(x, 0))
	VPAND(one, v, v)
	VMOVUPD(v, at(mask, 0))
	for _, p := range []GPVirtual{x, mask, values} {
		ADDQ(U8(32), p)
	}
	ADDQ(U8(4), observed)
	SUBQ(U8(4), n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// scatter is the plain loop of scatter.go: see there.
func scatter(t number) {
	TEXT("scatter"+t.suffix, NOSPLIT, "func(out, row, mean, sd, z *"+t.elem+", bits *uint8, rows, n, ahead int, last uint16)")
	Pragma("noescape")
	Doc("scatter"+t.suffix+" is each of the rows out = row with mean + sd z where bits say, z's numbers in turn;",
		"n vectors, of the last the numbers in the mask only, and ahead bytes from there to the next row.",
		"It reads a vector of z behind the last.")
	out, z, rows := pointer("out"), pointer("z"), pointer("rows")
	row, mean, sd, bits, n := GP64(), GP64(), GP64(), GP64(), GP64()
	last, k := K(), K()
	KMOVW(parameter("last"), last)
	v, w, count := ZMM(), ZMM(), GP32()
	Label("row")
	MOVQ(parameter("row"), row)
	MOVQ(parameter("mean"), mean)
	MOVQ(parameter("sd"), sd)
	MOVQ(parameter("bits"), bits)
	MOVQ(parameter("n"), n)
	draw := func() {
		POPCNTL(count, count)
		LEAQ(Mem{Base: z, Index: count.As64(), Scale: uint8(t.size)}, z)
	}
	t.upTo(n, last, func(load func(GPVirtual, VecVirtual), store func(VecVirtual, GPVirtual)) {
		if t.lanes == 4 {
			MOVBLZX(at(bits, 0), count)
		} else {
			MOVWLZX(at(bits, 0), count)
		}
		KMOVW(count, k)
		t.load(at(z, 0), v)
		if t.lanes == 4 {
			VEXPANDPD_Z(v, k, v)
		} else {
			VEXPANDPS_Z(v, k, v)
		}
		load(sd, w)
		t.mul(w, v, v)
		load(mean, w)
		t.add(w, v, v)
		load(row, w)
		if t.lanes == 4 {
			VMOVAPD(v, k, w)
		} else {
			VMOVAPS(v, k, w)
		}
		store(w, out)
	}, func() {
		draw()
		ADDQ(Imm(uint64(8/t.size)), bits)
		for _, p := range []GPVirtual{out, row, mean, sd} {
			ADDQ(Imm(64), p)
		}
	})
	draw()
	ADDQ(parameter("ahead"), out)
	DECQ(rows)
	JNE(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// gaps is the plain loop of scatter.go: see there (AVX-512).
func gaps() {
	TEXT("gaps", NOSPLIT, "func(places *int, bits *uint8, mask *float64, first *[9]int, n int, last uint16) int")
	Pragma("noescape")
	Doc("gaps lists the places where mask is 0 and counts them, with a bit each; n vectors, of the last the",
		"numbers in the mask only. first are the first eight places, and what a vector adds.")
	places, bits, mask, first, n := pointer("places"), pointer("bits"), pointer("mask"), pointer("first"), pointer("n")
	last, k := K(), K()
	KMOVW(parameter("last"), last)
	place, step, zero, v, some := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(at(first, 0), place)
	VPBROADCASTQ(at(first, 64), step)
	VPXORQ(zero, zero, zero)
	count, here := GP64(), GP32()
	XORQ(count, count)
	list := func() {
		KMOVW(k, here)
		MOVB(here.As8(), at(bits, 0))
		VPCOMPRESSQ_Z(place, k, some)
		VMOVDQU64(some, Mem{Base: places, Index: count, Scale: 8})
		POPCNTL(here, here)
		ADDQ(here.As64(), count)
	}
	Label("loop")
	CMPQ(n, Imm(1))
	JE(LabelRef("end"))
	VMOVUPD(at(mask, 0), v)
	VCMPPD(Imm(0), zero, v, k)
	list()
	VPADDQ(step, place, place)
	ADDQ(Imm(64), mask)
	INCQ(bits)
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("end")
	VMOVUPD_Z(at(mask, 0), last, v)
	VCMPPD(Imm(0), zero, v, last, k)
	list()
	Store(count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// normals is the plain loop of normals.go: see there.
func normals() {
	const (
		half = iota
		one
		unit31
		root
		log0
	)
	const (
		ln2Low = log0 + 9 + iota
		ln2High
		minusTwo
		quarter
		sin0
		sin1
		sin2
		cos0
		cos1
		cos2
		sign
	)
	TEXT("normalsF32", NOSPLIT, "func(dst *float32, s, c *uint32, n int)")
	Pragma("noescape")
	Doc("normalsF32 fills n blocks of 16 normals.")
	dst, s, c, n := pointer("dst"), pointer("s"), pointer("c"), pointer("n")
	constant := func(k int) Mem { return at(c, 32*k) }
	var state [4]VecVirtual
	for k := range state {
		state[k] = YMM()
		VMOVDQU(at(s, 32*k), state[k])
	}
	rotate := func(x VecVirtual, k uint8) {
		t := YMM()
		VPSLLD(Imm(uint64(k)), x, t)
		VPSRLD(Imm(uint64(32-k)), x, x)
		VPOR(t, x, x)
	}
	word := func() VecVirtual {
		w, t := YMM(), YMM()
		VPADDD(state[0], state[3], w)
		rotate(w, 7)
		VPADDD(state[0], w, w)
		VPSLLD(Imm(9), state[1], t)
		VPXOR(state[0], state[2], state[2])
		VPXOR(state[1], state[3], state[3])
		VPXOR(state[2], state[1], state[1])
		VPXOR(state[3], state[0], state[0])
		VPXOR(t, state[2], state[2])
		rotate(state[3], 11)
		return w
	}
	// A block waits for its logarithm's polynomial: two at a time fill its pauses.
	blocks := func(many int) {
		type vectors []VecVirtual
		some := func() (v vectors) {
			for range many {
				v = append(v, YMM())
			}
			return v
		}
		each := func(f op, operands ...any) {
			for i := range many {
				var ops []Op
				for _, o := range operands {
					if v, ok := o.(vectors); ok {
						o = v[i]
					}
					ops = append(ops, o.(Op))
				}
				f(ops...)
			}
		}
		var u, b vectors
		for range many {
			u = append(u, word())
			b = append(b, word())
		}
		blend := func(o ...Op) { VBLENDVPS(o[0], o[1], o[2], o[3]) }
		and := func(o ...Op) { VPAND(o[0], o[1], o[2]) }

		each(VPSRLD, Imm(1), u, u)
		each(VCVTDQ2PS, u, u)
		each(VADDPS, constant(half), u, u)
		each(VMULPS, constant(unit31), u, u)
		e, t := some(), some()
		each(VPSUBD, constant(root), u, e)
		each(VPSRAD, Imm(23), e, e)
		each(VPSLLD, Imm(23), e, t)
		m := u
		each(VPSUBD, t, u, m)
		each(VSUBPS, constant(one), m, m)
		y := some()
		each(VMOVUPS, constant(log0), y)
		for k := log0 + 1; k < log0+9; k++ {
			each(VMULPS, m, y, y)
			each(VADDPS, constant(k), y, y)
		}
		each(VMULPS, m, y, y)
		each(VMULPS, m, m, t)
		each(VMULPS, t, y, y)
		each(VMULPS, constant(half), t, t)
		each(VCVTDQ2PS, e, e)
		low := some()
		each(VMULPS, constant(ln2Low), e, low)
		each(VADDPS, low, y, y)
		each(VSUBPS, t, y, y)
		each(VADDPS, y, m, y)
		each(VMULPS, constant(ln2High), e, e)
		each(VADDPS, e, y, y)
		each(VMULPS, constant(minusTwo), y, y)
		each(VSQRTPS, y, y)

		angle, z, sin, cos := some(), some(), some(), some()
		each(VPSLLD, Imm(2), b, angle)
		each(VCVTDQ2PS, angle, angle)
		each(VMULPS, constant(quarter), angle, angle)
		each(VMULPS, angle, angle, z)
		for _, p := range []struct {
			v     vectors
			first int
		}{{sin, sin0}, {cos, cos0}} {
			each(VMULPS, constant(p.first+2), z, p.v)
			each(VADDPS, constant(p.first+1), p.v, p.v)
			each(VMULPS, z, p.v, p.v)
			each(VADDPS, constant(p.first), p.v, p.v)
			each(VMULPS, z, p.v, p.v)
		}
		each(VMULPS, angle, sin, sin)
		each(VADDPS, angle, sin, sin)
		each(VMULPS, z, cos, cos)
		each(VMULPS, constant(half), z, z)
		each(VSUBPS, z, cos, cos)
		each(VADDPS, constant(one), cos, cos)
		each(and, constant(sign), b, z)
		each(VXORPS, z, cos, cos)
		each(VPSLLD, Imm(1), b, b)
		each(blend, b, sin, cos, angle)
		each(blend, b, cos, sin, z)
		each(VMULPS, y, angle, angle)
		each(VMULPS, y, z, z)
		for i := range many {
			VMOVUPS(angle[i], at(dst, 64*i))
			VMOVUPS(z[i], at(dst, 64*i+32))
		}
		ADDQ(U8(64*many), dst)
		SUBQ(U8(many), n)
	}
	Label("two")
	CMPQ(n, U8(2))
	JL(LabelRef("one"))
	blocks(2)
	JMP(LabelRef("two"))
	Label("one")
	TESTQ(n, n)
	JE(LabelRef("done"))
	blocks(1)
	Label("done")
	for k := range state {
		VMOVDQU(state[k], at(s, 32*k))
	}
	VZEROUPPER()
	RET()
}

// tile is the address of element (row, column) of a tile: 4 by 4 of eight numbers, those of
// eight matrices.
func tile(p GPVirtual, row, column int) Mem { return at(p, 64*(4*row+column)) }

// tiles subtracts products of tiles (AVX-512).
func tiles() {
	TEXT("tilesF64", NOSPLIT, "func(a, w, u *float64, n int)")
	Pragma("noescape")
	Doc("tilesF64 is a = a − wᵀ uᵀ of n tiles a and u, one after the other, and one tile w.")
	a, w, u, n := pointer("a"), pointer("w"), pointer("u"), pointer("n")
	var held [4][4]VecVirtual // of wᵀ
	for i := range 4 {
		for k := range 4 {
			held[i][k] = ZMM()
			VMOVUPD(tile(w, k, i), held[i][k])
		}
	}
	Label("loop")
	TESTQ(n, n)
	JE(LabelRef("done"))
	for j := range 4 {
		var column [4]VecVirtual
		for k := range 4 {
			column[k] = ZMM()
			VMOVUPD(tile(u, j, k), column[k])
		}
		var sum [4]VecVirtual
		for i := range 4 {
			sum[i] = ZMM()
			VMOVUPD(tile(a, i, j), sum[i])
		}
		for k := range 4 {
			for i := range 4 {
				VFNMADD231PD(column[k], held[i][k], sum[i])
			}
		}
		for i := range 4 {
			VMOVUPD(sum[i], tile(a, i, j))
		}
	}
	ADDQ(U32(1024), a)
	ADDQ(U32(1024), u)
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// turnTiles transposes tiles (AVX-512).
func turnTiles() {
	TEXT("turnTilesF64", NOSPLIT, "func(to, from *float64, n int)")
	Pragma("noescape")
	Doc("turnTilesF64 is to = fromᵀ of n tiles, one after the other.")
	to, from, n := pointer("to"), pointer("from"), pointer("n")
	v := ZMM()
	Label("loop")
	TESTQ(n, n)
	JE(LabelRef("done"))
	for i := range 4 {
		for j := range 4 {
			VMOVUPD(tile(from, i, j), v)
			VMOVUPD(v, tile(to, j, i))
		}
	}
	ADDQ(U32(1024), to)
	ADDQ(U32(1024), from)
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// pivotTile sweeps a tile (AVX-512).
func pivotTile() {
	TEXT("pivotTileF64", NOSPLIT, "func(a, pivots, one *float64)")
	Pragma("noescape")
	Doc("pivotTileF64 is a = −a⁻¹ of a symmetric tile, by its four pivots, which it leaves; one is 1.")
	a, pivots, constant := pointer("a"), pointer("pivots"), pointer("one")
	one := ZMM()
	VBROADCASTSD(at(constant, 0), one)
	var x [4][4]VecVirtual // j ≤ i
	for i := range 4 {
		for j := range i + 1 {
			x[i][j] = ZMM()
			VMOVUPD(tile(a, i, j), x[i][j])
		}
	}
	of := func(i, j int) VecVirtual { return x[max(i, j)][min(i, j)] }
	for k := range 4 {
		VMOVUPD(of(k, k), at(pivots, 64*k))
		sweep(of, k, one)
	}
	for i := range 4 {
		for j := range 4 {
			VMOVUPD(of(i, j), tile(a, i, j))
		}
	}
	VZEROUPPER()
	RET()
}

// sweep sweeps pivot k of a tile (AVX-512).
func sweep(of func(i, j int) VecVirtual, k int, one VecVirtual) {
	inverse, zero := ZMM(), ZMM()
	VDIVPD(of(k, k), one, inverse)
	var others []int
	var slope [4]VecVirtual
	for i := range 4 {
		if i != k {
			others = append(others, i)
			slope[i] = ZMM()
			VMULPD(of(i, k), inverse, slope[i])
		}
	}
	for _, i := range others {
		for _, j := range others {
			if j <= i {
				VFNMADD231PD(slope[i], of(j, k), of(i, j))
			}
		}
	}
	for _, i := range others {
		VMOVAPD(slope[i], of(i, k))
	}
	VPXORQ(zero, zero, zero)
	VSUBPD(inverse, zero, of(k, k))
}

// applyTiles multiplies a row of tiles and a vector (AVX-512).
func applyTiles() {
	TEXT("applyTilesF64", NOSPLIT, "func(to, a, from, own, ownFrom *float64, n int)")
	Pragma("noescape")
	Doc("applyTilesF64 is own = own + Σ a from and to = to + aᵀ ownFrom of n tiles a, the first ones of a",
		"row of tiles, and as many times four vectors from and to; own and ownFrom are four vectors.")
	to, a, from, own, ownFrom, n := pointer("to"), pointer("a"), pointer("from"), pointer("own"), pointer("ownFrom"), pointer("n")
	var sum, x [4]VecVirtual
	for i := range 4 {
		sum[i], x[i] = ZMM(), ZMM()
		VMOVUPD(at(own, 64*i), sum[i])
		VMOVUPD(at(ownFrom, 64*i), x[i])
	}
	Label("loop")
	TESTQ(n, n)
	JE(LabelRef("done"))
	for j := range 4 {
		v, w := ZMM(), ZMM()
		VMOVUPD(at(from, 64*j), v)
		VMOVUPD(at(to, 64*j), w)
		for i := range 4 {
			element := ZMM()
			VMOVUPD(tile(a, i, j), element)
			VFMADD231PD(element, v, sum[i])
			VFMADD231PD(element, x[i], w)
		}
		VMOVUPD(w, at(to, 64*j))
	}
	ADDQ(U32(1024), a)
	ADDQ(U32(256), from)
	ADDQ(U32(256), to)
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("done")
	for i := range 4 {
		VMOVUPD(sum[i], at(own, 64*i))
	}
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
		differs(t)
		scatter(t)
		groups(t)
		for _, rows := range []int{1, 2, 5, 10} {
			for vectors := range 2 {
				across(t, rows, vectors+1)
				down(t, rows, vectors+1)
			}
		}
		for vectors := range 4 {
			sparse(t, vectors+1, false)
		}
		sparse(t, 4, true)
	}
	convert()
	transpose()
	split()
	seen()
	gaps()
	softmax()
	normals()
	tiles()
	turnTiles()
	pivotTile()
	applyTiles()
	Generate()
}
