package room

import (
	"context"
	_ "flag"
	"fmt"
	_ "log" // want
	"os"
	_ "os/signal"
	"testing"
	"time"
)

func TestMain(*testing.M) {
	fmt.Println(os.Args, context.Background())
	_ = os.Unsetenv("")
	time.Sleep(0) // want
	os.Exit(0)
}
