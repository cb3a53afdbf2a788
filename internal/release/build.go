package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// builder builds the program of one tree.
type builder struct {
	root, scratch string
	log           io.Writer

	version string    // of the program, as it says itself
	dirty   bool      // changes are not committed
	at      time.Time // of the revision: the time of every file in the archives
	size    int64     // of the program built last, in bytes
}

// reference is the folder of certified values, whose digits docs/reference/digits.md reports.
const reference = "trainers/certified/reference"

// describe builds the program for this machine and lets it say what is the same in every
// archive: its version, its manual pages and completions. With them come the documents.
func (b *builder) describe(ctx context.Context) (common []entry, err error) {
	program, err := b.build(ctx, target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return nil, err
	}
	said, err := output(ctx, b.root, nil, program, "--version")
	if err != nil {
		return nil, err
	}
	b.version, b.dirty = strings.Fields(said)[1], strings.Contains(said, "not committed")
	if b.at, err = b.revisionTime(ctx); err != nil {
		return nil, err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "TRUST.md", "docs/reference/digits.md", "examples/airquality.csv"} {
		text, err := os.ReadFile(filepath.Join(b.root, name))
		if err != nil {
			return nil, err
		}
		common = append(common, entry{name: name, content: text})
	}
	tables, err := allIn(filepath.Join(b.root, reference), reference+"/")
	if err != nil {
		return nil, err
	}
	common = append(common, tables...)
	for shell, file := range map[string]string{"bash": "missingscore.bash", "zsh": "_missingscore", "fish": "missingscore.fish", "powershell": "missingscore.ps1"} {
		text, err := output(ctx, b.root, nil, program, "completion", shell)
		if err != nil {
			return nil, err
		}
		common = append(common, entry{name: "completions/" + file, content: []byte(text + "\n")})
	}
	listed, err := output(ctx, b.root, nil, program, "__completeNoDesc", "man", "")
	if err != nil {
		return nil, err
	}
	pages := map[string][]string{"missingscore": {"man"}}
	for _, name := range strings.Fields(listed) {
		if !strings.HasPrefix(name, ":") && name != "help" && name != "completion" {
			pages["missingscore-"+name] = []string{"man", name}
		}
	}
	for page, args := range pages {
		text, err := output(ctx, b.root, nil, program, args...)
		if err != nil {
			return nil, err
		}
		common = append(common, entry{name: "man/" + page + ".1", content: []byte(text + "\n")})
	}
	return common, nil
}

// build gives the path of the program for a target: without cgo, without paths of this
// machine, and without the tables of debuggers.
func (b *builder) build(ctx context.Context, t target) (string, error) {
	name := filepath.Join(b.scratch, t.system+"-"+t.processor, "missingscore")
	if t.system == "windows" {
		name += ".exe"
	}
	_, err := output(ctx, b.root, t.environment(), "go", "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w", "-o", name, "./cmd/missingscore")
	return name, err
}

// environment is what tells go what to build for; GOAMD64 and its like are the least that
// every processor has.
func (t target) environment() []string {
	return []string{"GOOS=" + t.system, "GOARCH=" + t.processor, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT="}
}

// revisionTime is that of the commit, or of SOURCE_DATE_EPOCH where a tree is no repository.
func (b *builder) revisionTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = output(ctx, b.root, nil, "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("the time of the revision is unknown; SOURCE_DATE_EPOCH can say it: %w", err)
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("the time of the revision is %q, and seconds are expected", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// archive builds for a target and packs what belongs to it. It gives the archive's name.
func (b *builder) archive(ctx context.Context, out string, t target, common []entry) (string, error) {
	program, err := b.build(ctx, t)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	b.size = int64(len(text))
	licences, err := b.licences(ctx, t)
	if err != nil {
		return "", err
	}
	entries := append([]entry{{name: filepath.Base(program), content: text, program: true}}, common...)
	entries = append(entries, licences...)
	folder := fmt.Sprintf("missingscore-%s-%s-%s", b.version, t.system, t.processor)
	pack, name := packTar, folder+".tar.gz"
	if t.system == "windows" {
		pack, name = packZip, folder+".zip"
	}
	return name, writeFile(filepath.Join(out, name), func(w io.Writer) error { return pack(w, folder, b.at, entries) })
}

// output runs a command in a folder and gives what it prints, without the line's end.
func output(ctx context.Context, dir string, environment []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	var told bytes.Buffer
	c.Stderr = &told
	text, err := c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{filepath.Base(name)}, args...), " "), err, told.String())
	}
	return strings.TrimSuffix(string(text), "\n"), err
}
