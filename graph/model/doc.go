// Package model holds the models: unnormalised densities, or scores alone, as expressions.
//
//	Model, Evaluation               what a model is, and what it gives at points
//	Models, New, Options            models by name; Quantity and Training, what they have
//	Gaussian, Quartic, Mixture      the models that are here; neural ones are in package nets
//	Rescaled, Joint, Missingness    a model in other units, or with the law of its gaps
//	Capabilities, AsNormal          what a model has
//	Evaluator, SampleRows           numbers and draws of one
//
// What a model can do beside Evaluate it states by methods: Parametric, Configured,
// Supported, FixedOrigin, Normal, Sampler, Trainable, Identified, Coupled, NoiseConditional,
// MaskConditional.
//
// Formulas: docs/theory/models.md.
package model
