package bundle

import (
	"fmt"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// unavailable says why a module that exists somewhere cannot be had here.
func unavailable(name, importer string) string {
	what := name + " is for bun alone"
	switch {
	case strings.HasSuffix(name, ".node"):
		what = name + " is a native addon, which cannot be bundled"
	case !strings.HasPrefix(name, "bun"):
		what = name + " cannot be bundled"
	}
	return fmt.Sprintf("%s (imported by %s)", what, importer)
}

// fault says what is wrong with a script in the words of its author.
func (b *builder) fault(messages []api.Message) error {
	m := messages[0]
	where := b.author(b.script)
	if m.Location != nil {
		where = fmt.Sprintf("%s:%d:%d", b.author(m.Location.File), m.Location.Line, m.Location.Column+1)
	}
	return fault.New(fault.Server, "", "%s: %s", where, m.Text)
}
