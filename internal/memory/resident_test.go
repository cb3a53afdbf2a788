package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResidentLine(t *testing.T) {
	const status = "Name:\tVmHWM: \nVmPeak:\t 1234 kB\nVmHWM:\t   29612 kB\nVmRSS:\t 20000 kB\n"
	bytes, ok := residentLine(status, "VmHWM")
	require.True(t, ok)
	require.Equal(t, 29612.0*1024, bytes)
	_, ok = residentLine(status, "VmSwap")
	require.False(t, ok)
	_, ok = residentLine("", "VmHWM")
	require.False(t, ok)
}
