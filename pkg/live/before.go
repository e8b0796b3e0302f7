package live

import (
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// noteAction remembers the screen before a request that changed it with calls that are not checks. before is what was
// shown then.
func (s *Session) noteAction(r StepRequest, before *device.View) {
	acts := slices.ContainsFunc(r.Calls, func(c trail.Call) bool { return s.mayChangeApp(c.Tool) })
	if !acts || before == nil || s.shown == nil {
		return
	}
	if before.URL != s.shown.URL || wholeText(*before) != wholeText(*s.shown) {
		s.beforeAction = before
	}
}

// wholeText is everything on the screen of a view.
func wholeText(v device.View) string {
	return v.Tree.Text(screen.TextOptions{Whole: true}).String()
}

// heldBefore warns of the checks of a request that held on the screen before the last action, too, and that say nothing
// about what the action did therefore. It knows those of texts and elements that are visible.
func (s *Session) heldBefore(calls []trail.Call, report *StepReport) {
	if s.beforeAction == nil || s.shown == nil {
		return
	}
	for i, c := range calls {
		name := strings.ToLower(c.Tool)
		if !report.Calls[i].OK || !strings.Contains(name, "visible") || strings.Contains(name, "not") || !s.isCheckIn("", c) {
			continue
		}
		if s.wasShown(c.Args) {
			report.Warnings = append(report.Warnings, c.Tool+" held before the last action, too, so it does not show what that did")
		}
	}
}

// wasShown reports whether the text or the element that arguments name was on the screen before the last action.
func (s *Session) wasShown(args map[string]any) bool {
	if args["within"] != nil {
		return false
	}
	before := s.beforeAction.Tree
	if selector, ok := args["nodeSelector"]; ok {
		parsed, err := screen.ParseSelector(selector, screen.ParseOptions{})
		return err == nil && before.Check(parsed) == nil && len(before.Resolve(parsed).Nodes) > 0
	}
	ref, _ := args["ref"].(string)
	text, _ := args["text"].(string)
	return slices.ContainsFunc(before.Nodes(), func(n *screen.Node) bool {
		switch {
		case ref != "" && screen.IsReference(ref):
			now := s.shown.Tree.ByKey(n.Key)
			return s.beforeAction.Ref(n) == ref && now != nil && now.Name() == n.Name() && now.Content() == n.Content()
		case ref != "":
			return n.String() == ref
		case args["exact"] == true:
			return n.Name() == text || n.Content() == text
		}
		return text != "" && (containsText(n.Name(), text) || containsText(n.Content(), text))
	})
}

func containsText(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(strings.Join(strings.Fields(part), " ")))
}
