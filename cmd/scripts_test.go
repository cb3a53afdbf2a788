package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"missingscore/internal/slowtest"
)

// saveEachVariable says how often processes of tests save their state.
const saveEachVariable = "MISSINGSCORE_TEST_SAVE_EACH"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"missingscore": func() {
		if each, err := time.ParseDuration(os.Getenv(saveEachVariable)); err == nil {
			saveEach = each
		}
		Main()
	}})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Condition: func(name string) (bool, error) {
			switch name {
			case "data":
				return os.Getenv("MISSINGSCORE_DATA") != "", nil
			case "slow":
				return slowtest.Set(), nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("MISSINGSCORE_DATA", os.Getenv("MISSINGSCORE_DATA"))
			for name, text := range map[string]string{ // txtar cannot hold these line ends
				"crlf.csv": "a,b\r\n1,2\r\n2,NA\r\n3,5\r\n5,4\r\n2,2\r\n",
				"bom.csv":  "\ufeffa,b\n1,2\n2,NA\n3,5\n5,4\n2,2\n",
			} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
					return err
				}
			}
			return os.Symlink(examples, filepath.Join(env.WorkDir, "examples"))
		},
	})
}
