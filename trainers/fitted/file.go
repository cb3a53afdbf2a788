package fitted

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/data/transform"
	"missingscore/internal/memory"
	"missingscore/internal/printable"
	"missingscore/internal/stream"
	"missingscore/internal/strictjson"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/posterior"
	"missingscore/losses"
	"missingscore/nets"
)

// Saved is a fitted or true model with all settings for its use. Its file is versioned JSON: the
// quantities of a model.Parametric under their names, network parameters packed.
type Saved struct {
	Kind string // a name of model.Models
	// The table's columns for a model.Parametric, else standardised columns (InUnits).
	Model model.Model
	New   func() (model.Model, error) // makes another model like Model; nil: by Kind
	Names []string
	// Names of levels per column; nil for a numeric column, and nil if there are none.
	Levels [][]string
	// Functions of the table's columns, nil if there are none. Model, Domain, Scale, Imputer and
	// Missingness refer to transformed columns.
	Transform transform.Columns
	Domain    *domain.Domain // in the table's units; nil for all of R^d

	Scale       data.Scale      // x = mean + deviation z, z standardised; zero value: none
	Imputer     nets.Imputer    // of standardised columns; nil if none was trained
	ImputerKind string          // a name of nets.Imputers
	Noise       *noise.Schedule // of a model.NoiseConditional, or the single level added to standardised columns; else nil

	Missingness *missingness.Model // the missingness mechanism, in the table's units; nil: MCAR or MAR

	// Model columns of each table column, K − 1 utilities for a nominal one; nil: one each. Such a
	// model is a network and draws no rows.
	Blocks []data.Block

	// Posterior draws of the parameters, of standardised columns, in place of Model; nil: use Model.
	Posterior *posterior.Parameters

	Outcome     *Outcome     // how the fit ended; nil for a true model or an old file
	Uncertainty *Uncertainty // of the parameters; nil if not requested
	Check       *Check       // check of drawn rows; nil for normal and true models
}

// Outcome is how a fit ended.
type Outcome struct {
	Converged  bool              `json:"converged"`
	Verdict    string            `json:"verdict,omitempty"`
	Assumption losses.Assumption `json:"assumption,omitempty"` // on missing cells; empty if unknown
	Moments    string            `json:"moments,omitempty"`    // the second moments that the fit used instead of rows; else empty
	LeftOut    []string          `json:"left_out,omitempty"`   // columns left out, with reasons
}

// modelVersion is the version of model files.
const modelVersion = 2

// InUnits returns the model of the table's columns after Transform.
func (s *Saved) InUnits() model.Model {
	if _, ok := s.Model.(model.Parametric); ok || s.Scale.Mean == nil {
		return s.Model
	}
	return model.Rescaled{Model: s.Model, Mean: s.Scale.Mean, Deviation: s.Scale.Deviation}
}

// Standardised returns the model of standardised columns.
func (s *Saved) Standardised() (model.Model, error) {
	m, ok := s.Model.(model.Parametric)
	if !ok || s.Scale.Mean == nil {
		return s.Model, nil
	}
	again, err := s.again()
	if err != nil {
		return nil, err
	}
	back := again.(model.Parametric)
	if err := back.SetQuantities(m.Quantities()); err != nil {
		return nil, err
	}
	mean, deviation := make([]float64, len(s.Names)), make([]float64, len(s.Names))
	for j, v := range s.Scale.Deviation {
		mean[j], deviation[j] = -s.Scale.Mean[j]/v, 1/v
	}
	return back, back.Rescale(mean, deviation)
}

func (s *Saved) again() (model.Model, error) {
	if s.New != nil {
		m, err := s.New()
		if err == nil && m.Params()[0] == s.Model.Params()[0] {
			err = errors.New("ModelSpec.New returned the same model twice: it must make a new model at each call")
		}
		return m, err
	}
	options, err := model.Options(s.Model)
	if err != nil {
		return nil, err
	}
	return model.New(s.Kind, len(s.Names), options, stream.New(0))
}

type file struct {
	Version    int                 `json:"version"`
	Model      string              `json:"model"`
	Options    json.RawMessage     `json:"options,omitempty"`
	Names      []string            `json:"names"`
	Levels     map[string][]string `json:"levels,omitempty"`  // per column
	Columns    []int               `json:"columns,omitempty"` // number of model columns per table column
	Transform  json.RawMessage     `json:"transform,omitempty"`
	Domain     json.RawMessage     `json:"domain,omitempty"`
	Scale      *scaleFile          `json:"standardised_by,omitempty"`
	Parameters map[string]packed   `json:"parameters,omitempty"`
	Imputer    *imputerFile        `json:"imputer,omitempty"`
	Noise      *noise.Schedule     `json:"noise,omitempty"`

	Missingness json.RawMessage `json:"missingness,omitempty"`

	*Outcome
	Inference *Uncertainty `json:"inference,omitempty"`
	Check     *Check       `json:"check,omitempty"`

	text  []byte // of the file, for quantities
	width int    // number of the model's columns
}

