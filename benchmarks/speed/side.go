package speed

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"missingscore/graph"
)

//go:embed peer_torch.py
var peerScript string

// errNoPeer is the error if no Python has PyTorch.
var errNoPeer = errors.New("no PyTorch found")

// side is one of the two processes. It prints its name, then answers each line of JSON with another;
// peer_torch.py describes the protocol.
type side struct {
	name string
	cmd  *exec.Cmd
	in   io.Closer
	ask  *json.Encoder
	hear *json.Decoder
}

// oneThread limits a side to one core.
var oneThread = []string{"GOMAXPROCS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"}

// keepMemory makes glibc keep freed pages; without it PyTorch is up to 1.5 times slower.
var keepMemory = []string{"MALLOC_MMAP_THRESHOLD_=1073741824", "MALLOC_TRIM_THRESHOLD_=4294967296", "MALLOC_TOP_PAD_=268435456"}

func launch(env []string, program string, args ...string) (*side, error) {
	s := &side{cmd: exec.Command(program, args...)}
	s.cmd.Env = append(os.Environ(), append(env, oneThread...)...)
	s.cmd.Stderr = os.Stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.in, s.ask, s.hear = in, json.NewEncoder(in), json.NewDecoder(out)
	var hello struct{ Name string }
	if err := s.hear.Decode(&hello); err != nil {
		s.close()
		return nil, fmt.Errorf("%s does not start: %w", program, err)
	}
	s.name = hello.Name
	return s, nil
}

// launchOurs starts this program as a server.
func launchOurs() (*side, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return launch(nil, self, "speed", "--serve")
}

// launchPeer starts the peer with the first Python that has PyTorch. It fails with errNoPeer.
func launchPeer(pythons []string) (*side, error) {
	for _, python := range pythons {
		if exec.Command(python, "-c", "import torch").Run() == nil {
			return launch(keepMemory, python, "-c", peerScript)
		}
	}
	return nil, fmt.Errorf("%w by %s: install python3-torch or choose a Python with --python", errNoPeer, strings.Join(pythons, " or "))
}

// question sends {what: value} and decodes the answer.
func (s *side) question(what string, value, answer any) error {
	if err := s.ask.Encode(map[string]any{what: value}); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	var text json.RawMessage
	if err := s.hear.Decode(&text); err != nil {
		return fmt.Errorf("%s: no answer: %w", s.name, err)
	}
	var refusal struct{ Error string }
	if err := json.Unmarshal(text, &refusal); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if refusal.Error != "" {
		return fmt.Errorf("%s: %s", s.name, refusal.Error)
	}
	return json.Unmarshal(text, answer)
}

func (s *side) start(setting any) error {
	var nothing struct{}
	return s.question("start", setting, &nothing)
}

// warm starts a setting and runs it for some seconds.
func (s *side) warm(setting any, seconds float64) error {
	if err := s.start(setting); err != nil {
		return err
	}
	_, err := s.time(seconds)
	return err
}

// timed is the answer to {"time": seconds}.
type timed struct {
	Seconds    float64 `json:"seconds_per_iteration"`
	Iterations int     `json:"iterations"`
	Error      string  `json:"error,omitempty"`
}

func (s *side) time(seconds float64) (t timed, err error) {
	err = s.question("time", seconds, &t)
	return t, err
}

// close kills the process.
func (s *side) close() {
	s.in.Close()
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// serve answers questions until in ends.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	blas, err := graph.BLAS()
	if err != nil {
		return err
	}
	answer := json.NewEncoder(out)
	if err := answer.Encode(map[string]string{"name": blas}); err != nil {
		return err
	}
	var step func() error
	for ask := json.NewDecoder(in); ; {
		var q struct {
			Start *Setting
			Time  float64
		}
		if err := ask.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var t timed
		if q.Start != nil {
			step, err = q.Start.Stepper()
		} else {
			t.Seconds, t.Iterations, err = Time(ctx, step, 1, q.Time)
		}
		if err != nil {
			t.Error = err.Error()
		}
		if err := answer.Encode(t); err != nil {
			return err
		}
	}
}
