package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// job has the fields of batch/v1 that the manifest uses; others are refused.
type job struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		CompletionMode       string `yaml:"completionMode"`
		Completions          int
		Parallelism          int
		BackoffLimitPerIndex int `yaml:"backoffLimitPerIndex"`
		Suspend              bool
		Template             struct{ Spec pod }
	}
}

type pod struct {
	RestartPolicy string `yaml:"restartPolicy"`
	Containers    []struct {
		Name, Image   string
		Env           []struct{ Name, Value string }
		Command, Args []string
		Resources     struct{ Requests, Limits map[string]string }
		VolumeMounts  []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name                  string
		PersistentVolumeClaim struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
	}
}

func jobs(t *testing.T) (out []job) {
	text, err := os.ReadFile("moments.yaml")
	require.NoError(t, err)
	in := yaml.NewDecoder(bytes.NewReader(text))
	in.KnownFields(true)
	for {
		var j job
		err := in.Decode(&j)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		out = append(out, j)
	}
}

func TestFields(t *testing.T) {
	all := jobs(t)
	require.Len(t, all, 2)
	for _, j := range all {
		require.Equal(t, "batch/v1", j.APIVersion)
		require.Equal(t, "Job", j.Kind)
		s := j.Spec.Template.Spec
		require.Contains(t, []string{"Never", "OnFailure"}, s.RestartPolicy)
		require.Len(t, s.Containers, 1)
		require.Equal(t, s.Volumes[0].Name, s.Containers[0].VolumeMounts[0].Name)
		require.NotEmpty(t, s.Volumes[0].PersistentVolumeClaim.ClaimName)
	}
	first := all[0].Spec
	require.Equal(t, "Indexed", first.CompletionMode)
	require.Equal(t, "Never", first.Template.Spec.RestartPolicy) // as backoffLimitPerIndex needs
	require.Equal(t, first.Completions, first.Parallelism)
	require.Equal(t, fmt.Sprint(first.Completions), first.Template.Spec.Containers[0].Env[0].Value)
	require.True(t, all[1].Spec.Suspend)
}

// Every index is a shard of its own, from 1 to the number of completions.
func TestShards(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "missingscore"), []byte("#!"+shell+"\necho \"$@\"\n"), 0o700))
	c := jobs(t)[0].Spec.Template.Spec.Containers[0]
	for index, want := range map[string]string{"0": "--shard 1/20 ", "19": "--shard 20/20 "} {
		cmd := exec.Command(shell, append(c.Command[1:], c.Args...)...)
		cmd.Env = []string{"PATH=" + dir, "JOB_COMPLETION_INDEX=" + index, "SHARDS=" + c.Env[0].Value}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.True(t, strings.HasPrefix(string(out), "moments "), string(out))
		require.Contains(t, string(out), want)
	}
}