type scaleFile struct {
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"`
}

type imputerFile struct {
	Kind       string            `json:"kind"`
	Options    json.RawMessage   `json:"options"`
	Parameters map[string]packed `json:"parameters"`
}

// packed is little-endian float64 in base64.
type packed struct {
	Rows    int    `json:"rows"`
	Cols    int    `json:"cols"`
	Float64 []byte `json:"float64"`
}

// It fails if two parameters have the same name.
func packParams(params []*graph.Param) (map[string]packed, error) {
	out := map[string]packed{}
	for _, p := range params {
		if _, twice := out[p.Name]; twice {
			return nil, fmt.Errorf("two parameters are named %q: names must differ", p.Name)
		}
		values, _ := binary.Append(nil, binary.LittleEndian, p.Value) // cannot fail
		out[p.Name] = packed{p.Rows, p.Cols, values}
	}
	return out, nil
}

func readParams(params []*graph.Param, from map[string]packed) error {
	for _, p := range params {
		q, ok := from[p.Name]
		if !ok {
			return fmt.Errorf("parameter %q is missing", p.Name)
		}
		if q.Rows != p.Rows || q.Cols != p.Cols || len(q.Float64) != 8*len(p.Value) {
			return fmt.Errorf("parameter %q has shape (%d, %d) and %d bytes, expected (%d, %d)", p.Name, q.Rows, q.Cols, len(q.Float64), p.Rows, p.Cols)
		}
		_, _ = binary.Decode(q.Float64, binary.LittleEndian, p.Value) // has its length
		for _, v := range p.Value {
			if !engine.Finite(v) {
				return fmt.Errorf("parameter %q holds %v", p.Name, v)
			}
		}
	}
	return nil
}

// Encode returns the file's text with extra fields.
func (s *Saved) Encode(extra map[string]any) ([]byte, error) {
	f := file{Version: modelVersion, Model: s.Kind, Names: s.Names, Levels: byName(s.Names, s.Levels), Noise: s.Noise, Outcome: s.Outcome, Inference: s.Uncertainty, Check: s.Check}
	if s.Scale.Mean != nil {
		f.Scale = (*scaleFile)(&s.Scale)
	}
	for _, b := range s.Blocks {
		f.Columns = append(f.Columns, b.Width)
	}
	var err error
	if f.Transform, err = s.Transform.Encode(s.Names); err != nil {
		return nil, err
	}
	if s.Imputer != nil {
		f.Imputer = &imputerFile{Kind: s.ImputerKind}
		if f.Imputer.Options, err = json.Marshal(s.Imputer.Options()); err != nil {
			return nil, fmt.Errorf("the options of an imputer must be JSON: %w", err)
		}
		if f.Imputer.Parameters, err = packParams(s.Imputer.Params()); err != nil {
			return nil, fmt.Errorf("imputer %s: %w", s.ImputerKind, err)
		}
	}
	numbers := map[string]any{}
	if s.Posterior != nil {
		f.Parameters = parametersOf(s.Posterior)
	} else {
		if f.Options, err = model.Options(s.Model); err != nil {
			return nil, err
		}
		if parametric, ok := s.Model.(model.Parametric); ok {
			numbers = quantities(parametric)
		} else if f.Parameters, err = packParams(s.Model.Params()); err != nil {
			return nil, fmt.Errorf("model %s: %w", s.Kind, err)
		}
	}
	var support, law bytes.Buffer
	if err = s.Domain.Write(&support, s.Names); err == nil && s.Missingness != nil {
		err = s.Missingness.Write(&law, s.Names)
	}
	if err != nil {
		return nil, err
	}
	f.Domain, f.Missingness = support.Bytes(), law.Bytes()
	return encode(f, extra, numbers)
}

// encode writes the fields of all parts as one object.
func encode(parts ...any) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	for _, part := range parts {
		text, err := json.Marshal(part)
		if err == nil && string(text) != "null" {
			err = json.Unmarshal(text, &fields) // adds to the fields
		}
		if err != nil {
			return nil, err
		}
	}
	whole, err := json.MarshalIndent(fields, "", " ")
	whole = numbersAlone.ReplaceAllFunc(whole, func(list []byte) []byte { return lineEnd.ReplaceAll(list, []byte(" ")) })
	return []byte(printable.Text(string(whole)) + "\n"), err
}

// numbersAlone matches lists and objects of numbers, which stand in one line.
var (
	number       = `("\w+": )?(-?[0-9][-+.0-9eE]*|null)`
	numbersAlone = regexp.MustCompile(`[\[{]\n *` + number + `(,\n *` + number + `)*\n *[\]}]`)
	lineEnd      = regexp.MustCompile(`\n *`)
)

