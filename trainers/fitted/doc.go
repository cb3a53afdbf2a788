// Package fitted has models in files, and what is done with them: missing cells and new
// rows are drawn, and rows are scored.
//
//	Saved, Load              a model's file
//	Model                    one ready for use, by Saved.Fitted
//	Impute, Sample, Score    its uses, each with settings and a result of its own
//
// Draws come from a sampler by name: Samplers for missing cells, RowSamplers for rows. A new one is a
// line of cellSamplers or rowSamplers.
package fitted
