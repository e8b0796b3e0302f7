package android

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// parseSize returns the size of the screen in `wm size`: the override, if there is one.
func parseSize(out string) (width, height int, ok bool) {
	for line := range strings.Lines(out) {
		_, value, found := strings.Cut(strings.TrimSpace(line), " size: ")
		w, h, isSize := strings.Cut(value, "x")
		x, xErr := strconv.Atoi(w)
		y, yErr := strconv.Atoi(h)
		if found && isSize && xErr == nil && yErr == nil && min(x, y) > 0 {
			width, height, ok = x, y, true // the override comes after the physical size
		}
	}
	return width, height, ok
}

// parseDensity returns the density in `wm density`, in dots per inch, 0 if there is none.
func parseDensity(out string) int {
	density := 0
	for line := range strings.Lines(out) {
		if _, value, found := strings.Cut(strings.TrimSpace(line), " density: "); found {
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				density = n
			}
		}
	}
	return density
}

// parseInputMethods returns the apps in the lines PACKAGE/SERVICE of `ime list -s`; nil if it has none.
func parseInputMethods(out string) (packages []string) {
	for line := range strings.Lines(out) {
		if m := inputMethod().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			packages = append(packages, m[1])
		}
	}
	return packages
}

var inputMethod = lazyregexp.New(`^(\w+(?:\.\w+)+)/[\w.$]+$`)

// isTablet reports whether the smallest width is 600 dp or more. Without a density, that is 1536 pixels.
func isTablet(width, height, density int) bool {
	if density == 0 {
		return min(width, height) >= 1536
	}
	return min(width, height)*160/density >= 600
}

// parseResumed returns the packages whose activities are resumed in `dumpsys activity activities`, the one with the
// focus first, each once.
func parseResumed(out string) []string {
	var all []string
	for _, component := range resumedActivities(out) {
		if pkg, _, _ := strings.Cut(component, "/"); !slices.Contains(all, pkg) {
			all = append(all, pkg)
		}
	}
	return all
}

// resumedActivities returns the activities of parseResumed, as PACKAGE/ACTIVITY.
func resumedActivities(out string) []string {
	var focused, resumed []string
	for line := range strings.Lines(out) {
		i := strings.Index(line, "ResumedActivity")
		if i < 0 {
			continue
		}
		component := componentOf(line[i:])
		switch {
		case component == "":
		case strings.TrimSpace(line[:i]) != "m": // ResumedActivity and topResumedActivity, not mResumedActivity
			focused = append(focused, component)
		default:
			resumed = append(resumed, component)
		}
	}
	return append(focused, resumed...)
}

// componentOf returns the first PACKAGE/ACTIVITY inside the braces of a line.
func componentOf(line string) string {
	_, record, ok := strings.Cut(line, "{")
	if !ok {
		return ""
	}
	for field := range strings.FieldsSeq(strings.TrimRight(record, "}\r\n")) {
		if pkg, _, ok := strings.Cut(field, "/"); ok && strings.Contains(pkg, ".") {
			return field
		}
	}
	return ""
}

// isBelow reports whether an activity is somewhere below another one in its task, in `dumpsys activity activities`.
// One that is being left does not count: its record ends with f}}.
func isBelow(out, activity, upper string) bool {
	task := ""
	for _, m := range historyRecord().FindAllStringSubmatch(out, -1) {
		switch {
		case m[1] == upper:
			task = m[2]
		case m[1] == activity && m[2] == task:
			return true
		}
	}
	return false
}

var historyRecord = lazyregexp.New(`\bHist\s+#\d+: ActivityRecord\{\S+ u\d+ (\S+) t(\d+)\}`)

// parseInputShown reports whether `dumpsys input_method` says that a keyboard is on the screen. With a hardware keyboard
// the input method is shown, but has no view. It is not known when the input method has not added its own state.
func parseInputShown(out string) (shown, known bool) {
	fields := strings.Fields(out)
	if !slices.Contains(fields, "mInputShown=true") {
		return false, true
	}
	shown = slices.Contains(fields, "mIsInputViewShown=true")
	return shown, shown || slices.Contains(fields, "mIsInputViewShown=false")
}

// parseFocusedWindow returns the window for which the keyboard is, in `dumpsys input_method`; "" if it does not say so.
func parseFocusedWindow(out string) string {
	if m := focusedWindow().FindStringSubmatch(out); m != nil {
		return m[1]
	}
	return ""
}

var focusedWindow = lazyregexp.New(`\bm(?:Cur)?FocusedWindow=(\S+)`)

// parseFocusIsDialog reports whether the window with the focus in `dumpsys window` is of the type of dialogs. That of an
// activity is a BASE_APPLICATION.
func parseFocusIsDialog(out string) bool {
	focus := currentFocus().FindAllStringSubmatch(out, -1)
	if len(focus) == 0 {
		return false
	}
	_, about, found := strings.Cut(out, " Window{"+focus[len(focus)-1][1]+" ")
	for found && !strings.HasPrefix(about[strings.IndexByte(about, '}')+1:], ":\n") { // it is only mentioned
		_, about, found = strings.Cut(about, " Window{"+focus[len(focus)-1][1]+" ")
	}
	m := windowType().FindStringSubmatch(about)
	return found && m != nil && m[1] == "APPLICATION"
}

