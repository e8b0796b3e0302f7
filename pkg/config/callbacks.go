package config

import (
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Callbacks says which processes that a live session did not start may make calls in it.
type Callbacks struct {
	TokenName  string // the variable with the token that they send; empty: none may
	TokenValue string // from the environment or .env; empty when it is not set
}

// validToken matches tokens that are hard to guess and can be sent in a header.
var validToken = lazyregexp.New(`^[!-~]{32,1000}$`)

// callbacks reads the name of a token, and looks up its value.
func (l *loader) callbacks(n yamldoc.Node) {
	c := &l.project.Callbacks
	n.Fields(map[string]func(yamldoc.Node){
		"token": func(n yamldoc.Node) {
			if c.TokenName = text(n); c.TokenName != "" && !variableName().MatchString(c.TokenName) {
				n.Errorf("name an environment variable, such as CALLBACK_TOKEN; the token does not belong in this file",
					"this is not the name of a variable")
			}
		},
	})
	if n.Kind() == yamldoc.Mapping && c.TokenName == "" {
		n.Errorf("write callbacks: { token: CALLBACK_TOKEN }, with the name of an environment variable", "callbacks has no token")
	}
	if c.TokenValue, _ = l.env(c.TokenName); c.TokenValue != "" {
		l.maskValue(c.TokenName, c.TokenValue)
	}
}

// Token returns the token, which may be one of some secrets, by name. It is empty when the project has no callbacks.
func (c Callbacks) Token(secrets map[string]string) (string, error) {
	if c.TokenName == "" {
		return "", nil
	}
	token, given := secrets[c.TokenName]
	if !given {
		token = c.TokenValue
	}
	problem := ""
	switch {
	case token == "":
		problem = "is not set"
	case !validToken().MatchString(token):
		problem = "has to have 32 to 1000 characters, all of them ASCII and none a space"
	default:
		return token, nil
	}
	return "", fault.New(fault.Config,
		"set it in the environment, in .env or with --secret to what `openssl rand -hex 32` prints, or remove `callbacks`",
		"the session does not start: %s, the token of `callbacks` in trailblaze.yaml, %s", c.TokenName, problem)
}
