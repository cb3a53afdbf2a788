package cmd

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestANoteKeepsTheClock(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, false)
	p.count("normal", "cells", 0, 10)
	p.start = time.Now().Add(-time.Minute)
	p.note("a cell failed")
	p.count("normal", "cells", 5, 10)
	require.Equal(t, "a cell failed\nnormal: 5 of 10 cells, about 1m0s left\n", out.String())
}