func byName(names []string, levels [][]string) map[string][]string {
	out := map[string][]string{}
	for j, of := range levels {
		if of != nil {
			out[names[j]] = of
		}
	}
	return out
}

// Load reads a file of Encode.
func Load(path string) (*Saved, error) {
	text, err := memory.ReadFile(path, 20) // JSON takes many times its text in memory
	if err != nil {
		return nil, err
	}
	s, err := decodeModel(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a usable model: %w", path, err)
	}
	return s, nil
}

func decodeModel(text []byte) (*Saved, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, errors.New("it holds no JSON object; give the model.json of a fit")
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", strictjson.Plainly(err))
	}
	if head.Version != modelVersion {
		return nil, fmt.Errorf("its version is %d, but this program reads version %d: fit it again", head.Version, modelVersion)
	}
	f := &file{text: text}
	if err := strictjson.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	s := &Saved{Kind: f.Model, Names: f.Names, Noise: f.Noise, Outcome: f.Outcome, Uncertainty: f.Inference, Check: f.Check}
	for _, read := range []func(*Saved) error{f.columns, f.model, f.standardised, f.posterior} {
		if err := read(s); err != nil {
			return nil, err
		}
	}
	return s, s.Check.check(s.Names)
}

func (f *file) columns(s *Saved) error {
	if len(f.Names) == 0 {
		return errors.New("it has no names")
	}
	if repeated(f.Names) {
		return fmt.Errorf("two of its columns have the same name: %s", strings.Join(f.Names, ", "))
	}
	if f.Columns != nil && len(f.Columns) != len(f.Names) {
		return fmt.Errorf("it has columns for %d names, and %d names", len(f.Columns), len(f.Names))
	}
	f.width = len(f.Names)
	for j, width := range f.Columns {
		b := data.Block{Name: f.Names[j], First: f.width - len(f.Names) + j, Width: width, Levels: f.Levels[f.Names[j]]}
		if levels := len(b.Levels); width < 1 || width > data.MostLevels || width > 1 && levels != width+1 {
			return fmt.Errorf("%q has %d columns for %d levels", b.Name, width, levels)
		}
		s.Blocks, f.width = append(s.Blocks, b), f.width+width-1
	}
	if f.Levels != nil {
		s.Levels = make([][]string, len(f.Names))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Levels)) {
		j := slices.Index(f.Names, name)
		if j < 0 {
			return errors.New("levels: a named column is not in the model")
		}
		if s.Levels[j] = f.Levels[name]; len(s.Levels[j]) == 0 || repeated(s.Levels[j]) {
			return fmt.Errorf("levels of %q: at least one is needed, with different names", name)
		}
	}
	return nil
}

func repeated(names []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names)
}

func (f *file) model(s *Saved) (err error) {
	if f.Model == FromPosterior {
		return nil
	}
	if s.Model, err = model.New(f.Model, f.width, f.Options, stream.New(0)); err != nil {
		return err
	}
	if parametric, ok := s.Model.(model.Parametric); ok {
		err = readQuantities(f.text, parametric)
	} else {
		err = readParams(s.Model.Params(), f.Parameters)
	}
	if mixed := model.MixedOf(s.Model); mixed != nil && err == nil {
		for j, name := range f.Names {
			if n := len(f.Levels[name]); n != mixed.Levels[j] {
				return fmt.Errorf("levels of %q: there are %d names, but the model has %d levels", name, n, mixed.Levels[j])
			}
		}
	}
	return err
}

// standardised reads scale, imputer, transform, domain and missingness.
func (f *file) standardised(s *Saved) (err error) {
	if f.Scale != nil {
		s.Scale = data.Scale(*f.Scale)
		if d := len(f.Names); len(s.Scale.Mean) != d || len(s.Scale.Deviation) != d {
			return fmt.Errorf("standardised_by has %d means and %d standard deviations for %d columns", len(s.Scale.Mean), len(s.Scale.Deviation), d)
		}
		if least := slices.Min(s.Scale.Deviation); !(least > 0) {
			return fmt.Errorf("standardised_by has the deviation %v", least)
		}
	}
	if i := f.Imputer; i != nil {
		s.ImputerKind = i.Kind
		if s.Imputer, err = nets.NewImputer(i.Kind, len(f.Names), i.Options, stream.New(0)); err != nil {
			return err
		}
		if n, ok := s.Imputer.(nets.NormalConditional); ok && n.NoiseConditional() && f.Noise == nil {
			return errors.New("its imputer needs noise levels, but noise is missing")
		}
		if err := readParams(s.Imputer.Params(), i.Parameters); err != nil {
			return fmt.Errorf("imputer: %w", err)
		}
	}
	if len(f.Transform) > 0 {
		if s.Transform, err = transform.Read(f.Transform, f.Names); err != nil {
			return fmt.Errorf("transform: %w", err)
		}
	}
	if len(f.Domain) > 0 {
		d, err := domain.Parse(f.Domain, f.Names)
		if err != nil {
			return fmt.Errorf("domain: %w", err)
		}
		if d.Bounded() {
			s.Domain = d
		}
	}
	if len(f.Missingness) > 0 {
		if s.Missingness, err = missingness.Parse(f.Missingness, f.Names); err != nil {
			return fmt.Errorf("missingness: %w", err)
		}
	}
	return nil
}

