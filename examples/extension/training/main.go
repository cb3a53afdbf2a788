// Training fits a neural energy of one's own to a Parquet file that need not fit into memory.
// Interrupted (Ctrl-C, SIGTERM) it saves a checkpoint; started again, also with more epochs, it goes
// on from there, to the same bytes as a run that was never cut.
//
//	training rows.parquet out 20
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"example.com/extension"

	"missingscore/data"
	_ "missingscore/data/parquet" // the formats that data.OpenRows reads beside text
	"missingscore/graph/model"
	"missingscore/trainers"
)

// energy is NewTwoLayers, with advice for its fit.
type energy struct{ model.Model }

// TrainingDefaults implements model.Trainable.
func (energy) TrainingDefaults() model.Training {
	return model.Training{Rate: 3e-3, Overfits: true, Average: 0.1}
}

func init() { // a saved model is read by its name
	model.Models["two-layers"] = func(d int, _ []byte, rng *rand.Rand) (model.Model, error) {
		return energy{extension.NewTwoLayers(d, 16, rng)}, nil
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) != 4 {
		log.Fatal("usage: training rows.parquet out epochs")
	}
	epochs, err := strconv.Atoi(os.Args[3])
	if err == nil {
		err = train(ctx, os.Args[1], os.Args[2], epochs, progress())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// train writes model.json, history.csv and the checkpoint to the folder out.
func train(ctx context.Context, path, out string, epochs int, observe func(trainers.Progress)) error {
	rows, err := data.OpenRows(path, data.ReadOptions{}, 0)
	if err != nil {
		return err
	}
	defer rows.Close()
	prepared, err := trainers.PrepareFile(ctx, rows, trainers.Spec{
		Model:   trainers.ModelSpec{Kind: "two-layers"},
		Steps:   trainers.Steps{Method: "em-var", Seed: 1, Workers: 2, Observe: observe},
		Descent: trainers.Descent{Epochs: epochs, Validation: new(0.1)}, // stops early by a tenth of the rows
	}, nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	checkpoint := filepath.Join(out, "checkpoint")
	state, err := trainers.LoadState(checkpoint)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	result, err := prepared.Estimate(ctx, trainers.Run{State: state, Save: func(s *trainers.State) error { return s.Save(checkpoint) }})
	if err != nil {
		return err
	}
	fmt.Println(result.Verdict)
	history, err := os.Create(filepath.Join(out, "history.csv"))
	if err != nil {
		return err
	}
	if err := errors.Join(result.WriteHistory(history), history.Close()); err != nil {
		return err
	}
	return result.Save(filepath.Join(out, "model.json"))
}

// progress prints a line a second.
func progress() func(trainers.Progress) {
	var last time.Time
	return func(p trainers.Progress) {
		if now := time.Now(); now.Sub(last) > time.Second {
			last = now
			fmt.Printf("%s %d of %d", p.Unit, p.Iteration, p.Total)
			if !math.IsNaN(p.Loss) { // NaN while the rows are read
				fmt.Printf(", loss %.4f", p.Loss)
			}
			fmt.Println()
		}
	}
}
