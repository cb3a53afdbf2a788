package fitted

import (
	"bytes"
	"encoding/json"
	"fmt"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/strictjson"
)

// denseColumns is up to how many columns a file has symmetric matrices whole; of more, which
// are mostly zeros, it has the diagonal and the pairs that are not.
const denseColumns = 300

// symmetricFile is a symmetric matrix of many columns.
type symmetricFile struct {
	Columns  int          `json:"columns"`
	Diagonal []float64    `json:"diagonal"`
	Pairs    [][3]float64 `json:"pairs"` // j < k from 0, and the number there
}

// quantities are a model's as the file has them, by name.
func quantities(m model.Parametric) map[string]any {
	out := map[string]any{}
	if g, ok := m.(*model.Gaussian); ok && g.Dim() > denseColumns && g.Parameterisation() == model.FreeSymmetric { // without a matrix of its zeros
		out["mean"], out["precision"] = g.Mean(), symmetricOf(g.Dim(), func(j, k int) float64 { return g.Packed.Value[graph.PackedIndex(g.Dim(), j, k)] })
		return out
	}
	for _, q := range m.Quantities() {
		out[q.Name] = written(q)
	}
	return out
}

// symmetricOf are the elements of a matrix, j ≤ k, that the file has.
func symmetricOf(d int, element func(j, k int) float64) symmetricFile {
	f := symmetricFile{Columns: d, Pairs: [][3]float64{}}
	for j := range d {
		f.Diagonal = append(f.Diagonal, element(j, j))
		for k := j + 1; k < d; k++ {
			if v := element(j, k); v != 0 {
				f.Pairs = append(f.Pairs, [3]float64{float64(j), float64(k), v})
			}
		}
	}
	return f
}

// written is a quantity as the file has it.
func written(q model.Quantity) any {
	switch {
	case q.Symmetric && q.Cols > denseColumns:
		return symmetricOf(q.Cols, func(j, k int) float64 { return q.Value[j*q.Cols+k] })
	case q.Rows > 1 || q.Cols == 1:
		return nested(q)
	}
	return q.Value
}

// readSymmetric reads what written gave of a matrix of many columns; it is not ok where the
// text is of another form.
func readSymmetric(raw json.RawMessage, q model.Quantity) (out model.Quantity, ok bool, err error) {
	if !q.Symmetric || !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return q, false, nil
	}
	var f symmetricFile
	if err := strictjson.Decode(raw, &f, `{"columns": d, "diagonal": […], "pairs": [[j, k, number], …]}`); err != nil {
		return q, true, fmt.Errorf("%s: %w", q.Name, err)
	}
	d := q.Cols
	if f.Columns != d || len(f.Diagonal) != d {
		return q, true, fmt.Errorf("%s: %d columns with a diagonal of %d, %d are needed", q.Name, f.Columns, len(f.Diagonal), d)
	}
	out = model.Quantity{Name: q.Name, Rows: d, Cols: d, Value: make([]float64, d*d), Symmetric: true}
	for j, v := range f.Diagonal {
		out.Value[j*d+j] = v
	}
	for i, p := range f.Pairs {
		j, k := int(p[0]), int(p[1])
		if float64(j) != p[0] || float64(k) != p[1] || j < 0 || j >= k || k >= d {
			return q, true, fmt.Errorf("%s: pair %d is of columns %g and %g; whole numbers j < k from 0 to %d are needed", q.Name, i+1, p[0], p[1], d-1)
		}
		out.Value[j*d+k], out.Value[k*d+j] = p[2], p[2]
	}
	return out, true, nil
}
