package session

import (
	"reflect"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/server"
)

// The calls of a trail come one after the other, so that whether they may overlap cannot be seen from outside.
func TestServerConfigHasEveryLimitOfTheEntry(t *testing.T) {
	t.Parallel()
	got := serverConfig(config.Server{Name: "n", StartupTimeout: time.Second, CallTimeout: time.Minute, Parallel: true, RestartOnCrash: true})
	want := server.Config{Name: "n", StartupTimeout: time.Second, CallTimeout: time.Minute, Parallel: true, RestartOnCrash: true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if none := serverConfig(config.Server{Name: "n"}); !reflect.DeepEqual(none, server.Config{Name: "n"}) {
		t.Errorf("an entry that says nothing: %+v", none)
	}
}
