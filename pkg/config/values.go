package config

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// text reads text that is not empty.
func text(n yamldoc.Node) string {
	s := n.Str()
	if n.Kind() == yamldoc.Text && strings.TrimSpace(s) == "" {
		n.Errorf("write a value or remove the key", "the value is empty")
	}
	return s
}

// scalar reads a scalar that is not empty.
func scalar(n yamldoc.Node) string {
	if n.Kind() == yamldoc.Text {
		return text(n)
	}
	return n.Scalar()
}

// texts reads a list of texts that are not empty.
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

func readAgentMode(n yamldoc.Node) string {
	s := text(n)
	l, ok := scope.ParseAgentMode(s)
	if !ok && s != "" {
		n.Errorf(fault.DidYouMean(s, scope.AgentModes()), "unknown value %q; expected host or on-device", s)
	}
	return string(l)
}

// oneOf reads one of several words; what names their meaning in the message.
func oneOf(n yamldoc.Node, what string, words ...string) string {
	s := text(n)
	if s == "" || slices.Contains(words, s) {
		return s
	}
	n.Errorf(fault.DidYouMean(s, words), "unknown %s %q", what, s)
	return ""
}

// onlyWord reports whether the value of key is word, its only allowed value.
func onlyWord(n yamldoc.Node, key, word string) bool {
	if n.Kind() == yamldoc.Text && n.Str() == word {
		return true
	}
	n.Errorf("write "+key+": "+word+", or remove the key", "the only value of %q is %s", key, word)
	return false
}

// once reports keys that mean the same, such as an older name and a newer one.
type once struct {
	keys  string
	first yamldoc.Node
}

// claim reports whether n is the value of the first of the keys. It records a problem otherwise.
func (o *once) claim(n yamldoc.Node) bool {
	if o.first.Kind() == yamldoc.Absent {
		o.first = n
		return true
	}
	n.Errorf("remove one of them", "%s mean the same; the first is in line %d", o.keys, o.first.Line())
	return false
}

// reference matches ${…}, closed or not, and $${…}, which is literal.
var reference = lazyregexp.New(`\$?\$\{[^}]*\}?`)

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expandVariables returns text with environment variables expanded: ${NAME}, and ${NAME:-default} where NAME may be
// unset or empty. $${ is a literal ${, and any other $ is literal, too. Values are not expanded again. n is the node of
// the text.
func (l *loader) expandVariables(n yamldoc.Node, raw string) string {
	return reference().ReplaceAllStringFunc(raw, func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref[1:]
		}
		body, closed := strings.CutSuffix(ref[2:], "}")
		variable, fallback, hasFallback := strings.Cut(body, ":-")
		if !closed || !variableName().MatchString(variable) || strings.Contains(fallback, "${") {
			n.Warnf("write ${NAME} or ${NAME:-default}, or $${ for a literal ${", "%s is not expanded", ref)
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

// environment returns the variables that expanded uses for a text, by name. complete reports whether each is set or has
// a default.
func (l *loader) environment(raw string) (values map[string]string, complete bool) {
	values, complete = map[string]string{}, true
	for _, ref := range reference().FindAllString(raw, -1) {
		body, isReference := strings.CutPrefix(ref, "${")
		variable, _, hasFallback := strings.Cut(strings.TrimSuffix(body, "}"), ":-")
		if !isReference || !variableName().MatchString(variable) {
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

// secretName matches names of variables and keys whose values must not be shown: API_TOKEN, accessKey, PASSWORD.
var secretName = lazyregexp.New(`(?i:(^|[_-])(auth|authorization|bearer|tokens?|keys?|accesskey|apikey|secretkey|privatekey` +
	`|secrets?|clientsecret|pass|passwords?|passwd|passphrase|pat|credentials?|dsn)[0-9]*([_-]|$)|[_-]pwd$)` +
	`|[a-z](Token|Key|Secret|Password|Passphrase)$`)

// secrets returns the values in raw, the text of a key, that must not be shown, by the name that is shown instead:
// those of environment variables whose name, or the name of whose key, matches secretName.
func (l *loader) secrets(key, raw string) map[string]string {
	secrets := map[string]string{}
	variables, _ := l.environment(raw)
	for name, value := range variables {
		if strings.TrimSpace(value) != "" && (secretName().MatchString(name) || secretName().MatchString(key)) {
			secrets[name] = value
		}
	}
	return secrets
}

// globs reads a list of names and globs of tools.
func globs(n yamldoc.Node) []string {
	var out []string
	for _, item := range n.Items() {
		glob := text(item)
		if glob != "" && !doublestar.ValidatePattern(glob) {
			item.Errorf("close its brackets", "%q is not a glob", glob)
		}
		out = append(out, glob)
	}
	return out
}

// isVariable reports whether a name can be that of an environment variable.
func isVariable(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00") }
