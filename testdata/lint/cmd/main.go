package cmd

import (
	"context"
	"os"
	_ "os/signal" // want
)

func cmd() {
	_ = os.Args // want
	_ = context.Background()
}
