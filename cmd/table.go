package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/moments"
	"missingscore/internal/data/transform"
	"missingscore/internal/memory"
	"missingscore/internal/printable"
	"missingscore/internal/spelling"
	"missingscore/trainers"
)

type tableFlags struct {
	formatFlags
	columns, exclude []string
	id               string
	weights          string
	kinds            string
	nominal          []string
	strict           bool
	levels           bool // the command takes nominal columns
	lenient          bool // the command describes the file, whatever its cells hold
}

type formatFlags struct {
	na       []string
	texts    []string // columns of text that hold numbers
	sep, dec string
	sheet    string
	stderr   func() io.Writer // for progress
}

func (f *tableFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.columns, "columns", nil, "use these columns only (default: all): `a,b,c`")
	fl.StringSliceVar(&f.exclude, "exclude", nil, "leave these columns out: `a,b,c`")
	fl.StringVar(&f.id, "id", "", "`column` with names of rows; it is not analysed")
	fl.StringSliceVar(&f.nominal, "nominal", nil, "numeric columns that are categories without an order: `a,b,c`")
	fl.StringVar(&f.kinds, "kinds", "", "CSV `file` with column, kind, levels (default: detected; missingscore TABLE --kinds-out FILE writes it)")
	fl.BoolVar(&f.strict, "strict", false, "refuse a table with columns that cannot be used (default: leave them out)")
	f.addFormat(cmd)
}

func (f *tableFlags) addWeights(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.weights, "weights", "", "`column` with sampling weights")
}

func (f *formatFlags) addFormat(cmd *cobra.Command) {
	f.stderr = cmd.ErrOrStderr
	cmd.Flags().StringSliceVar(&f.na, "na", data.DefaultNA, "`marks` of missing cells; an empty cell is always missing")
	cmd.Flags().StringSliceVar(&f.texts, "numbers", nil, "text columns `a,b,c` to read as numbers: \"12 kg\", \"45 %\", \"1.200,50\"")
	cmd.Flags().StringVar(&f.sep, "sep", "", "separator of cells: one `character` or \"tab\" (default: detected)")
	cmd.Flags().StringVar(&f.dec, "dec", "", "decimal `mark`: . or , (default: detected)")
	cmd.Flags().StringVar(&f.sheet, "sheet", "", "`name` or number of a sheet in an Excel workbook (default: the first)")
}

func (f *tableFlags) options() (o data.ReadOptions, err error) {
	o = data.ReadOptions{
		NA: f.na, Columns: trimmed(f.columns), Exclude: trimmed(f.exclude), Numbers: trimmed(f.texts), Nominal: trimmed(f.nominal),
		Sheet: f.sheet, Coded: true, Lenient: f.lenient, Strict: f.strict, Progress: newReading(f.stderr()),
	}
	if f.id != "" {
		o.Exclude = append(o.Exclude, strings.TrimSpace(f.id))
	}
	rules := []rule{{f.columns != nil && len(f.columns) == 0, "--columns is empty: names as a,b,c are expected"}}
	for k, name := range o.Columns {
		rules = append(rules, rule{slices.Contains(o.Columns[:k], name), fmt.Sprintf("--columns names %q twice; leave one of them out", name)})
	}
	sep := []rune(strings.NewReplacer("tab", "\t", `\t`, "\t").Replace(f.sep))
	one := len(sep) == 1 && !strings.ContainsRune("\"\r\n\uFFFD", sep[0])
	rules = append(rules, rule{f.sep != "" && !one, fmt.Sprintf("--sep %q: one character is expected, not a quote or line end, or tab", f.sep)},
		rule{!slices.Contains([]string{"", ".", ","}, f.dec), fmt.Sprintf("--dec %q: a point or a comma is expected", f.dec)})
	if err := obey(rules...); err != nil {
		return o, err
	}
	if one {
		o.Comma = sep[0]
	}
	if f.dec != "" {
		o.Decimal = rune(f.dec[0])
	}
	if f.kinds != "" {
		if o.Kinds, err = data.ReadKinds(f.kinds); err != nil {
			return o, fmt.Errorf("--kinds: %w", err)
		}
	}
	return o, nil
}

