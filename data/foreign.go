package data

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"missingscore/data/format"
)

// foreigners are file formats that R converts, with any of these first bytes.
var foreigners = []struct {
	name, endings string
	begins        []string
	r             string
}{
	{"an SPSS file", ".sav .zsav", []string{"$FL2", "$FL3"}, "haven::read_sav"},
	{"an SPSS portable file", ".por", []string{"ASCII SPSS PORT FILE"}, "haven::read_por"},
	{"a Stata file", ".dta", []string{"<stata_dta>"}, "haven::read_dta"},
	{"a SAS file", ".sas7bdat", []string{strings.Repeat("\x00", 12) + "\xc2\xea\x81\x60"}, "haven::read_sas"},
	{"a SAS transport file", ".xpt", []string{"HEADER RECORD*******LIB"}, "haven::read_xpt"},
	{"an R file", ".rds", []string{"X\n\x00\x00\x00", "A\n2\n", "A\n3\n"}, "readRDS"},
	{"an R workspace", ".rdata .rda", []string{"RDX2\n", "RDX3\n", "RDA2\n", "RDA3\n"}, "load"},
	{"an old Excel file, or one with a password", ".xls", []string{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}, "readxl::read_excel"},
	{"an OpenDocument table", ".ods", []string{"vnd.oasis.opendocument.spreadsheet"}, "readODS::read_ods"},
	{"a Feather file of version 1", "", []string{"FEA1"}, "arrow::read_feather"},
}

func foreignFile(path, name string, first []byte) error {
	for _, f := range foreigners {
		known := slices.ContainsFunc(f.begins, func(begin string) bool {
			return bytes.HasPrefix(first, []byte(begin)) || len(begin) >= 20 && bytes.Contains(first, []byte(begin))
		})
		if known || slices.Contains(strings.Fields(f.endings), format.Ending(path)) {
			return fmt.Errorf("%s: %s; save it as CSV, in R by %s and write.csv(…, row.names = FALSE, na = \"\")", name, f.name, f.r)
		}
	}
	return nil
}
