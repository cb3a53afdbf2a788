// Package data holds what a fit starts from: tables with missing cells, their
// files, their units, batches of their rows, and simulated tables whose true
// distribution is known.
//
// Letters: n rows, d columns. A cell is observed or missing; what stands under
// a missing cell is never read. Errors name the file, the line and the column,
// and say what to do; the flags in them are those of the missingscore command.
package data
