// Package kubernetes has no code: its tests check the manifest of an Indexed Job.
package kubernetes
