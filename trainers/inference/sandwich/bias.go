package sandwich

// bias is about how far the root is, in standard errors of the parameter that is farthest,
// from that of as many draws as one likes. Weights that are normalised by their sum bias the
// equation in proportion to 1/r; with every row's draws in two halves, averaged over each by
// itself, it is 2/r, so that with U_½ the equation by halves, at the root of U,
//
//	bias of the root ≈ A⁻¹U_½
func (q *equation) bias(r *root) (float64, error) {
	k := q.kinds[1]
	if q.held.r < 2 || len(k.rows) == 0 {
		return 0, nil
	}
	halves, err := q.newRows(k.members, 2, k.draws)
	if err != nil {
		return 0, err
	}
	u, err := q.meanBy(func(of *rowKind) *rows {
		if of == k {
			return halves
		}
		return of.many
	})
	if err != nil {
		return 0, err
	}
	_, size := r.step(u)
	return size, nil
}
