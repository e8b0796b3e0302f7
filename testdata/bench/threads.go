package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// workload is something that is done with several values of GOMAXPROCS.
type workload struct {
	figure string
	run    func() *exec.Cmd
	took   func(s sample) (time.Duration, error) // nil: as long as the process
}

// threads compares GOMAXPROCS=1 and 2 with the default, which is the number of cores, in interleaved runs.
func (b *bench) threads() error {
	workloads, stop, err := b.workloads()
	if err != nil {
		return err
	}
	defer stop()
	values := []string{"1", "2", ""}
	for _, w := range workloads {
		took := make([][]time.Duration, len(values))
		for round := range b.runs + 1 {
			for i := range values {
				i = (i + round) % len(values)
				cmd := w.run()
				if values[i] != "" {
					cmd.Env = append(cmd.Env, "GOMAXPROCS="+values[i])
				}
				s, err := measure(cmd)
				if err != nil {
					return err
				}
				if w.took != nil {
					if s.took, err = w.took(s); err != nil {
						return err
					}
				}
				if round > 0 { // the first one fills caches
					took[i] = append(took[i], s.took)
				}
			}
		}
		for i, value := range values[:2] {
			b.add(w.figure+", GOMAXPROCS="+value+" ÷ default", division(median(took[i]), median(took[2])), "", "")
		}
	}
	return nil
}

func (b *bench) workloads() (all []workload, stop func(), err error) {
	s, err := b.scripts()
	if err != nil {
		return nil, nil, err
	}
	w, err := b.browsing(1)
	if err != nil {
		return nil, nil, err
	}
	four := map[string]string{}
	for i := range 12 {
		four[fmt.Sprintf("t%02d", i)] = callTrail(100)
	}
	projects := map[string]string{}
	for _, p := range []struct {
		name, server string
		copies       int
		trails       map[string]string
	}{
		{"threads-call", b.echo, 1, map[string]string{"many": callTrail(4000)}},
		{"threads-workers", b.echo, 1, four},
		{"threads-one", b.echo, 1, four},
		{"threads-eight", b.echo, 8, nil},
	} {
		if projects[p.name], err = b.project(p.name, p.server, p.copies, p.trails); err != nil {
			return nil, w.stop, err
		}
	}
	call := projects["threads-call"]
	noRuntime := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Env = append(cmd.Env, "PATH="+s.nothing)
		return cmd
	}
	return []workload{
		{"one call inside a session", func() *exec.Cmd { return b.command(call, b.trailblaze, "run") }, func(sample) (time.Duration, error) {
			return callPeriod(filepath.Join(call, "logs", "latest", "events.ndjson"))
		}},
		{"12 trails of 100 calls, four workers", func() *exec.Cmd { return b.command(projects["threads-workers"], b.trailblaze, "run", "--workers", "4") }, nil},
		{"eleven calls in a browser", func() *exec.Cmd { return b.browse(w, w.project) }, nil},
		{"one embedded server", func() *exec.Cmd { return b.listing(projects["threads-one"], s.nothing) }, nil},
		{"eight embedded servers", func() *exec.Cmd { return b.listing(projects["threads-eight"], s.nothing) }, nil},
		{"12 trails of 100 calls to an embedded server, four workers", func() *exec.Cmd {
			return noRuntime(b.command(projects["threads-one"], b.trailblaze, "run", "--workers", "4"))
		}, nil},
		{"`version`", func() *exec.Cmd { return b.command(b.dir, b.trailblaze, "version") }, nil},
	}, w.stop, nil
}
