// Command prober is the bare floor that trailblaze is measured against: it starts N copies of a server at once, sends
// initialize, tools/list and some calls to each, closes stdin and waits. It checks nothing and survives nothing.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	copies := flag.Int("n", 1, "servers to start at once")
	calls := flag.Int("calls", 0, "calls to make on each")
	context := flag.Bool("context", false, "send with each call what trailblaze sends")
	flag.Parse()
	params := `{"name":"echo","arguments":{"text":"hello"}}`
	if *context {
		params = withContext
	}
	var wg sync.WaitGroup
	for range *copies {
		wg.Go(func() {
			if err := probe(flag.Args(), *calls, params); err != nil {
				log.Fatal(err)
			}
		})
	}
	wg.Wait()
}

// withContext is a call as trailblaze writes it, with the context in both its places.
const withContext = `{"name":"echo","arguments":{"text":"hello","_trailblazeContext":{"memory":{},"device":{"platform":"WEB",` +
	`"widthPixels":0,"heightPixels":0,"driverType":"playwright-native"}}},"_meta":{"progressToken":"7","trailblaze":{"sessionId":` +
	`"m_20261121T013144Z_deadbeef","invocationId":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","device":` +
	`{"platform":"web","widthPixels":0,"heightPixels":0,"driverType":"playwright-native"},"memory":{},"target":{"id":"bench",` +
	`"appIds":[]}},"trailblazeInvocationId":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}`

func probe(argv []string, calls int, params string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(out, 1<<20)
	if err := ask(in, lines, 1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"prober","version":"1"}}`); err != nil {
		return err
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return err
	}
	if err := ask(in, lines, 2, "tools/list", `{}`); err != nil {
		return err
	}
	took := make([]time.Duration, calls)
	for i := range calls {
		begun := time.Now()
		if err := ask(in, lines, i+3, "tools/call", params); err != nil {
			return err
		}
		took[i] = time.Since(begun)
	}
	if calls > 1 { // the first half warms up the server's runtime
		settled := took[calls/2:]
		slices.Sort(settled)
		fmt.Println(settled[len(settled)/2].Nanoseconds())
	}
	if err := in.Close(); err != nil {
		return err
	}
	return cmd.Wait()
}

func ask(in io.Writer, out *bufio.Reader, id int, method, params string) error {
	if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		return err
	}
	line, err := out.ReadString('\n')
	if err == nil && !strings.Contains(line, `"result"`) {
		err = fmt.Errorf("%s: %s", method, line)
	}
	return err
}
