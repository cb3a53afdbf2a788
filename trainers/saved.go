package trainers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"missingscore/data/domain"
	"missingscore/graph"
)

// SavedModel is a fitted or true model with what is needed to use it, in the
// table's units. Its file is JSON: version, model, names, domain, and each of the
// model's quantities under its own name.
type SavedModel struct {
	Kind   string // a name of graph.Models
	Model  graph.Described
	Names  []string
	Domain *domain.Domain // nil for all of R^d
}

const modelVersion = 1

// Encode gives the file's text; extra fields are added as they are.
func (s *SavedModel) Encode(extra map[string]any) ([]byte, error) {
	file := map[string]any{"version": modelVersion, "model": s.Kind, "names": s.Names}
	for k, v := range extra {
		file[k] = v
	}
	for _, q := range s.Model.Quantities() {
		file[q.Name] = q.Value
		if q.Rows > 1 || q.Cols == 1 {
			file[q.Name] = nested(q)
		}
	}
	var text bytes.Buffer
	if err := s.Domain.Write(&text, s.Names); err != nil {
		return nil, err
	}
	file["domain"] = json.RawMessage(text.Bytes())
	text2, err := json.MarshalIndent(file, "", " ")
	return append(text2, '\n'), err
}

func nested(q graph.Quantity) [][]float64 {
	var rows [][]float64
	for i := range q.Rows {
		rows = append(rows, q.Value[i*q.Cols:(i+1)*q.Cols])
	}
	return rows
}

// LoadModel reads what Encode gave. Errors name the file and what is wrong.
func LoadModel(path string) (*SavedModel, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := decodeModel(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a model that can be used: %w", path, err)
	}
	return s, nil
}

func decodeModel(text []byte) (*SavedModel, error) {
	var head struct {
		Version int             `json:"version"`
		Model   string          `json:"model"`
		Names   []string        `json:"names"`
		Domain  json.RawMessage `json:"domain"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head.Version > modelVersion {
		return nil, fmt.Errorf("it was written by a newer program (model version %d, this one reads %d)", head.Version, modelVersion)
	}
	if head.Version < 1 || len(head.Names) == 0 {
		return nil, fmt.Errorf("it has no version or no names")
	}
	m, err := graph.NewModel(head.Model, len(head.Names))
	if err != nil {
		return nil, err
	}
	s := &SavedModel{Kind: head.Model, Names: head.Names}
	var ok bool
	if s.Model, ok = m.(graph.Described); !ok {
		return nil, fmt.Errorf("model %q cannot be restored from a file", head.Model)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	var qs []graph.Quantity
	for _, q := range s.Model.Quantities() {
		raw, ok := fields[q.Name]
		if !ok {
			return nil, fmt.Errorf("%s is missing", q.Name)
		}
		var flat []float64
		if err := json.Unmarshal(raw, &flat); err == nil {
			qs = append(qs, graph.Quantity{Name: q.Name, Rows: 1, Cols: len(flat), Value: flat})
			continue
		}
		var rows [][]float64
		if err := json.Unmarshal(raw, &rows); err != nil {
			return nil, fmt.Errorf("%s: %w", q.Name, err)
		}
		n := graph.Quantity{Name: q.Name, Rows: len(rows), Cols: q.Cols}
		for i, row := range rows {
			if len(row) != q.Cols {
				return nil, fmt.Errorf("%s: row %d has %d numbers, %d are needed", q.Name, i+1, len(row), q.Cols)
			}
			n.Value = append(n.Value, row...)
		}
		qs = append(qs, n)
	}
	if err := s.Model.SetQuantities(qs); err != nil {
		return nil, err
	}
	if len(head.Domain) > 0 {
		d, err := domain.Parse(head.Domain, head.Names)
		if err != nil {
			return nil, fmt.Errorf("domain: %w", err)
		}
		if d.Bounded() {
			s.Domain = d
		}
	}
	return s, nil
}
