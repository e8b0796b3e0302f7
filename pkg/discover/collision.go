package discover

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// collision is the names under which two sources have tools, or one source has two.
type collision struct {
	first, second tool.Source
	names         []string // in quotes
	renamed       *Tool    // the first tool that can be renamed in the entry of its server; nil for none
	own           []string // the names of its source for all such tools
}

type collisions []*collision

// add adds a name that two tools have.
func (cs *collisions) add(a, b *Tool) {
	i := slices.IndexFunc(*cs, func(c *collision) bool { return c.first == a.Source && c.second == b.Source })
	if i < 0 {
		i = len(*cs)
		*cs = append(*cs, &collision{first: a.Source, second: b.Source})
	}
	c := (*cs)[i]
	c.names = append(c.names, fmt.Sprintf("%q", a.Name))
	t := b
	if t.Source.Kind != tool.FromServer {
		t = a
	}
	if t.Source.Kind == tool.FromServer && a.Source != b.Source {
		c.renamed, c.own = t, append(c.own, t.ownName)
	}
}

// err returns an error for each collision, joined, and nil for none.
func (cs collisions) err() error {
	errs := make([]error, len(cs))
	for i, c := range cs {
		errs[i] = c.err()
	}
	return errors.Join(errs...)
}

func (c *collision) err() error {
	subject := "tool " + c.names[0] + " is"
	if len(c.names) > 1 {
		subject = "tools " + strings.Join(c.names, ", ") + " are"
	}
	where := fmt.Sprintf("by %s and %s", c.first, c.second)
	if c.first == c.second {
		where = "twice by " + c.first.String()
	}
	return &fault.Error{
		Kind:    fault.Registration,
		Message: fmt.Sprintf("%s defined %s", subject, where),
		Hint:    c.hint(),
		Details: map[string]any{"tools": c.names, "sources": []tool.Source{c.first, c.second}},
	}
}

// hint names the entry of a server in which tools can be renamed.
func (c *collision) hint() string {
	if c.renamed == nil {
		if len(c.names) > 1 {
			return "rename one of each two"
		}
		return "rename one of them"
	}
	return fmt.Sprintf("write rename: { %s: ANOTHER_NAME } or exclude: [%s] into the entry of server %s",
		c.own[0], strings.Join(c.own, ", "), c.renamed.Source.Name)
}
