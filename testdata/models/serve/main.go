// Command serve is a provider of models for people who try trailblaze without one: go run ./testdata/models/serve.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/trailblaze/trailblaze/testdata/models"
)

func main() {
	address := flag.String("listen", "127.0.0.1:0", "`ADDRESS` to listen on")
	policy := flag.String("policy", "examined", "what it answers: examined (for doctor --llm), rules or hostile")
	rules := flag.String("rules", "", "`FILE` with rules, in JSON")
	key := flag.String("key", "", "the only `KEY` that is accepted")
	fault := flag.String("fault", "", "`NAME` of a fault of every request, such as 500, cut or no_usage")
	flag.Parse()
	if err := serve(*address, *policy, *rules, *key, *fault); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address, policy, rules, key, fault string) error {
	s := &models.Server{Key: key, Fault: models.Always(models.Fault(fault))}
	switch policy {
	case "examined":
		s.Policy = models.Examined()
	case "hostile":
		s.Policy, _ = models.Hostile(models.StepAttacks("evil.example"))
	case "rules":
		data, err := os.ReadFile(rules)
		if err != nil {
			return err
		}
		list, err := models.Rulebook(data)
		if err != nil {
			return err
		}
		s.Policy = models.Rules(list...)
	default:
		return fmt.Errorf("unknown policy %q", policy)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	return (&http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}).Serve(listener)
}
