package doctor

import (
	"context"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/scripted"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// functions checks that the functions of a server can run, and describes with what. Scripts that cannot be bundled are
// a warning, because the others run without them.
func (o Options) functions(ctx context.Context, name string, s config.Server) Check {
	command, err := o.Runtimes.Command(ctx, scripted.Script(s, o.OnDevice))
	if err != nil {
		return fromError(name, Fail, err)
	}
	defer command.Release()
	broken, err := scripted.Broken(ctx, s, o.Runtimes)
	if err != nil {
		return fromError(name, Fail, err)
	}
	c := ok(name, fmt.Sprintf("%s %s (%s)", command.Runtime, text.Count(len(s.FunctionFiles()), "script"), command.Why))
	for _, p := range broken {
		c.Status, c.Detail, c.Hint = Warn, c.Detail+"\n"+p.Error(), p.Hint
	}
	return c
}
