//go:build unix

package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"missingscore/internal/memory"
	"missingscore/internal/stream"
)

// waitPeak waits for the end of a process that has begun, and gives the most memory of it that was
// resident at a time, in bytes, as looked at every few milliseconds; 0 where the system does not tell.
func waitPeak(c *exec.Cmd) (peak float64, err error) {
	process := strconv.Itoa(c.Process.Pid)
	for {
		bytes, ok := memory.Resident(process, "VmHWM")
		if !ok { // it has ended, or was never to be seen
			return peak, c.Wait()
		}
		peak = max(peak, bytes)
		time.Sleep(2 * time.Millisecond)
	}
}

// wideFile is a file of so many rows of a chain of 20 normal columns, written a row at a time, of
// which a share of the cells is missing.
func wideFile(t *testing.T, name string, rows int, missing float64) string {
	const d, correlation = 20, 0.6
	path := filepath.Join(t.TempDir(), name)
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	columns, header := parquet.Group{}, make([]string, d)
	for j := range header {
		header[j] = fmt.Sprintf("x%02d", j+1)
		columns[header[j]] = parquet.Compressed(parquet.Optional(parquet.Leaf(parquet.DoubleType)), &parquet.Snappy)
	}
	lines, table := bufio.NewWriter(file), parquet.NewGenericWriter[any](file, parquet.NewSchema("table", columns))
	if filepath.Ext(name) == ".csv" {
		_, err = fmt.Fprintln(lines, strings.Join(header, ","))
		require.NoError(t, err)
	}
	rng := stream.New(1, stream.Simulate)
	row, line, last := make(parquet.Row, d), []byte(nil), 0.0
	for i := range rows {
		line = line[:0]
		for j := range row {
			x := rng.NormFloat64()
			if j > 0 {
				x = correlation*last + math.Sqrt(1-correlation*correlation)*x
			}
			last = x
			if row[j] = parquet.NullValue().Level(0, 0, j); rng.Float64() >= missing {
				row[j] = parquet.DoubleValue(x).Level(0, 1, j)
				line = strconv.AppendFloat(line, x, 'g', -1, 64)
			}
			line = append(line, ',')
		}
		if filepath.Ext(name) == ".csv" {
			line[len(line)-1] = '\n'
			_, err = lines.Write(line)
		} else if _, err = table.WriteRows([]parquet.Row{row}); err == nil && (i+1)%(1<<17) == 0 {
			err = table.Flush()
		}
		require.NoError(t, err)
	}
	if filepath.Ext(name) == ".csv" {
		require.NoError(t, lines.Flush())
	} else {
		require.NoError(t, table.Close())
	}
	return path
}

// peakOf is the most memory that a command by two processors took, in bytes, and what it said; it
// must end with this exit code.
func peakOf(t *testing.T, code int, args ...string) (most float64, said string) {
	c := exec.Command("missingscore", args...)
	c.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "GOMAXPROCS=2")
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	require.NoError(t, c.Start())
	most, err := waitPeak(c)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.Equal(t, code, c.ProcessState.ExitCode(), "%s", &text)
	require.NotZero(t, most)
	return most, text.String()
}
