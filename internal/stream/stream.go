// Package stream derives random streams from a seed and keys.
package stream

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

const (
	Initial uint64 = iota + 1
	Shuffle
	Train
	Impute
	Simulate
	Hide
	Replicate
	Objective
	Sample
	Validate
	Resample
	Permute
	Complete
	Hold
	Latent
	Survey
)

// New returns the stream of keys (purpose, iteration, batch …), independent for different keys.
func New(seed uint64, keys ...uint64) *rand.Rand { return new(Stream).At(seed, keys...).Rand }

// Stream moves between keys without allocation. The zero value is ready for At.
type Stream struct {
	*rand.Rand
	pcg rand.PCG
}

// At returns the stream of keys and ends the previous one.
func (s *Stream) At(seed uint64, keys ...uint64) *Stream {
	a, b := mix(seed), mix(seed^0x9e3779b97f4a7c15)
	for _, k := range keys {
		a = mix(a ^ mix(k+0x632be59bd9b4e019))
		b = mix(b + a)
	}
	s.pcg.Seed(a, b)
	if s.Rand == nil {
		s.Rand = rand.New(&s.pcg)
	}
	return s
}

// MarshalBinary returns the position in the stream, UnmarshalBinary goes to it.
func (s *Stream) MarshalBinary() ([]byte, error) { return s.pcg.MarshalBinary() }

func (s *Stream) UnmarshalBinary(position []byte) error { return s.pcg.UnmarshalBinary(position) }

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *Stream) Normals(dst []float64) {
	for i := range dst {
		dst[i] = s.NormFloat64()
	}
}

// Singles are the numbers of Normals in float32.
func (s *Stream) Singles(dst []float32) {
	for i := range dst {
		dst[i] = float32(s.NormFloat64())
	}
}

// Pick returns an index with probabilities proportional to p; with p all 0 the first.
func Pick(rng *rand.Rand, p []float64) int {
	u := rng.Float64() * floats.Sum(p)
	for k, v := range p {
		if u -= v; u < 0 {
			return k
		}
	}
	return floats.MaxIdx(p) // rounding
}