var (
	currentFocus = lazyregexp.New(`\bmCurrentFocus=Window\{(\w+)`)
	windowType   = lazyregexp.New(`\bty=(\w+)`)
)

// parseInputArea returns the touchable area of the keyboard in the output of `dumpsys input_method` and `dumpsys window
// InputMethod`, in pixels of the screen. The insets count from its window, which ends at the lower edge of a screen of
// this size.
func parseInputArea(out string, width, height int) *screen.Rect {
	above := 0 // of the window, which begins below the status bar on some phones
	_, window, _ := strings.Cut(out, "WINDOW MANAGER WINDOWS")
	if m := windowFrame().FindStringSubmatch(window); m != nil {
		above = number(m[1])
	}
	if m := touchableRegion().FindStringSubmatch(out); m != nil {
		r := screen.Rect{Left: number(m[1]), Top: above + number(m[2]), Right: number(m[3]), Bottom: above + number(m[4])}
		if r = r.Intersect(screen.Rect{Right: width, Bottom: height}); !r.Empty() {
			return &r
		}
	}
	if m := visibleTopInsets().FindStringSubmatch(out); m != nil {
		if top := above + number(m[1]); top > above && top < height {
			return &screen.Rect{Top: top, Right: width, Bottom: height}
		}
	}
	return nil
}

var (
	touchableRegion  = lazyregexp.New(`touchableRegion=SkRegion\(\((\d+),(\d+),(\d+),(\d+)\)\)`)
	windowFrame      = lazyregexp.New(`\b(?:mFrame|frame)=\[-?\d+,(\d+)\]`)
	visibleTopInsets = lazyregexp.New(`visibleTopInsets=(\d+)`)
)

// number returns the value of digits, and a large number for one that is too long.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// installedPackage is what `dumpsys package` says of an app.
type installedPackage struct {
	Installed   bool     // for the user
	Users       []string // the numbers of those who have it
	Version     string   // versionName
	Updated     string   // when it was installed, as text
	Permissions []string // that it requests
}

// parsePackage reads the part of `dumpsys package APP` that is about the app. A user may lack an app that others have.
func parsePackage(out, app, user string) installedPackage {
	var p installedPackage
	seen, inside, requested := false, false, false
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Package [") {
			inside = !seen && strings.HasPrefix(line, "Package ["+app+"]") // the first one: an update hides the system's
			seen, p.Installed = seen || inside, p.Installed || inside
		}
		if !inside {
			continue
		}
		if id, state, found := strings.Cut(strings.TrimPrefix(line, "User "), ": "); found && strings.HasPrefix(line, "User ") {
			requested = false
			if strings.Contains(state, "installed=true") {
				p.Users = append(p.Users, id)
			} else if id == user {
				p.Installed = false
			}
			continue
		}
		if strings.HasSuffix(line, ":") {
			requested = line == "requested permissions:"
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		switch {
		case requested:
			name, _, _ := strings.Cut(line, ":") // "NAME: restricted=true"
			p.Permissions = append(p.Permissions, name)
		case key == "versionName":
			p.Version = cmp.Or(p.Version, value)
		case key == "lastUpdateTime":
			p.Updated = cmp.Or(p.Updated, value)
		}
	}
	return p
}

// parseActivity returns the first component of an app in `cmd package resolve-activity --brief` or query-activities. ""
// if it has none, or if Android would ask which of several to start.
func parseActivity(out, app string) string {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, app+"/") {
			return line
		}
	}
	return ""
}

// parseStart returns what `am start` reported as an error, "" if it started the activity. "Status: timeout" says that
// the activity has shown nothing within 10 s, and still may (AOSP, ActivityTaskSupervisor). Below the number of an error,
// and below the command that an exception was in, is the reason.
func parseStart(out string) string {
	general := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "Error: "), strings.HasPrefix(line, "java.lang."):
			return strings.TrimPrefix(line, "Error: ")
		case strings.HasPrefix(line, "Error type "), strings.HasPrefix(line, "Exception occurred"):
			general = line
		}
	}
	return general
}

// parseInstrumentations returns the packages of the instrumentations that run, from `dumpsys activity processes`.
func parseInstrumentations(out string) []string {
	var all []string
	for _, m := range activeInstrumentation().FindAllStringSubmatch(out, -1) {
		if pkg := cmp.Or(m[1], m[2]); !slices.Contains(all, pkg) {
			all = append(all, pkg)
		}
	}
	return all
}

var activeInstrumentation = lazyregexp.New(`ActiveInstrumentation\{\S+ \{?([\w.]+)/|mClass=ComponentInfo\{([\w.]+)/`)

// parseCrash returns the reason in the output of `am instrument` that has ended, "" if it has none.
func parseCrash(out string) string {
	reason := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		for _, start := range []string{
			"INSTRUMENTATION_RESULT: longMsg=", "INSTRUMENTATION_RESULT: shortMsg=", "INSTRUMENTATION_FAILED: ",
			"INSTRUMENTATION_STATUS: Error=", "java.lang.", "android.", "Error: ",
		} {
			if text, ok := strings.CutPrefix(line, start); ok && (reason == "" || strings.HasPrefix(start, "INSTRUMENTATION_RESULT: longMsg")) {
				if strings.HasSuffix(start, ".") {
					text = line
				}
				reason = text
			}
		}
		if strings.Contains(line, "already registered") {
			return line
		}
	}
	return reason
}
