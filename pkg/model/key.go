package model

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// keyLifetime is how long the key of a command is kept.
const keyLifetime = 5 * time.Minute

// keyring has the key of a provider.
type keyring struct {
	fetch func(context.Context) (string, error) // nil if the key does not change

	mu      sync.Mutex
	key     string
	fetched time.Time
}

// get returns the key, empty for a provider without one.
func (k *keyring) get(ctx context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fetch == nil || k.key != "" && time.Since(k.fetched) < keyLifetime {
		return k.key, nil
	}
	key, err := k.fetch(ctx)
	if err != nil {
		return "", err
	}
	if key = strings.TrimSpace(key); key == "" || strings.ContainsAny(key, "\r\n\x00") {
		return "", fault.New(fault.Provider, "run it by hand: it has to print the key and nothing else", "the command of apiKeyCommand did not print one line with a key")
	}
	k.key, k.fetched = key, time.Now()
	return key, nil
}

// reject forgets a key that the provider rejected. It reports whether get can return another one.
func (k *keyring) reject(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key == key {
		k.fetched = time.Time{}
	}
	return k.fetch != nil
}
