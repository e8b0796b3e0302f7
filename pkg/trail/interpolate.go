package trail

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// maxArguments is the size in bytes, as JSON without escapes, of the arguments that Interpolate returns.
const maxArguments = 8 << 20

// Interpolate returns a call's arguments with the tokens in their text replaced by values; keys are unchanged. The
// error is a *fault.Error of kind UnknownValue that names every token without a value, or of kind InvalidArguments when
// the values make the arguments larger than 8 MiB.
func Interpolate(args map[string]any, v *Values) (map[string]any, error) {
	in := interpolation{values: v}
	out := make(map[string]any, len(args))
	for _, key := range sortedKeys(args) {
		out[key] = in.replaceTokens(key, args[key])
	}
	return out, in.err()
}

// interpolation collects the size and the errors of one call's arguments.
type interpolation struct {
	values   *Values
	size     int    // of the values so far; see maxArguments
	tooLarge string // the message about the token that exceeded maxArguments
	messages []string
	hints    []string
	unknown  string // the first name without a value that resembles none that has one
}

// replaceTokens returns a value with its tokens replaced; where is its path in the arguments.
func (in *interpolation) replaceTokens(where string, value any) any {
	switch v := value.(type) {
	case string:
		return in.text(where, v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = in.replaceTokens(fmt.Sprintf("%s.%d", where, i), item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			out[key] = in.replaceTokens(where+"."+key, v[key])
		}
		return out
	}
	return value
}

func (in *interpolation) text(where, s string) any {
	if !HasToken(s) {
		return s
	}
	var b strings.Builder
	for t := range tokensOf(s) {
		if t.name == "" && t.err == "" {
			b.WriteString(t.text)
			continue
		}
		e, ok := in.value(where, t)
		switch {
		case !ok || !in.fits(where, t, e):
			b.WriteString(t.text)
		case t.text == s:
			return e.value
		case e.text != "":
			b.WriteString(e.text)
		default:
			b.WriteString(render(e.value))
		}
	}
	return b.String()
}

// fits adds the size of a token's value, and reports whether the arguments are small enough with it.
func (in *interpolation) fits(where string, t token, e memoryEntry) bool {
	if in.tooLarge != "" {
		return false
	}
	in.size += max(len(e.text), sizeOf(e.value, maxArguments-in.size))
	if in.size > maxArguments {
		in.tooLarge = fmt.Sprintf("%s in %s makes the arguments larger than %d MiB", t.text, where, maxArguments>>20)
	}
	return in.tooLarge == ""
}

// sizeOf returns about the size of a value as JSON. It stops counting beyond limit, because values may contain another
// value many times.
func sizeOf(value any, limit int) int {
	size := 8 // a number or a boolean, or the brackets and commas of a collection
	switch v := value.(type) {
	case string:
		return len(v)
	case []any:
		for _, item := range v {
			if size > limit {
				break
			}
			size += sizeOf(item, limit-size)
		}
	case map[string]any:
		for key, item := range v {
			if size > limit {
				break
			}
			size += len(key) + sizeOf(item, limit-size)
		}
	}
	return size
}

// value returns the value of a token. ok is false when there is none, which is reported when the token needs one.
func (in *interpolation) value(where string, t token) (memoryEntry, bool) {
	if t.err != "" {
		in.add(where, t.err, t.hint)
		return memoryEntry{}, false
	}
	e, err := in.values.find(t.name)
	if err == nil || !t.strict {
		return e, err == nil
	}
	if errors.Is(err, errUnknown) {
		near := fault.Nearest(t.name, in.values.Names())
		in.add(where, "unknown value {{"+t.name+"}}", fault.DidYouMean(t.name, near))
		if len(near) == 0 {
			in.unknown = cmp.Or(in.unknown, t.name)
		}
	} else {
		in.add(where, "{{"+t.name+"}}: "+err.Error(), fault.As(err).Hint)
	}
	return memoryEntry{}, false
}

func (in *interpolation) add(where, message, hint string) {
	in.messages = append(in.messages, message+" in "+where)
	if hint != "" {
		in.hints = append(in.hints, hint)
	}
}

func (in *interpolation) err() error {
	switch {
	case in.tooLarge != "":
		return fault.New(fault.InvalidArguments, "use a part of the value, such as {{name.field}}", "%s", in.tooLarge)
	case len(in.messages) == 0:
		return nil
	}
	known := in.values.Names()
	hints := in.hints
	if in.unknown != "" {
		hints = append(hints, in.values.definingHint(in.unknown))
	}
	if len(known) > 0 {
		hints = append(hints, "known: "+strings.Join(known, ", "))
	}
	return &fault.Error{
		Kind: fault.UnknownValue, Message: strings.Join(in.messages, "; "), Hint: strings.Join(hints, "; "),
		Details: map[string]any{"known": known},
	}
}

// definingHint returns a hint how to define a name.
func (v *Values) definingHint(name string) string {
	if arg, ok := strings.CutPrefix(name, argsPrefix); ok {
		arg, _, _ = strings.Cut(arg, ".")
		return "declare it under config: args: and " + v.wording.ArgGiven(arg)
	}
	first, _, _ := strings.Cut(name, ".")
	return fmt.Sprintf("pass --memory %s=… or --secret %[1]s, or define it in the trail: under config: memory:, "+
		`or with saveAs in an earlier call; to mean the text itself, write \{{%s}}`, first, name)
}

// render returns a value as it appears inside a longer string: text as it is, everything else as JSON.
func render(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
