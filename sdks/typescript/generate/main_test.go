package main

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/embedded"
)

func TestDistIsUpToDate(t *testing.T) {
	t.Parallel()
	if err := embedded.CheckDist("..", build); err != nil {
		t.Error(err)
	}
}
