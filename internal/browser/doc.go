// Package browser has tests that open reports in Chromium and work with them.
package browser