func trimmed(names []string) []string {
	names = slices.Clone(names)
	for k, name := range names {
		names[k] = strings.TrimSpace(name)
	}
	return names
}

// tableBytes is the memory of a cell in a fit: value, standardised value, mask.
const tableBytes = 17

// matrixBytes is the memory of a pair of columns in a fit: moments and packed matrices.
const matrixBytes = 24

func heldBytes(cells, d int) float64 {
	return tableBytes*float64(cells) + matrixBytes*float64(d)*float64(d)
}

func (f *tableFlags) read(path string) (*data.Table, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	if err := withRows(path); err != nil {
		return nil, err
	}
	var t *data.Table
	if f.weights != "" {
		t, err = data.ReadWeighted(path, strings.TrimSpace(f.weights), o)
	} else {
		t, err = data.ReadFile(path, o)
	}
	if err == nil && !f.lenient {
		tellLeftOut(f.stderr(), t.LeftOut)
		t, err = f.numbers(t, path)
	}
	if err == nil {
		memory.Held(heldBytes(len(t.Values), t.D))
	}
	return t, err
}

const shownNames = 8

func tellLeftOut(stderr io.Writer, columns []data.Column) {
	for _, line := range data.LeftOutLines(columns, shownNames) {
		fmt.Fprintln(stderr, line)
	}
}

// array is never null in JSON.
func array[T any](of []T) []T { return append([]T{}, of...) }

// numbers leaves nominal columns out unless the command takes them.
func (f *tableFlags) numbers(t *data.Table, file string) (*data.Table, error) {
	if f.levels {
		return t, nil
	}
	t, nominal, err := data.NumbersOnly(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	tellLeftOut(f.stderr(), nominal)
	tellCodes(f.stderr(), t)
	return t, nil
}

func tellCodes(stderr io.Writer, t *data.Table) {
	var words []string
	for j, name := range t.Names {
		levels := data.Coded(t, j)
		if levels == nil || slices.Equal(levels, []string{"0", "1"}) {
			continue
		}
		last := len(levels) - 1
		join := "and"
		if last > 1 {
			join = "to"
		}
		words = append(words, fmt.Sprintf("%s as 0 (%s) %s %d (%s)", printable.Cell(name), printable.Cell(levels[0]), join, last, printable.Cell(levels[last])))
	}
	if more := len(words) - shownNames; more > 0 {
		words = append(words[:shownNames], fmt.Sprintf("%d more columns likewise", more))
	}
	if words != nil {
		fmt.Fprintln(stderr, "levels enter as numbers: "+strings.Join(words, ", "))
	}
}

func withRows(path string) error {
	if !moments.Is(path) {
		return nil
	}
	return fmt.Errorf("%s holds moments, not rows: only network and fit --model gaussian read it", path)
}

type domainFlags struct {
	lower, upper []string
	file         string
}

func (f *domainFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.lower, "lower", nil, "lower `bounds` of the support: column=value,... or one value")
	fl.StringSliceVar(&f.upper, "upper", nil, "upper `bounds`, in the same form")
	fl.StringVar(&f.file, "domain", "", "JSON `file`: {\"lower\":{\"x1\":0},\"halfspace\":{\"a\":{\"x1\":1,\"x2\":-1},\"b\":0.5}}")
}

