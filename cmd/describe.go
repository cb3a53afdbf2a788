package cmd

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/data/mcar"
	"missingscore/internal/printable"
	"missingscore/internal/shell"
	"missingscore/internal/spelling"
	"missingscore/trainers"
)

type tableDescription struct {
	trainingFlags        // of the planned fit
	kinds         string // file for them

	file     string
	read     *data.Table
	complete int // rows without a gap
	columns  []describedColumn
	findings []diagnose.Finding
	gaps     []mcar.Column
}

type describedColumn struct {
	data.Column
	Distinct int      `json:"distinct"` // values that differ
	Missing  int      `json:"missing"`
	Mean     *float64 `json:"mean,omitempty"` // of numbers
	SD       *float64 `json:"sd,omitempty"`
	Low      *float64 `json:"min,omitempty"`
	High     *float64 `json:"max,omitempty"`
}

func (f *tableDescription) add(cmd *cobra.Command) {
	f.tableFlags.lenient = true
	f.addTable(cmd)
	cmd.Flags().StringVar(&f.kinds, "kinds-out", "", "write the kinds of columns to this `file`, for --kinds")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
}

func (f *tableDescription) run(cmd *cobra.Command, file string) error {
	f.file = file
	if err := abandonable(cmd.Context(), f.load); err != nil {
		return asUsage(cmd, err)
	}
	if f.kinds != "" {
		var columns []data.Column
		for _, c := range f.columns {
			columns = append(columns, c.Column)
		}
		if err := atomicfile.Write(f.kinds, func(w io.Writer) error { return data.WriteKinds(w, columns) }); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(cmd.OutOrStdout(), map[string]any{"file": file, "rows": f.read.N, "columns": f.columns, "left_out": array(f.read.LeftOut), "missing": f.read.Missing(), "complete_rows": f.complete,
			"findings": array(f.findings), "missing_at_random": array(f.gaps), "next": f.next(cmd)})
	}
	f.print(cmd)
	return nil
}

func (f *tableDescription) load() (err error) {
	t, err := f.tableFlags.read(f.file)
	if err != nil {
		return err
	}
	f.read = t
	if t.N > 0 {
		f.gaps = mcar.TestBy(runtime.GOMAXPROCS(0), t)
		if f.findings, err = f.find(t); err != nil {
			return err
		}
	}
	for i := range t.N {
		if !slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			f.complete++
		}
	}
	for j := range t.D {
		c := data.Column{Name: t.Names[j], Kind: t.Kinds[j], Levels: t.Levels[j]}
		f.columns = append(f.columns, newDescribedColumn(c, t.N, t.Column(j)))
	}
	for _, c := range t.LeftOut {
		f.columns = slices.Insert(f.columns, min(c.Place, len(f.columns)), describedColumn{Column: c, Distinct: c.Distinct, Missing: c.Missing})
		finding := diagnose.Finding{Severity: diagnose.Warning, Columns: []string{c.Name}}
		if c.Finding != "" {
			finding.Kind, finding.Message = "numbers", fmt.Sprintf("column %s: %s", printable.Cell(c.Name), c.Finding)
		} else if c.Kind == data.Number {
			finding.Kind, finding.LeaveOut, finding.Message = "unreadable", finding.Columns, c.LeftOut
		}
		if finding.Kind != "" {
			f.findings = append(f.findings, finding)
		}
	}
	return nil
}

func (f *tableDescription) find(t *data.Table) (found []diagnose.Finding, err error) {
	if f.spec.Transform, err = f.transform.parse(); err != nil {
		return nil, err
	}
	_, err = f.prepareBy(t, f.file, func(s trainers.Spec) (p *trainers.Prepared, err error) {
		if reflect.ValueOf(s).IsZero() {
			found, err = diagnose.Table(t, diagnose.Setting{})
		} else if t, _, err = data.NumbersOnly(t); err == nil {
			if p, err = trainers.Prepare(t, s); err == nil {
				found, err = p.Findings()
			}
		}
		return p, err
	})
	return found, err
}

func newDescribedColumn(of data.Column, n int, values []float64) describedColumn {
	c := describedColumn{Column: of, Missing: n - len(values)}
	if c.Levels != nil {
		c.Distinct, c.Counts = len(c.Levels), make([]int, len(c.Levels))
		for _, v := range values {
			c.Counts[int(v)]++
		}
		return c
	}
	mean, squares := 0.0, 0.0 // Welford's recursion
	for i, v := range values {
		delta := v - mean
		mean += delta / float64(i+1)
		squares += delta * (v - mean)
	}
	c.Mean, c.SD = &mean, new(math.Sqrt(squares/float64(max(1, len(values)-1))))
	slices.Sort(values)
	c.Low, c.High = new(values[0]), new(values[len(values)-1])
	c.Distinct = len(slices.Compact(values))
	return c
}

