// Package room may do none of it.
package room

import (
	"bufio"
	"context"
	_ "flag" // want
	"fmt"
	_ "html/template" // want
	_ "io/ioutil"     // want
	_ "log"           // want
	_ "log/slog"
	_ "math/rand" // want
	_ "math/rand/v2"
	process "os"
	_ "os/signal"     // want
	_ "testing"       // want
	_ "text/template" // want
	"time"
)

func room() {
	process.Exit(1)                // want
	_ = process.Args               // want
	_ = process.Stdin              // want
	_ = process.Stdout             // want
	_ = process.Stderr             // want
	_ = process.Getenv("")         // want
	_, _ = process.LookupEnv("")   // want
	_ = process.Environ()          // want
	_ = process.ExpandEnv("")      // want
	_, _ = process.Getwd()         // want
	_, _ = process.UserHomeDir()   // want
	_, _ = process.UserCacheDir()  // want
	_, _ = process.UserConfigDir() // want
	_ = process.TempDir()          // want
	_ = process.Setenv("", "")     // want
	_ = process.Unsetenv("")       // want
	process.Clearenv()             // want
	_ = process.Chdir("")          // want
	fmt.Print()                    // want
	fmt.Printf("")                 // want
	fmt.Println()                  // want
	print()                        // want
	println()                      // want
	_ = fmt.Sprint()
	_ = context.Background()  // want
	_ = context.TODO()        // want
	time.Sleep(0)             // want
	_ = bufio.NewScanner(nil) // want
	panic("")                 // want
}
