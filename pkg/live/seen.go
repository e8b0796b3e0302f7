package live

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// maxSeen is how many bytes of texts a session remembers.
const maxSeen = 16 << 20

// seenTexts are the texts of the screens that a session has looked at.
type seenTexts struct {
	screens []string // the different ones, squeezed
	bytes   int      // of screens
	partial bool     // the session was used on other screens, too, or there are too many
}

// add adds what a view shows, and what was gone before it.
func (s *seenTexts) add(v device.View) {
	texts := []string{v.Title}
	for _, n := range v.Tree.Nodes() {
		texts = append(texts, n.Name(), n.Content())
	}
	for _, m := range v.Messages {
		texts = append(texts, m.Text)
	}
	all := squeeze(strings.Join(texts, "\n"))
	if slices.Contains(s.screens, all) {
		return
	}
	s.screens, s.bytes = append(s.screens, all), s.bytes+len(all)
	if s.bytes > maxSeen {
		*s = seenTexts{partial: true}
	}
}

// lack reports whether a text was certainly on none of the screens.
func (s *seenTexts) lack(text string) bool { return !s.partial && text != "" && !s.have(text) }

// have reports whether a text was on one of the screens, as far as they are remembered.
func (s *seenTexts) have(text string) bool {
	text = squeeze(text)
	return slices.ContainsFunc(s.screens, func(screen string) bool { return strings.Contains(screen, text) })
}

// mayBeMisspelt reports whether a check that something is not there would perhaps also pass if that was misspelt: no
// screen is known to have shown it.
func (s *Session) mayBeMisspelt(c trail.Call) bool {
	if ref, _ := c.Args["ref"].(string); screen.IsReference(ref) {
		return false
	}
	return slices.ContainsFunc(s.absentTexts(c), func(text string) bool { return text == "" || !s.seen.have(text) })
}

// squeeze returns a text without what differs between a screen and what people write: case, white space, characters
// that cannot be seen.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(text))
}

// neverSeen warns of the checks of a request that passed because a text is not visible, when no screen has shown it.
func (s *Session) neverSeen(calls []trail.Call, report *StepReport) {
	for i, c := range calls {
		absent := c.Tool == device.AssertWaypoint || strings.Contains(strings.ToLower(c.Tool), "notvisible")
		if !report.Calls[i].OK || !absent || !s.isCheckIn("", c) {
			continue
		}
		for _, text := range s.absentTexts(c) {
			if s.seen.lack(text) {
				report.Warnings = append(report.Warnings, fmt.Sprintf(
					"%s passed, but %q was on no screen of this session, so the check would also pass if the text is misspelt", c.Tool, text))
			}
		}
	}
}

// absentTexts returns the texts that a check that something is not there looks for, as [Session.absentText] does: one, or
// with assertWaypoint one for each forbidden rule.
func (s *Session) absentTexts(c trail.Call) []string {
	if c.Tool != device.AssertWaypoint {
		return []string{s.absentText(c.Args)}
	}
	var texts []string
	w, _ := device.ReadWaypoint(c.Args) // has none if they are invalid
	for _, r := range w.Rules {
		if r.Forbidden {
			texts = append(texts, nameIn(r.Selector))
		}
	}
	return texts
}

// absentText returns the text in arguments that a check looks for, or "" if they have none, or if it stands for others:
// a pattern, a value, a CSS selector, a reference.
func (s *Session) absentText(args map[string]any) string {
	for _, key := range []string{"selector", "nodeSelector"} {
		if args[key] != nil {
			return nameIn(args[key])
		}
	}
	text, _ := args["text"].(string)
	if ref, _ := args["ref"].(string); ref != "" {
		text = ref
		if role, name, ok := strings.Cut(ref, " "); ok && screen.IsRole(strings.ToLower(role)) {
			text = strings.ReplaceAll(strings.Trim(name, `"'`), `\`, "")
		}
		if strings.HasPrefix(ref, "css=") || screen.IsReference(ref) || screen.IsRole(ref) {
			return ""
		}
	}
	phone := s.opts.Scope.Driver.Platform != scope.Web // whose texts are patterns
	if trail.HasToken(text) || phone && regexp.QuoteMeta(text) != text {
		return ""
	}
	return text
}

// nameIn returns the name that a selector demands, "" if it demands none, or several.
func nameIn(selector any) string {
	parsed, err := screen.ParseSelector(selector, screen.ParseOptions{})
	if err != nil || parsed.Block == nil {
		return ""
	}
	for _, key := range []string{"ariaNameRegex", "textRegex"} {
		if pattern := parsed.Block.Pattern(key); pattern != nil {
			name, _ := pattern.Literal()
			return name
		}
	}
	return ""
}
