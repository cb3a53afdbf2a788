package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Kernels over n groups of r rows of numbers, one row after the other: x is (n·r, m), c (n, m) and
// w (n·r). A row has whole bytes in vectors and behind them tail bytes, which the mask has. Loads of
// the tail are masked. A store writes the whole vector, of which later rows then overwrite what is not
// the row's own; it is masked in the careful last rows only, for such stores are slow on some
// processors.

// scalars are the operations on one number.
type scalars struct{ load, add, mul, store op }

func (t number) scalars() scalars {
	if t.lanes == 4 {
		return scalars{VMOVSD, VADDSD, VMULSD, VMOVSD}
	}
	return scalars{VMOVSS, VADDSS, VMULSS, VMOVSS}
}

func (t number) masked(from, mask, to Op) {
	if t.lanes == 4 {
		VMASKMOVPD(from, mask, to)
	} else {
		VMASKMOVPS(from, mask, to)
	}
}

func indexed(p, index GPVirtual, offset int) Mem {
	return Mem{Base: p, Index: index, Scale: 1, Disp: offset}
}

func tailMask() VecVirtual {
	mask := YMM()
	VMOVUPS(at(pointer("mask"), 0), mask)
	return mask
}

// columns runs body for each whole vector of a row, by column j in bytes, from 0 on.
func columns(whole, j GPVirtual, body func(offset int)) {
	left := GP64()
	XORQ(j, j)
	MOVQ(whole, left)
	Label("many")
	CMPQ(left, U32(unroll*32))
	JL(LabelRef("one"))
	for u := range unroll {
		body(u * 32)
	}
	ADDQ(U32(unroll*32), j)
	SUBQ(U32(unroll*32), left)
	JMP(LabelRef("many"))
	Label("one")
	TESTQ(left, left)
	JE(LabelRef("behind"))
	body(0)
	ADDQ(U8(32), j)
	SUBQ(U8(32), left)
	JMP(LabelRef("one"))
	Label("behind")
}

