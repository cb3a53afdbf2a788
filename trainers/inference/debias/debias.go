// Package debias infers the partial correlations of a network by one step from its
// penalised estimate.
package debias
