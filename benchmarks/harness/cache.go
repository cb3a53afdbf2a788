package harness

import "sync"

// RecentCache makes what cells share once and keeps the last few, for the methods of one
// replicate stand beside each other in a grid.
type RecentCache[K comparable, V any] struct {
	mu   sync.Mutex
	keep int
	keys []K
	made map[K]func() (V, error)
}

// NewRecentCache keeps so many.
func NewRecentCache[K comparable, V any](keep int) *RecentCache[K, V] {
	return &RecentCache[K, V]{keep: keep, made: map[K]func() (V, error){}}
}

// Get makes the value, or waits for the one being made, or gives the one kept.
func (l *RecentCache[K, V]) Get(key K, make func() (V, error)) (V, error) {
	l.mu.Lock()
	get, ok := l.made[key]
	if !ok {
		get = sync.OnceValues(make)
		l.made[key] = get
		if l.keys = append(l.keys, key); len(l.keys) > l.keep {
			delete(l.made, l.keys[0])
			l.keys = l.keys[1:]
		}
	}
	l.mu.Unlock()
	return get()
}
