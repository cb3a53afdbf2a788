package invariance

import (
	"bytes"
	"context"
	"encoding/gob"

	"missingscore/data"
	"missingscore/trainers"
)

// resumed is fit taken up from the state that it saves in the middle, of as many states as it saves.
func (c Case) resumed(ctx context.Context, change func(*trainers.Spec)) (outcome, error) {
	return c.by(ctx, c.same(), change, func(t *data.Table, s trainers.Spec) (*trainers.Result, error) {
		var saved [][]byte
		r, err := trainers.Estimate(ctx, t, s, trainers.Run{Save: func(s *trainers.State) error {
			var text bytes.Buffer
			err := gob.NewEncoder(&text).Encode(s)
			saved = append(saved, text.Bytes())
			return err
		}})
		if err != nil || len(saved) == 0 {
			return r, err
		}
		var state trainers.State
		if err := gob.NewDecoder(bytes.NewReader(saved[len(saved)/2])).Decode(&state); err != nil {
			return nil, err
		}
		return trainers.Estimate(ctx, t, s, trainers.Run{State: &state})
	})
}
