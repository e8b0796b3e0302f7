package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/pagetext"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

const maxCalls = 8

// call is a call that the model proposes: of a tool of the session, or one of look and done is set.
type call struct {
	trail.Call
	tool *discover.Tool
	look *look
	done *done
}

type look struct {
	Find   string `json:"find"`
	Within string `json:"within"`
	Image  bool   `json:"image"`
}

// done is a claim that the task has ended.
type done struct {
	Status string `json:"status"`
	Why    string `json:"why"`
	Expect string `json:"expect"`
}

// The values of done.Status.
const (
	statusDone    = "done"
	statusFailed  = "failed"
	statusNothing = "nothing_to_do"
)

// read returns the calls of an answer, and all that is wrong with them.
func (r *run) read(answer []model.Call) (calls []call, problems []string) {
	if len(answer) > maxCalls {
		problems = append(problems, fmt.Sprintf("%d calls are more than %d", len(answer), maxCalls))
	}
	for i, proposed := range answer {
		c, err := r.readCall(proposed)
		if err == nil && c.done != nil && i < len(answer)-1 {
			err = fault.New(fault.InvalidArguments, "", "it is not the last call")
		}
		if err == nil && c.tool != nil && r.verify != nil {
			err = r.verify.check(c)
		}
		for _, e := range fault.Split(err) {
			problem := fmt.Sprintf("%d %s: %s", i+1, brief(proposed.Name, 60), brief(e.Error(), 300))
			if f := fault.As(e); f != nil && f.Hint != "" {
				problem += "; " + brief(f.Hint, 200)
			}
			problems = append(problems, problem)
		}
		calls = append(calls, c)
	}
	return calls, problems
}

func (r *run) readCall(proposed model.Call) (c call, err error) {
	name, data := proposed.Name, proposed.Args
	switch {
	case proposed.Problem != "":
		return c, fault.New(fault.InvalidArguments, "", "%s", proposed.Problem)
	case len(data) > model.MaxArgs:
		return c, fault.New(fault.InvalidArguments, "", "its arguments have more than 16 KB")
	case name == lookTool:
		c.look = &look{}
		err = strictly(data, c.look, "find", "within", "image")
		if err == nil && c.look.Within != "" {
			err = r.checkRef(c.look.Within)
		}
		return c, err
	case name == doneTool:
		c.done = &done{}
		return c, r.checkDone(data, c.done)
	case name == callTool:
		var inner struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if err = strictly(data, &inner, "name", "arguments"); err != nil {
			return c, err
		}
		name, data = inner.Name, inner.Arguments
	}
	if c.tool, err = r.allowed(name); err != nil {
		return c, err
	}
	c.Tool = name
	if c.Args, err = object(data); err == nil {
		err = r.checkArgs(c)
	}
	return c, err
}

// allowed returns a tool that the task may call.
func (r *run) allowed(name string) (*discover.Tool, error) {
	if t := r.offer.allowed[name]; t != nil {
		return t, nil
	}
	if why := r.offer.refused[name]; why != "" {
		return nil, fault.New(fault.PermissionDenied, "", "the tool %s", why)
	}
	var names []string
	for known := range r.offer.allowed {
		names = append(names, known)
	}
	slices.Sort(names)
	hint := ""
	if near := fault.Meant(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ")
	}
	return nil, fault.New(fault.UnknownTool, hint, "the tool %q does not exist", brief(name, 60))
}

func object(data json.RawMessage) (map[string]any, error) {
	if len(data) == 0 {
		return map[string]any{}, nil
	}
	value, err := trail.DecodeJSON(data)
	args, isObject := value.(map[string]any)
	if err != nil || !isObject {
		return nil, fault.New(fault.InvalidArguments, "", "its arguments are not a JSON object")
	}
	return args, nil
}

// strictly decodes the arguments of an own tool.
func strictly(data json.RawMessage, to any, known ...string) error {
	args, err := object(data)
	if err != nil {
		return err
	}
	for name := range args {
		if !slices.Contains(known, name) {
			return fault.New(fault.InvalidArguments, "it has "+strings.Join(known, ", "), "unknown argument %q", brief(name, 60))
		}
	}
	if len(data) > 0 && json.Unmarshal(data, to) != nil {
		return fault.New(fault.InvalidArguments, "it has "+strings.Join(known, ", "), "an argument has another type")
	}
	return nil
}

func (r *run) checkDone(data json.RawMessage, d *done) error {
	if err := strictly(data, d, "status", "why", "expect"); err != nil {
		return err
	}
	statuses := []string{statusDone, statusFailed}
	if r.verify == nil {
		statuses = append(statuses, statusNothing)
	}
	if !slices.Contains(statuses, d.Status) {
		return fault.New(fault.InvalidArguments, "", "status is not one of %s", strings.Join(statuses, ", "))
	}
	if d.Expect != "" && fold(d.Expect) == "" {
		return fault.New(fault.InvalidArguments, "", "expect is empty")
	}
	return nil
}

