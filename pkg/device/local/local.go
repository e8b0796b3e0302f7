// Package local starts the programs of devices on this machine.
package local

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/spawn"
)

// Programs returns device.Programs that belong to a supervisor.
func Programs(s *spawn.Supervisor) device.Programs { return programs{s} }

type programs struct{ supervisor *spawn.Supervisor }

func (programs) LookPath(name string, env []string) (string, error) {
	return spawn.LookPath(name, env)
}

func (programs) CanPipe() bool { return spawn.CanPipe }

func (p programs) Start(ctx context.Context, program device.Program) (device.PipedProcess, error) {
	process, err := p.supervisor.StartProgram(ctx, spawn.Program(program))
	if err != nil {
		return device.PipedProcess{}, err
	}
	return device.PipedProcess{Process: process.Process, In: process.In, Out: process.Out}, nil
}
