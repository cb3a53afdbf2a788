// Package data has tables with missing cells, their files, scales and batches. Simulated tables are
// in data/simulate.
//
//	Table, NewTable, HideMCAR               rows of named columns with missing cells
//	ReadFile                                tables from files
//	Blocks                                  tables that need not be held
//	Cells                                   a file's text, to be completed as it is
//	Standardise, Scale                      columns' units
//	Batch                                   a block of rows, for programs
//
// Letters: n rows, d columns. The value of a missing cell is never read. Errors name file, line and
// column and say what to do; they name settings, as ReadOptions.Columns.
package data
