// Package data holds what a fit starts from: tables with missing cells, their
// files, their units and batches of their rows. Simulated tables are in data/simulate.
//
//	Table, NewTable, HideMCAR               rows of named columns with missing cells
//	ReadFile, ReadPrices                    tables from files
//	Blocks                                  tables that need not be held
//	Cells                                   a file's text, to be completed as it is
//	Standardise, Scale                      columns' units
//	Batch                                   a block of rows, for programs
//
// Letters: n rows, d columns. A cell is observed or missing; what stands under
// a missing cell is never read. Errors name the file, the line and the column,
// and say what to do; the flags in them are those of the missingscore command.
package data
