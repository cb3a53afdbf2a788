package cmd

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A stage that begins again starts its clock anew.
func TestTimeLeft(t *testing.T) {
	p := newProgress(&bytes.Buffer{}, false)
	p.count("impute", "chains", 2, 5)
	require.Equal(t, "time left unknown", p.left(2, 5))
	p.start = time.Now().Add(-20 * time.Second)
	p.count("impute", "chains", 4, 5)
	require.Equal(t, "about 10s left", p.left(4, 5))
	p.count("impute", "chains", 1, 5)
	require.Equal(t, "time left unknown", p.left(1, 5))
	p.start = time.Now().Add(-30 * time.Second)
	require.Equal(t, "about 1m30s left", p.left(2, 5))
}

func TestReading(t *testing.T) {
	defer func(d time.Duration) { sayEach = d }(sayEach)
	sayEach = time.Nanosecond
	var said bytes.Buffer
	read := newReading(&said)
	read(500_000, 1_500_000)
	read(600_000, 0)
	require.Equal(t, "reading: 500 of 1501 kB, time left unknown\n", said.String())
}
