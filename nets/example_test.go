package nets_test

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"

	"missingscore/graph/model"
	"missingscore/nets"
)

func ExampleNewEnergy() {
	rng := rand.New(rand.NewPCG(1, 2))
	energy, err := nets.NewEnergy(3, nets.NetworkOptions{Hidden: []int{16, 8}, Activation: "tanh"}, rng)
	if err != nil {
		log.Fatal(err)
	}
	numbers := 0
	for _, p := range energy.Params() {
		numbers += len(p.Value)
	}
	options, err := model.Options(energy)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(numbers, "parameters", string(options))
	again, err := model.New("energy", 3, options, rng)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(again.Params()) == len(energy.Params()))
	// Output:
	// 214 parameters {"hidden":[16,8],"activation":"tanh","noise_conditional":false,"clean":{"signal":0,"noise":0}}
	// true
}

func ExampleNewImputer() {
	rng := rand.New(rand.NewPCG(1, 2))
	imputer, err := nets.NewImputer("normal", 4, []byte(`{"hidden": 20, "mask_input": true}`), rng)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(imputer.Noise(), "standard normals for a draw")
	text, err := json.Marshal(imputer.Options())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output:
	// 4 standard normals for a draw
	// {"hidden":20,"mask_input":true,"diagonal_sd":false,"initial_log_sd":0,"noise_conditional":false}
}
