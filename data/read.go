package data

// ReadFile reads a table from a file, by its first bytes an Excel workbook, a Parquet or an Arrow
// (Feather) file, or text as ReadCSV reads it, each plain or compressed by gzip or Zstandard; the
// path "-" is the standard input.
//
// A file that is no text is read as if its cells were text: a null is an empty cell, a NaN the
// cell "NaN", a number its shortest decimal, true and false 1 and 0, a date or time its text, with a Z
// behind it where the file has it in UTC. So the
// rules of ParseCSV and its errors are those of these files, but where a file has no lines
// they count rows, the first below the names being row 1.
func ReadFile(path string, o ReadOptions) (*Table, error) {
	in, err := openInput(path, true)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return in.table(o)
}

// table reads a file of any format.
func (in *input) table(o ReadOptions) (*Table, error) {
	f, err := in.format()
	if err != nil {
		return nil, err
	}
	if f == nil {
		return in.csv(o)
	}
	c, err := in.columnar(f, o)
	if err != nil {
		return nil, err
	}
	defer func() { c.reader.Close() }()
	return c.table()
}