// checkArgs returns everything that is wrong with the arguments of a call of a tool of the session.
func (r *run) checkArgs(c call) error {
	for _, p := range c.tool.CheckArgs(c.Args, trail.HasToken) {
		return fault.New(fault.InvalidArguments, p.Hint, "%s", p.Message)
	}
	if err := r.checkSecrets(c); err != nil {
		return err
	}
	if c.tool.Source.Kind != tool.FromDevice {
		return nil
	}
	return r.checkElements(c, schemaOf(c.tool), c.Args)
}

// checkElements checks that elements are named by references that the model was shown, and that URLs are those of pages.
func (r *run) checkElements(c call, s schema, value any) error {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if err := r.checkElements(c, s, item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if err := r.checkElement(c, s, name, value[name]); err != nil {
				return err
			}
			if err := r.checkElements(c, s, value[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkElement checks an argument, which may be inside another one.
func (r *run) checkElement(c call, s schema, name string, value any) error {
	if real := c.tool.Aliases[name]; real != "" {
		name = real
	}
	text, isText := value.(string)
	isCheck := slices.Contains(r.box.Checks, c.Tool)
	switch {
	case s.isLocator(name, isCheck):
		return fault.New(fault.InvalidArguments, "name the element by its ref", "%s is not allowed", name)
	case slices.Contains(withheld(), name):
		return fault.New(fault.InvalidArguments, "leave it out", "%s is not allowed", name)
	case name == "ref" && isCheck && s.properties["count"] != nil && isKind(text):
		return nil
	case name == "ref" || name == "within" && isText:
		return r.checkRef(text)
	case isText && name == "url":
		return checkURL(text)
	}
	return nil
}

// isKind reports whether a text names elements that can be counted: by role, or by role and name.
func isKind(text string) bool {
	role, _, _ := strings.Cut(text, " ")
	return screen.IsRole(role)
}

func (r *run) checkRef(ref string) error {
	if !screen.IsReference(ref) {
		return fault.New(fault.InvalidArguments, "", "%q is not a ref such as e12", brief(ref, 60))
	}
	if r.shown.element(ref) == "" {
		return fault.New(screen.StaleRef, "look shows the screen", "%s was not shown to you", ref)
	}
	return nil
}

// checkURL refuses URLs that run code, show what is in them, or are those of a browser or another app.
func checkURL(address string) error {
	plain := strings.ToLower(strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) {
			return -1
		}
		return c
	}, address))
	scheme, _, _ := strings.Cut(plain, ":")
	if parsed, err := url.Parse(plain); err == nil {
		scheme = parsed.Scheme
	}
	if slices.Contains([]string{"javascript", "data", "vbscript", "blob", "filesystem", "view-source", "chrome", "devtools", "intent"}, scheme) {
		return fault.New(fault.PermissionDenied, "open a page of the app", "URLs with %s: are not allowed", scheme)
	}
	if strings.HasPrefix(plain, "{{") || strings.HasPrefix(plain, "${") {
		return fault.New(fault.PermissionDenied, "begin it with the page's address", "the address is not known before it is opened")
	}
	return nil
}

// typing are the commands that type, with the argument that they type.
func typing() map[string]string {
	return map[string]string{"web_type": "text", "web_fillSecret": "value", "inputText": "text"}
}

// checkSecrets refuses a secret anywhere but in what is typed, and there unless the task names it.
func (r *run) checkSecrets(c call) error {
	for _, name := range r.secrets {
		for arg, value := range c.Args {
			if !hasName(value, name) {
				continue
			}
			if c.tool.Source.Kind != tool.FromDevice || typing()[c.Tool] != arg {
				return fault.New(fault.PermissionDenied, "", "the secret %s can only be typed", name)
			}
			if !hasName(r.task.Text, name) {
				return fault.New(fault.PermissionDenied, "", "the task does not name the secret %s", name)
			}
		}
	}
	return nil
}

// hasName reports whether a value has a token of a name, or of a field of its value.
func hasName(value any, name string) bool {
	return slices.ContainsFunc(trail.TokenNames(value), func(token string) bool { return isOf(token, name) })
}

// isOf reports whether a token is that of a name, or of a field of its value.
func isOf(token, name string) bool { return token == name || strings.HasPrefix(token, name+".") }

// brief returns a text of the model, or about it, in one line of at most n bytes, without characters that are not seen.
func brief(s string, n int) string {
	return pagetext.Cut(screen.Visible(s), n)
}
