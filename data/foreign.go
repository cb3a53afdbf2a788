package data

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"missingscore/data/format"
)

// foreign is a file format that other programs must convert: R's haven or Python's pyreadstat and
// pyreadr.
type foreign struct {
	name    string
	endings []string
	begins  []string // any of these in the first bytes
	r       string   // R code that makes the data frame x of the file %q
	python  string   // Python code that makes the data frame x, and the metadata m if any
	labels  bool     // variables may have labels, and codes of missing answers
}

var foreigners = []foreign{
	{"an SPSS file", []string{".sav", ".zsav"}, []string{"$FL2", "$FL3"}, "x <- haven::read_sav(%q)", "import pandas, pyreadstat; x, m = pyreadstat.read_sav(%q)", true},
	{"an SPSS portable file", []string{".por"}, []string{"ASCII SPSS PORT FILE"}, "x <- haven::read_por(%q)", "import pandas, pyreadstat; x, m = pyreadstat.read_por(%q)", true},
	{"a Stata file", []string{".dta"}, []string{"<stata_dta>"}, "x <- haven::read_dta(%q)", "import pandas, pyreadstat; x, m = pyreadstat.read_dta(%q)", true},
	{"a SAS file", []string{".sas7bdat"}, []string{strings.Repeat("\x00", 12) + "\xc2\xea\x81\x60"}, "x <- haven::read_sas(%q)", "import pandas, pyreadstat; x, m = pyreadstat.read_sas7bdat(%q)", true},
	{"a SAS transport file", []string{".xpt"}, []string{"HEADER RECORD*******LIB"}, "x <- haven::read_xpt(%q)", "import pandas, pyreadstat; x, m = pyreadstat.read_xport(%q)", true},
	{"an R file", []string{".rds"}, []string{"X\n\x00\x00\x00", "A\n2\n", "A\n3\n"}, "x <- readRDS(%q)", "import pyreadr; x = next(iter(pyreadr.read_r(%q).values()))", false},
	{"an R workspace", []string{".rdata", ".rda"}, []string{"RDX2\n", "RDX3\n", "RDA2\n", "RDA3\n"}, "e <- new.env(); x <- e[[load(%q, e)[1]]]", "import pyreadr; x = next(iter(pyreadr.read_r(%q).values()))", false},
	{"an old Excel file, or one with a password", []string{".xls"}, []string{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}, "x <- readxl::read_excel(%q)", "import pandas; x = pandas.read_excel(%q)", false},
	{"an OpenDocument table", []string{".ods"}, []string{"vnd.oasis.opendocument.spreadsheet"}, "x <- readODS::read_ods(%q)", "import pandas; x = pandas.read_excel(%q)", false},
	{"a Feather file of version 1", nil, []string{"FEA1"}, "x <- arrow::read_feather(%q)", "import pandas; x = pandas.read_feather(%q)", false},
}

// foreignFile refuses a file that must be converted and gives the commands: values as numbers,
// codes of missing answers as missing cells, labels in a second file.
func foreignFile(path, name string, first []byte) error {
	at := slices.IndexFunc(foreigners, func(f foreign) bool {
		return slices.Contains(f.endings, format.Ending(path)) || slices.ContainsFunc(f.begins, func(begin string) bool {
			return bytes.HasPrefix(first, []byte(begin)) || len(begin) >= 20 && bytes.Contains(first, []byte(begin))
		})
	})
	if at < 0 {
		return nil
	}
	f, base, table := foreigners[at], strings.TrimSuffix(path, filepath.Ext(path)), "x"
	if f.labels {
		table = "haven::zap_labels(haven::zap_missing(x))"
	}
	r := fmt.Sprintf(f.r+"; write.csv(%s, %q, row.names = FALSE, na = \"\")", path, table, base+".csv")
	python := fmt.Sprintf(f.python+"; x.to_csv(%q, index=False)", path, base+".csv")
	if f.labels {
		r += fmt.Sprintf("; write.csv(data.frame(name = names(x), label = sapply(x, function(v) paste(attr(v, \"label\"), collapse = \" \"))), %q, row.names = FALSE)", base+"-labels.csv")
		python += fmt.Sprintf("; pandas.DataFrame({\"name\": m.column_names, \"label\": m.column_labels}).to_csv(%q, index=False)", base+"-labels.csv")
	}
	return fmt.Errorf("%s: %s; convert it with\n  R       %s\n  Python  %s", name, f.name, r, python)
}
