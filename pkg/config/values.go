package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// text reads a text that says something.
func text(n yamldoc.Node) string {
	s := n.Str()
	if n.Kind() == yamldoc.Text && strings.TrimSpace(s) == "" {
		n.Errorf("write a value or remove the key", "this is empty")
	}
	return s
}

// texts reads a list of texts that say something.
func texts(n yamldoc.Node) []string {
	var out []string
	for _, item := range n.Items() {
		out = append(out, text(item))
	}
	return out
}

func readPlatform(n yamldoc.Node) scope.Platform {
	s := text(n)
	p, ok := scope.ParsePlatform(s)
	if !ok && s != "" {
		n.Errorf(fault.DidYouMean(s, scope.PlatformNames()), "unknown platform %q", s)
	}
	return p
}

func readDriver(n yamldoc.Node) scope.Driver {
	s := text(n)
	d, ok := scope.ParseDriver(s)
	if !ok && s != "" {
		n.Errorf(scope.SuggestDriver(s), "unknown driver %q", s)
	}
	return d
}

func readLocation(n yamldoc.Node) string {
	s := text(n)
	l, ok := scope.ParseLocation(s)
	if !ok && s != "" {
		n.Errorf(fault.DidYouMean(s, scope.LocationNames()), "unknown agent mode %q", s)
	}
	return string(l)
}

// oneOf reads one of a few words; what names them in the message.
func oneOf(n yamldoc.Node, what string, words ...string) string {
	s := text(n)
	if s == "" || slices.Contains(words, s) {
		return s
	}
	n.Errorf(fault.DidYouMean(s, words), "unknown %s %q", what, s)
	return ""
}

// onlyWord reads a key that knows one word so far.
func onlyWord(n yamldoc.Node, key, word string) bool {
	if n.Kind() == yamldoc.Text && n.Str() == word {
		return true
	}
	n.Errorf("write "+key+": "+word+", or remove the key", "%q takes no other value than %s", key, word)
	return false
}

// once guards keys that say the same in different words.
type once struct {
	keys  string
	first yamldoc.Node
}

// claim says whether n is the first of the keys, and reports it otherwise.
func (o *once) claim(n yamldoc.Node) bool {
	if o.first.Kind() == yamldoc.Absent {
		o.first = n
		return true
	}
	n.Errorf("remove one of them", "%s say the same; first in line %d", o.keys, o.first.Line())
	return false
}

// reference is ${…}, closed or not, after a $ when it is meant literally.
var reference = regexp.MustCompile(`\$?\$\{[^}]*\}?`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expanded puts the environment into a text: for ${NAME}, and for ${NAME:-default} where NAME may be unset or
// empty. $${ stands for ${ itself, and any other $ for itself. What is put in is not looked at again. n is where the text stands.
func (l *loader) expanded(n yamldoc.Node, raw string) string {
	return reference.ReplaceAllStringFunc(raw, func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref[1:]
		}
		body, closed := strings.CutSuffix(ref[2:], "}")
		variable, fallback, hasFallback := strings.Cut(body, ":-")
		if !closed || !variableName.MatchString(variable) || strings.Contains(fallback, "${") {
			n.Warnf("write ${NAME} or ${NAME:-default}, or $${ for a ${ that is meant literally", "%s is left as it is", ref)
			return ref
		}
		value, set := l.env(variable)
		switch {
		case hasFallback && value == "":
			return fallback
		case !set:
			n.Errorf("set it, or write ${"+variable+":-default}", "the environment variable %s is not set", variable)
			return ref
		}
		return value
	})
}

// putIn is what expanded takes from the environment for a text, by the names of the variables. complete says that every one is set or
// has a default.
func (l *loader) putIn(raw string) (values map[string]string, complete bool) {
	values, complete = map[string]string{}, true
	for _, ref := range reference.FindAllString(raw, -1) {
		body, isReference := strings.CutPrefix(ref, "${")
		variable, _, hasFallback := strings.Cut(strings.TrimSuffix(body, "}"), ":-")
		if !isReference || !variableName.MatchString(variable) {
			continue
		}
		value, set := l.env(variable)
		if set {
			values[variable] = value
		}
		complete = complete && (set || hasFallback)
	}
	return values, complete
}