// eachNumber sets each number of out (n·r, m) to a function of those of c, w and x.
func eachNumber(t number, name, doc string, withW, withX bool, prepare func(w VecVirtual), element func(c, w, x, v VecVirtual)) {
	TEXT(name+t.suffix, NOSPLIT, "func(out, c, w, x *"+t.elem+", n, r, whole, tail, careful int, mask *uint32)")
	Pragma("noescape")
	Doc(name + t.suffix + " is " + doc)
	mask := tailMask()
	out, c, w, x := pointer("out"), pointer("c"), pointer("w"), pointer("x")
	n, r, whole, tail := pointer("n"), pointer("r"), pointer("whole"), pointer("tail")
	rows, j, k := GP64(), GP64(), GP64()
	MOVQ(n, rows)
	IMULQ(r, rows)
	factor := YMM()
	Label("group")
	TESTQ(n, n)
	JE(LabelRef("done"))
	MOVQ(r, k)
	Label("row")
	if withW {
		t.broadcast(at(w, 0), factor)
		prepare(factor)
		ADDQ(U8(t.size), w)
	}
	vector := func(load func(p GPVirtual, v VecVirtual)) (v VecVirtual) {
		v = YMM()
		cs, xs := YMM(), YMM()
		load(c, cs)
		if withX {
			load(x, xs)
		}
		element(cs, factor, xs, v)
		return v
	}
	columns(whole, j, func(offset int) {
		v := vector(func(p GPVirtual, v VecVirtual) { t.load(indexed(p, j, offset), v) })
		t.store(v, indexed(out, j, offset))
	})
	TESTQ(tail, tail)
	JE(LabelRef("next"))
	v := vector(func(p GPVirtual, v VecVirtual) { t.masked(indexed(p, j, 0), mask, v) })
	CMPQ(rows, parameter("careful"))
	JLE(LabelRef("last"))
	t.store(v, indexed(out, j, 0))
	JMP(LabelRef("next"))
	Label("last")
	t.masked(v, mask, indexed(out, j, 0))
	Label("next")
	ADDQ(tail, j)
	ADDQ(j, out)
	if withX {
		ADDQ(j, x)
	}
	DECQ(rows)
	DECQ(k)
	JNE(LabelRef("row"))
	ADDQ(j, c)
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

// rowSums sums each row's products with its group's c, in the order of dot: by vectors, then the tail
// by itself.
func rowSums(t number, name, doc string, squared bool) {
	TEXT(name+t.suffix, NOSPLIT, "func(out, c, x *"+t.elem+", n, r, whole, tail int)")
	Pragma("noescape")
	Doc(name + t.suffix + " is " + doc)
	out, c, x := pointer("out"), pointer("c"), pointer("x")
	n, r, whole, tail := pointer("n"), pointer("r"), pointer("whole"), pointer("tail")
	j, k, left := GP64(), GP64(), GP64()
	var sums [unroll]VecVirtual
	for u := range sums {
		sums[u] = YMM()
	}
	one := t.scalars()
	total, high, number := XMM(), XMM(), XMM()
	Label("group")
	TESTQ(n, n)
	JE(LabelRef("done"))
	MOVQ(r, k)
	Label("row")
	for u := range sums {
		t.xor(sums[u], sums[u], sums[u])
	}
	columns(whole, j, func(offset int) {
		v := YMM()
		t.load(indexed(x, j, offset), v)
		if squared {
			t.mul(v, v, v)
		}
		t.fma(indexed(c, j, offset), v, sums[offset/32])
	})
	CMPQ(whole, U32(unroll*32))
	JL(LabelRef("short"))
	t.add(sums[1], sums[0], sums[0])
	t.add(sums[3], sums[2], sums[2])
	t.add(sums[2], sums[0], sums[0])
	Label("short")
	low := t.horizontal(sums[0], high)
	t.xor(total, total, total)
	MOVQ(tail, left)
	Label("tail")
	TESTQ(left, left)
	JE(LabelRef("next"))
	one.load(indexed(x, j, 0), number)
	if squared {
		one.mul(number, number, number)
	}
	one.mul(indexed(c, j, 0), number, number)
	one.add(number, total, total)
	ADDQ(U8(t.size), j)
	SUBQ(U8(t.size), left)
	JMP(LabelRef("tail"))
	Label("next")
	one.add(total, low, low)
	one.store(low, at(out, 0))
	ADDQ(U8(t.size), out)
	ADDQ(j, x)
	DECQ(k)
	JNE(LabelRef("row"))
	ADDQ(j, c)
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

// horizontal is the sum of a vector's numbers, in its lowest; high is room.
func (t number) horizontal(v, high VecVirtual) (low Register) {
	VEXTRACTF128(Imm(1), v, high)
	low = v.AsX()
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
	return low
}

// means sums each group's rows of x, w times each, in the order of axpy: fused in whole vectors, and
// not in the tail.
func means(t number) {
	TEXT("groupMean"+t.suffix, NOSPLIT, "func(out, w, x *"+t.elem+", n, r, whole, tail, careful int, mask *uint32)")
	Pragma("noescape")
	Doc("groupMean" + t.suffix + " is out_i = Σ_k w_ik x_ik.")
	mask := tailMask()
	out, w, x := pointer("out"), pointer("w"), pointer("x")
	n, whole, row := pointer("n"), pointer("whole"), pointer("tail")
	ADDQ(whole, row)
	j, left, k, weight, from := GP64(), GP64(), GP64(), GP64(), GP64()
	factor, v := YMM(), YMM()
	sums := [unroll]VecVirtual{YMM(), YMM(), YMM(), YMM()}
	rows := func(label string, vectors int, body func()) { // of a group, from column j on
		for _, s := range sums[:vectors] {
			t.xor(s, s, s)
		}
		LEAQ(indexed(x, j, 0), from)
		MOVQ(w, weight)
		MOVQ(parameter("r"), k)
		Label(label)
		t.broadcast(at(weight, 0), factor)
		body()
		ADDQ(row, from)
		ADDQ(U8(t.size), weight)
		DECQ(k)
		JNE(LabelRef(label))
	}
	panel := func(label, after string, vectors int) {
		Label(label)
		CMPQ(left, U32(vectors*32))
		JL(LabelRef(after))
		rows(label+"Row", vectors, func() {
			for u, s := range sums[:vectors] {
				t.fma(at(from, 32*u), factor, s)
			}
		})
		for u, s := range sums[:vectors] {
			t.store(s, indexed(out, j, 32*u))
		}
		ADDQ(U32(vectors*32), j)
		SUBQ(U32(vectors*32), left)
		JMP(LabelRef(label))
	}
	Label("group")
	TESTQ(n, n)
	JE(LabelRef("done"))
	XORQ(j, j)
	MOVQ(whole, left)
	panel("many", "one", unroll)
	panel("one", "behind", 1)
	Label("behind")
	CMPQ(j, row)
	JE(LabelRef("next"))
	rows("tailRow", 1, func() {
		t.masked(at(from, 0), mask, v)
		t.mul(factor, v, v)
		t.add(v, sums[0], sums[0])
	})
	CMPQ(n, parameter("careful"))
	JLE(LabelRef("last"))
	t.store(sums[0], indexed(out, j, 0))
	JMP(LabelRef("next"))
	Label("last")
	t.masked(sums[0], mask, indexed(out, j, 0))
	Label("next")
	MOVQ(weight, w) // behind the group's last
	MOVQ(parameter("r"), k)
	IMULQ(row, k)
	ADDQ(k, x)
	ADDQ(row, out)
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

// slopes sums each group's row of c, w times for each of its rows, rounded as the products and their
// sum would be one after the other.
func slopes(t number) {
	TEXT("groupSlope"+t.suffix, NOSPLIT, "func(out, c, w *"+t.elem+", n, r, row int, masks *[32]uint32)")
	Pragma("noescape")
	Doc("groupSlope"+t.suffix+" is out = Σ_ik w_ik c_i of the four vectors of c's rows, row bytes long, whose",
		"numbers the masks have.")
	out, c, w := pointer("out"), pointer("c"), pointer("w")
	n, r, row, masks := pointer("n"), pointer("r"), pointer("row"), pointer("masks")
	var mask, sums, held [unroll]VecVirtual
	for u := range sums {
		mask[u], sums[u], held[u] = YMM(), YMM(), YMM()
		VMOVUPS(at(masks, 32*u), mask[u])
		t.xor(sums[u], sums[u], sums[u])
	}
	factor, product, k := YMM(), YMM(), GP64()
	Label("group")
	TESTQ(n, n)
	JE(LabelRef("done"))
	for u := range held {
		t.masked(at(c, 32*u), mask[u], held[u])
	}
	MOVQ(r, k)
	Label("row")
	t.broadcast(at(w, 0), factor)
	for u := range sums {
		t.mul(held[u], factor, product)
		t.add(product, sums[u], sums[u])
	}
	ADDQ(U8(t.size), w)
	DECQ(k)
	JNE(LabelRef("row"))
	ADDQ(row, c)
	DECQ(n)
	JMP(LabelRef("group"))
	Label("done")
	for u := range sums {
		t.masked(sums[u], mask[u], at(out, 32*u))
	}
	VZEROUPPER()
	RET()
}

func groups(t number) {
	nothing := func(VecVirtual) {}
	eachNumber(t, "groupOuter", "out_ik = w_ik c_i.", true, false, nothing, func(c, w, _, v VecVirtual) { t.mul(w, c, v) })
	eachNumber(t, "groupAdd", "out_ik = x_ik + c_i.", false, true, nothing, func(c, _, x, v VecVirtual) { t.add(c, x, v) })
	eachNumber(t, "groupSquaresSlope", "out_ik = (2 w_ik c_i) x_ik.", true, true, func(w VecVirtual) { t.add(w, w, w) },
		func(c, w, x, v VecVirtual) {
			t.mul(w, c, v)
			t.mul(x, v, v)
		})
	rowSums(t, "groupDot", "out_ik = c_iᵀ x_ik.", false)
	rowSums(t, "groupSquares", "out_ik = c_iᵀ (x_ik ∘ x_ik).", true)
	means(t)
	slopes(t)
}