func (f *domainFlags) read(names []string) (*domain.Domain, error) {
	s := domain.All(len(names))
	if f.file != "" {
		var err error
		if s, err = domain.Read(f.file, names); err != nil {
			return nil, fmt.Errorf("--domain: %w", err)
		}
	}
	err := cmp.Or(narrow(s.Lower, "--lower", f.lower, names, math.Max), narrow(s.Upper, "--upper", f.upper, names, math.Min))
	if err == nil && !s.Bounded() {
		return nil, nil
	}
	if wrong := s.Check(names); err == nil && wrong != nil {
		err = fmt.Errorf("--lower, --upper, --domain: %w", wrong)
	}
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// cutValue cuts column=value at the last =, because names of columns may have one.
func cutValue(text string) (column, value string, found bool) {
	i := strings.LastIndex(text, "=")
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// narrow takes bounds written as column=value, or one value for all columns.
func narrow(bounds []float64, flag string, values, names []string, better func(x, y float64) float64) error {
	if values != nil && len(values) == 0 {
		return fmt.Errorf("%s is empty: column=value or a number is expected", flag)
	}
	for _, text := range values {
		name, value, named := cutValue(text)
		if name = strings.TrimSpace(name); !named {
			value = text
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || math.IsNaN(v) {
			return fmt.Errorf("%s %s: column=value or a number is expected", flag, text)
		}
		if named && !slices.Contains(names, name) {
			return fmt.Errorf("%s %s: there is no column %q%s; columns are %s", flag, text, name, spelling.DidYouMean(name, names), strings.Join(names, ", "))
		}
		for k := range names {
			if !named || names[k] == name {
				bounds[k] = better(bounds[k], v)
			}
		}
	}
	return nil
}

// inTable adds the file to an error, unless it is about a setting, and to one about a row its line and
// the advice.
func inTable(err error, file, advice string) error {
	var wrong *trainers.SettingError
	var row *data.RowError
	var value *transform.ValueError
	switch {
	case errors.As(err, &wrong):
		return err
	case !errors.As(err, &row):
		return fmt.Errorf("%s: %w", file, err)
	case errors.As(err, &value):
		advice = "correct the cell, read it as missing (--na), or choose another function (--transform)"
	}
	where := fmt.Sprintf("%s: row %d", file, row.Row+1)
	if row.Line > 0 {
		where = fmt.Sprintf("%s:%d", file, row.Line)
	}
	what := fmt.Sprintf("the row lies outside the domain: %v", row.Why)
	if row.Column != "" {
		what = fmt.Sprintf("column %q: %s %v", row.Column, row.Cell, row.Why)
	}
	return fmt.Errorf("%s: %s; %s", where, what, advice)
}

type missingnessFlag struct{ file string }

const estimateLaw = "estimate"

func (f *missingnessFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "missingness", "", "JSON `file` with the missingness mechanism, or \"estimate\"")
}

func (f *missingnessFlag) read(t *data.Table, support *domain.Domain) (*missingness.Model, error) {
	switch f.file {
	case "":
		return nil, nil
	case estimateLaw:
		return mcar.Law(t), nil
	}
	m, err := missingness.Read(f.file, t.Names)
	if err != nil {
		return nil, fmt.Errorf("--missingness: %w", err)
	}
	if err := m.Support(support).Check(t.Names); err != nil {
		return nil, fmt.Errorf("--missingness: %s: %w", f.file, err)
	}
	return m, nil
}

func (f *missingnessFlag) announce(w io.Writer, p *trainers.Prepared) {
	law := p.Spec.Missingness
	if f.file != estimateLaw {
		return
	}
	if law == nil {
		fmt.Fprintln(w, "--missingness estimate: no gaps depend on other columns, so there is nothing to estimate")
		return
	}
	for j, name := range p.Table.Names {
		if law.Logistic.Concerns(j) {
			fmt.Fprintf(w, "--missingness estimate: a logistic regression for %s\n", name)
		}
	}
}

func (f *missingnessFlag) write(set *atomicfile.Set, path string, r *trainers.Result) error {
	law := r.Spec.Missingness
	if f.file != estimateLaw || law == nil || path == "" {
		return nil
	}
	return set.Write(path, func(w io.Writer) error { return law.Write(w, r.Model.Names) })
}

type transformFlag struct{ items, ordinal []string }

func (f *transformFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.items, "transform", nil, "transform columns: `column=log`,... (log1p, sqrt, logit, npn, none)")
	cmd.Flags().StringSliceVar(&f.ordinal, "ordinal", nil, "ordered categories `a,b,c`, or \"all\": by latent normal variables")
}

func (f *transformFlag) parse() (transform.Spec, error) {
	if f.items != nil && len(f.items) == 0 {
		return transform.Spec{}, usageError{errors.New("--transform is empty: column=log,… or a function is expected")}
	}
	s, err := transform.Parse(f.items)
	if err != nil || f.ordinal == nil {
		return s, err
	}
	all := slices.Contains(f.ordinal, "all") // which stands for every column
	rules := []rule{
		{len(f.ordinal) == 0, "--ordinal is empty: names of columns or all are expected"},
		{all && len(f.ordinal) > 1, fmt.Sprintf("--ordinal %s: give all or names of columns, not both", strings.Join(f.ordinal, ","))},
		{all && s.Others != "", fmt.Sprintf("--ordinal all: --transform %s is for all columns too; name the columns of one of them", s.Others)},
	}
	if all {
		s.Others = transform.OrdinalKind
		return s, obey(rules...)
	}
	if s.Columns == nil {
		s.Columns = map[string]string{}
	}
	for _, name := range f.ordinal {
		has := s.Columns[name]
		rules = append(rules, rule{has != "" && has != transform.OrdinalKind, fmt.Sprintf("--ordinal %s: the column has --transform %s; leave one of them out", name, has)})
		s.Columns[name] = transform.OrdinalKind
	}
	return s, obey(rules...)
}

func (f *trainingFlags) readRows(cmd *cobra.Command, file string) (*data.Table, error) {
	if !moments.Is(file) {
		return f.tableFlags.read(file)
	}
	for _, name := range []string{"na", "sep", "dec", "weights", "kinds", "nominal", "strict"} {
		if cmd.Flags().Changed(name) {
			return nil, usageError{fmt.Errorf("--%s: %s holds moments; give the flag to missingscore moments instead", name, file)}
		}
	}
	if cmd.Flags().Changed("missingness") {
		return nil, usageError{fmt.Errorf("--missingness needs rows, and %s holds moments; leave it out, or give the table", file)}
	}
	o, err := f.tableFlags.options()
	if err != nil {
		return nil, err
	}
	m, err := moments.Read(file)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(m.Names)
	if o.Columns != nil {
		names = o.Columns
	}
	for _, name := range o.Exclude {
		at := slices.Index(names, name)
		if at < 0 {
			return nil, usageError{fmt.Errorf("%s: --exclude: the moments have no column %q", file, name)}
		}
		names = slices.Delete(names, at, at+1)
	}
	if !slices.Equal(names, m.Names) {
		m, err = m.Select(names)
	}
	var t *data.Table
	if err == nil {
		t, err = m.Table()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

// independent prepares the estimate again without columns that others determine exactly.
func (f *networkFlags) independent(file string, p *trainers.Prepared, names []string, again func(kept []string) (*trainers.Prepared, error)) (*trainers.Prepared, error) {
	for {
		found, err := p.Findings()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		var now []string
		names = slices.Clone(names)
		for _, d := range found {
			if d.Exact != "" {
				names = slices.DeleteFunc(names, func(name string) bool { return name == d.LeaveOut[0] })
				now = append(now, fmt.Sprintf("column %s is left out because others determine it: %s; to keep it, --exclude another", d.LeaveOut[0], d.Exact))
			}
		}
		if now == nil {
			return p, nil
		}
		if len(names) < 2 {
			return nil, fmt.Errorf("%s: %s: a network needs two columns", file, strings.Join(now, "; "))
		}
		if p, err = again(names); err != nil {
			return nil, fmt.Errorf("%w (%s)", err, strings.Join(now, "; "))
		}
		f.leftOut = append(f.leftOut, now...)
	}
}

func writeFindings(w io.Writer, found []diagnose.Finding) {
	for _, f := range found {
		fmt.Fprintf(w, "%s: %s\n", f.Severity, f.Message)
	}
}