const listedLevels = 3

func (c describedColumn) holds() string {
	if c.Levels == nil && c.Low == nil || c.Kind == data.Constant {
		return ""
	}
	if c.Levels == nil {
		return short(*c.Low) + " to " + short(*c.High)
	}
	cells, order := 0, []int(nil)
	for k, count := range c.Counts {
		cells, order = cells+count, append(order, k)
	}
	slices.SortStableFunc(order, func(a, b int) int { return c.Counts[b] - c.Counts[a] })
	var words []string
	for _, k := range order[:min(listedLevels, len(order))] {
		words = append(words, printable.Cell(c.Levels[k])+" "+wholePercent(c.Counts[k], cells))
	}
	if more := len(order) - listedLevels; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

func (f *tableDescription) found(c describedColumn) string {
	if c.Finding != "" {
		return "left out: text with numbers"
	}
	if c.LeftOut != "" && c.Kind == data.Number {
		return "must be corrected"
	}
	if c.LeftOut != "" {
		return "left out: " + c.LeftOut
	}
	var kinds []string
	for _, found := range f.findings {
		if slices.Contains(found.Columns, c.Name) && !slices.Contains(kinds, found.Kind) {
			kinds = append(kinds, found.Kind)
		}
	}
	return strings.ReplaceAll(strings.Join(kinds, ", "), "-", " ")
}

const shownColumns = 40

func (f *tableDescription) print(cmd *cobra.Command) {
	out, t := cmd.OutOrStdout(), f.read
	columns := counted(len(f.columns), "column")
	if n := len(t.LeftOut); n > 0 {
		columns += fmt.Sprintf(" (%d left out)", n)
	}
	fmt.Fprintf(out, "%s: %s, %s, %s missing (%.1f %%), %s complete\n", f.file, counted(t.N, "row"), columns, counted(t.Missing(), "cell"), 100*float64(t.Missing())/float64(max(1, t.N*t.D)), counted(f.complete, "row"))
	if t.Dropped > 0 {
		fmt.Fprintf(out, "%s without any value left out\n", counted(t.Dropped, "row"))
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\tkind\tdistinct\tmissing\tmean\tsd\trange or levels\tfindings\t")
	for _, c := range f.columns[:min(len(f.columns), shownColumns)] {
		mean, sd, rows := "", "", t.N
		if c.Mean != nil {
			mean, sd = short(*c.Mean), short(*c.SD)
		}
		if c.LeftOut != "" {
			rows += t.Dropped
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d (%s)\t%s\t%s\t%s\t%s\t\n", cmp.Or(printable.Cell(c.Name), "(no name)"), c.Kind, c.Distinct, c.Missing, wholePercent(c.Missing, rows), mean, sd, c.holds(), f.found(c))
	}
	w.Flush()
	tellMore(out, "… and %d more columns (--json has all)\n", len(f.columns)-shownColumns)
	printGaps(out, f.gaps)
	fmt.Fprintln(out)
	writeFindings(out, f.findings)
	if t.D == 0 {
		fmt.Fprintln(out, "no column can be used: see the findings above")
	} else if len(f.findings) == 0 {
		fmt.Fprintln(out, "no fault found in the table")
	}
	if steps := f.next(cmd); len(steps) > 0 {
		fmt.Fprintf(out, "\nnext:\n  %s\n", strings.Join(steps, "\n  "))
	}
}

// tellMore says how many things are not shown, if there are any.
func tellMore(w io.Writer, format string, more int) {
	if more > 0 {
		fmt.Fprintf(w, format, more)
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// wholePercent rounds the share k/n, but never to 0 % or 100 % unless exact.
func wholePercent(k, n int) string {
	switch share := 100 * float64(k) / float64(n); {
	case k > 0 && share < 1:
		return "< 1 %"
	case k < n && share > 99:
		return "> 99 %"
	default:
		return fmt.Sprintf("%.0f %%", share)
	}
}

const manyColumns = 300 // from which pairwise is the method that is fast enough

// If text columns hold numbers, the next command is the description again.
func (f *tableDescription) next(cmd *cobra.Command) []string {
	t := f.read
	texts := slices.Clone(f.tableFlags.texts) // columns for --numbers
	for _, c := range t.LeftOut {
		if c.Finding != "" && c.Finding != c.LeftOut {
			texts = append(texts, c.Name)
		}
	}
	var given []string // flags that say how the table is read
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch {
		case slices.Contains([]string{"json", "quiet", "kinds-out", "numbers"}, flag.Name):
		case flag.NoOptDefVal == flag.Value.String(): // a switch that is on
			given = append(given, "--"+flag.Name)
		default:
			given = append(given, "--"+flag.Name, flagWord(flag.Value))
		}
	})
	given = append(given, flagOf("--numbers", texts)...)
	if len(texts) > len(f.tableFlags.texts) {
		return []string{strings.Join(append([]string{"missingscore", shell.Word(f.file)}, given...), " ")}
	}
	if diagnose.Refusal(t) != nil || t.D < 2 || slices.ContainsFunc(f.findings, func(found diagnose.Finding) bool {
		return slices.Contains([]string{"matrix", "imputed-tables"}, found.Kind)
	}) {
		return []string{}
	}
	name := data.Stem(f.file)
	if name == "" || name == "-" {
		name = "table"
	}
	if k := slices.IndexFunc(f.findings, func(found diagnose.Finding) bool { return found.Missing != nil }); k >= 0 && !cmd.Flags().Changed("na") {
		given = append(given, "--na", shell.List(f.findings[k].Missing))
	}
	network := append([]string{"missingscore", "network", shell.Word(f.file)}, given...)
	network = append(network, f.advised()...)
	if t.D > manyColumns {
		network = append(network, "--method", "pairwise")
	}
	steps := []string{strings.Join(append(network, "--out", shell.Word(name+"-network")), " ")}
	if t.Missing() > 0 || slices.Contains(given, "--na") {
		impute := append([]string{"missingscore", "impute", shell.Word(f.file)}, given...)
		impute = append(impute, flagOf("--exclude", f.leftOut("identifier", "unreadable"))...) // others have gaps worth filling
		steps = append(steps, strings.Join(append(impute, "--draws", "20", "--out", shell.Word(name+"-completed.csv")), " "))
	}
	return steps
}

// advised are --exclude and --transform as the findings advise.
func (f *tableDescription) advised() (words []string) {
	left := f.leftOut()
	var transforms []string
	for _, found := range f.findings {
		for _, function := range found.Functions {
			if name, _, _ := strings.Cut(function, "="); !slices.Contains(left, name) {
				transforms = append(transforms, function)
			}
		}
	}
	return append(flagOf("--exclude", left), flagOf("--transform", transforms)...)
}

// leftOut are the columns that findings of these kinds, or of all, advise to leave out.
func (f *tableDescription) leftOut(kinds ...string) (names []string) {
	for _, found := range f.findings {
		for _, name := range found.LeaveOut {
			if (kinds == nil || slices.Contains(kinds, found.Kind)) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func flagOf(flag string, values []string) []string {
	if values == nil {
		return nil
	}
	return []string{flag, shell.List(values)}
}

func commandOrTable(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := os.Stat(args[0]); err != nil && !strings.ContainsAny(args[0], `./\`) && args[0] != "-" {
		return knownCommand(root, args[0])
	}
	if len(args) > 1 {
		return usageError{fmt.Errorf("give one table, or a command first; got %d arguments%s", len(args), spelling.DidYouMean(args[1], commandNames(root)))}
	}
	return nil
}

func knownCommand(root *cobra.Command, name string) error {
	names := commandNames(root)
	meant := spelling.DidYouMean(name, names)
	if name == "check" || name == "describe" {
		meant = "; missingscore TABLE describes a table"
	}
	return obey(rule{!slices.Contains(names, name), fmt.Sprintf("there is no command %q%s", name, meant)})
}

func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	return names
}

func printGaps(stdout io.Writer, gaps []mcar.Column) {
	if len(gaps) == 0 {
		return
	}
	fmt.Fprintln(stdout, "\nAre cells missing completely at random?")
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\tmissing\tp\tcorrected\tmissing more often where\t")
	for _, c := range gaps {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t\n", c.Name, c.Missing, mcar.FormatP(c.P), mcar.FormatP(c.Corrected), where(c))
	}
	w.Flush()
}

func where(c mcar.Column) string {
	if c.Depends() || c.Predictor == "" || c.Corrected >= 1 {
		return c.Where()
	}
	return "unclear; most often where " + c.Where()
}
