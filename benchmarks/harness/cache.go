package harness

import "sync"

// RecentCache keeps the most recent values, so that cells of one replicate share a table. It is
// safe for concurrent use.
type RecentCache[K comparable, V any] struct {
	mu   sync.Mutex
	keep int
	keys []K
	made map[K]func() (V, error)
}

func NewRecentCache[K comparable, V any](keep int) *RecentCache[K, V] {
	return &RecentCache[K, V]{keep: keep, made: map[K]func() (V, error){}}
}

// Get calls make once for concurrent calls with one key.
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
