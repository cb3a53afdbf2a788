package memory

import (
	"os/exec"
	"runtime"
	"strconv"
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

// A child's figure is its own: not what this process, its parent, holds.
func TestResidentOfAChild(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell")
	}
	held := make([]byte, 100<<20)
	for i := range held {
		held[i] = 1
	}
	own, ok := Resident("self", "VmHWM")
	require.True(t, ok)
	require.Greater(t, own, 100.0*(1<<20))
	child := exec.Command("sleep", "60")
	require.NoError(t, child.Start())
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	of, ok := Resident(strconv.Itoa(child.Process.Pid), "VmHWM")
	require.True(t, ok)
	require.Less(t, of, 50.0*(1<<20))
	runtime.KeepAlive(held)
}