// Kinds says how to read a table for the model.
func (s *Saved) Kinds() map[string]data.Column {
	kinds := map[string]data.Column{}
	for j, name := range s.Names {
		c := data.Column{Name: name, Kind: data.Number}
		if s.Levels != nil && s.Levels[j] != nil {
			c.Levels, c.Kind = s.Levels[j], data.Nominal
			if len(c.Levels) <= 2 {
				c.Kind = data.Binary
			}
		}
		kinds[name] = c
	}
	return kinds
}

func readQuantities(text []byte, m model.Parametric) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	var qs []model.Quantity
	for _, q := range m.Quantities() {
		raw, ok := fields[q.Name]
		if !ok {
			return fmt.Errorf("%s is missing", q.Name)
		}
		q, err := readQuantity(raw, q)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		qs = append(qs, q)
	}
	return m.SetQuantities(qs)
}

// readQuantity reads a list of numbers, a list of rows, or a symmetricFile.
func readQuantity(raw json.RawMessage, q model.Quantity) (model.Quantity, error) {
	if q.Symmetric && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return readSymmetric(raw, q)
	}
	n := model.Quantity{Name: q.Name, Rows: 1, Cols: q.Cols}
	if err := json.Unmarshal(raw, &n.Value); err == nil {
		n.Cols = len(n.Value)
		return n, nil
	}
	var rows [][]float64
	if err := json.Unmarshal(raw, &rows); err != nil {
		return q, strictjson.Plainly(err)
	}
	n.Rows, n.Value = len(rows), nil
	for i, row := range rows {
		if len(row) != q.Cols {
			return q, fmt.Errorf("row %d has %d numbers, %d are needed", i+1, len(row), q.Cols)
		}
		n.Value = append(n.Value, row...)
	}
	return n, nil
}

// denseColumns is the number of columns above which matrices are stored as the diagonal and the
// nonzero pairs.
const denseColumns = 300

type symmetricFile struct {
	Columns  int          `json:"columns"`
	Diagonal []float64    `json:"diagonal"`
	Pairs    [][3]float64 `json:"pairs"` // j < k from 0, and the value
}

func quantities(m model.Parametric) map[string]any {
	out := map[string]any{}
	if g, ok := m.(*model.Gaussian); ok && g.Dim() > denseColumns && g.Parameterisation() == model.FreeSymmetric { // avoids a dense matrix
		out["mean"], out["precision"] = g.Mean(), symmetricOf(g.Dim(), func(j, k int) float64 { return g.Packed.Value[graph.PackedIndex(g.Dim(), j, k)] })
		return out
	}
	for _, q := range m.Quantities() {
		switch {
		case q.Symmetric && q.Cols > denseColumns:
			out[q.Name] = symmetricOf(q.Cols, func(j, k int) float64 { return q.Value[j*q.Cols+k] })
		case q.Rows > 1 || q.Cols == 1:
			out[q.Name] = slices.Collect(slices.Chunk(q.Value, q.Cols))
		default:
			out[q.Name] = q.Value
		}
	}
	return out
}

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

func readSymmetric(raw json.RawMessage, q model.Quantity) (model.Quantity, error) {
	var f symmetricFile
	if err := strictjson.Decode(raw, &f, `{"columns": d, "diagonal": […], "pairs": [[j, k, number], …]}`); err != nil {
		return q, err
	}
	d := q.Cols
	if f.Columns != d || len(f.Diagonal) != d {
		return q, fmt.Errorf("%d columns with a diagonal of %d, %d are needed", f.Columns, len(f.Diagonal), d)
	}
	q.Rows, q.Value = d, make([]float64, d*d)
	for j, v := range f.Diagonal {
		q.Value[j*d+j] = v
	}
	for i, p := range f.Pairs {
		j, k := int(p[0]), int(p[1])
		if float64(j) != p[0] || float64(k) != p[1] || j < 0 || j >= k || k >= d {
			return q, fmt.Errorf("pair %d is of columns %g and %g; whole numbers j < k from 0 to %d are needed", i+1, p[0], p[1], d-1)
		}
		q.Value[j*d+k], q.Value[k*d+j] = p[2], p[2]
	}
	return q, nil
}
