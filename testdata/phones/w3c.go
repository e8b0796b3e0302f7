package phones

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// elementKey is the name of an element's id in W3C WebDriver.
const elementKey = "element-6066-11e4-a52e-4f735466cecf"

// w3cError is an error of W3C WebDriver.
type w3cError struct {
	status        int
	code, message string
}

// Error implements error.
func (e *w3cError) Error() string { return e.code + ": " + e.message }

func invalidArgument(format string, a ...any) error {
	return &w3cError{http.StatusBadRequest, "invalid argument", fmt.Sprintf(format, a...)}
}

func noSuchElement(format string, a ...any) error {
	return &w3cError{http.StatusNotFound, "no such element", fmt.Sprintf(format, a...)}
}

func invalidState(format string, a ...any) error {
	return &w3cError{http.StatusBadRequest, "invalid element state", fmt.Sprintf(format, a...)}
}

// request is a request to a WebDriver server.
type request struct {
	*http.Request
	body  map[string]any
	after func() // runs when the answer was sent
}

// text returns a property of the body as text.
func (r *request) text(name string) string {
	s, _ := r.body[name].(string)
	return s
}

// Intercept is called before a server answers a request. It may wait, until the request's context ends at the latest.
// If it returns true, it has answered.
type Intercept func(w http.ResponseWriter, r *http.Request) bool

// webDriver is a W3C WebDriver server with one session at a time.
type webDriver struct {
	mux    *http.ServeMux
	server *http.Server
	wait   sync.WaitGroup
	// handlers are the requests that are being answered, also after close.
	handlers *sync.WaitGroup
	maxBody  int // of a request, in bytes; longer ones get the status 413 without a body

	mu        sync.Mutex
	session   string
	settings  map[string]any
	requests  []string
	unknown   []string
	intercept Intercept
	noAnswer  noAnswer // to the next POST, after doing what it asks
}

func newWebDriver(ctx context.Context, handlers *sync.WaitGroup) *webDriver {
	s := &webDriver{handlers: handlers, mux: http.NewServeMux(), settings: map[string]any{}, maxBody: 64 << 20}
	s.mux.HandleFunc("/", s.unknownRoute)
	s.server = &http.Server{
		Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	return s
}

// start serves requests from l.
func (s *webDriver) start(l net.Listener) {
	s.wait.Go(func() { _ = s.server.Serve(l) })
}

// close closes the listener and all connections. It does not wait for handlers: one of them may be its caller.
func (s *webDriver) close() {
	_ = s.server.Close()
	s.wait.Wait()
}

func (s *webDriver) serve(w http.ResponseWriter, r *http.Request) {
	s.handlers.Add(1)
	defer s.handlers.Done()
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	intercept := s.intercept
	s.mu.Unlock()
	if intercept != nil && intercept(w, r) {
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *webDriver) unknownRoute(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.unknown = append(s.unknown, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	s.answer(w, nil, &w3cError{
		http.StatusNotFound, "unknown command",
		"The requested resource could not be found, or a request was received using an HTTP method that is not supported",
	})
}

// handle registers what answers the requests of a pattern. Where it has {session}, that is checked.
func (s *webDriver) handle(pattern string, answer func(r *request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		req := &request{Request: r}
		data, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
		if len(data) > s.maxBody {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if err == nil && len(data) > 0 {
			err = json.Unmarshal(data, &req.body)
		}
		if err != nil {
			s.answer(w, nil, invalidArgument("%v", err))
			return
		}
		if id := r.PathValue("session"); strings.Contains(pattern, "{session}") && id != s.sessionID() {
			s.answer(w, nil, &w3cError{http.StatusNotFound, "invalid session id", "session " + id + " is not known"})
			return
		}
		value, err := answer(req)
		if r.Method == http.MethodPost && s.withholds(w, r) {
			return
		}
		s.answer(w, value, err)
		if req.after != nil {
			_ = http.NewResponseController(w).Flush()
			req.after()
		}
	})
}

func (s *webDriver) answer(w http.ResponseWriter, value any, err error) {
	status := http.StatusOK
	if err != nil {
		failure, ok := err.(*w3cError) //nolint:errorlint // ours are never wrapped
		if !ok {
			failure = &w3cError{http.StatusInternalServerError, "unknown error", err.Error()}
		}
		status = failure.status
		value = map[string]any{"error": failure.code, "message": failure.message, "stacktrace": ""}
	}
	id := s.sessionID()
	data, err := json.Marshal(map[string]any{"sessionId": id, "value": value})
	if err != nil {
		status, data = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

func (s *webDriver) sessionID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

func (s *webDriver) setSession(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = id
}

func (s *webDriver) changeSettings(r *request) (any, error) {
	changes, ok := r.body["settings"].(map[string]any)
	if !ok {
		return nil, invalidArgument("settings is missing")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, value := range changes {
		if _, known := s.settings[name]; !known {
			return nil, invalidArgument("%s is not a setting", name)
		}
		s.settings[name] = value
	}
	return nil, nil
}

func (s *webDriver) getSettings(*request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.settings), nil
}

// setting reports whether a setting is on.
func (s *webDriver) setting(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	on, _ := s.settings[name].(bool)
	return on
}

// number returns a setting that is a number.
func (s *webDriver) number(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch n := s.settings[name].(type) {
	case float64:
		return int(n)
	case int:
		return n
	}
	return 0
}

// text returns a setting that is a text.
func (s *webDriver) text(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _ := s.settings[name].(string)
	return text
}

func (s *webDriver) setIntercept(i Intercept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = i
}

// noAnswer is what happens in place of an answer.
type noAnswer string

const (
	lost noAnswer = "the connection is closed"
	hung noAnswer = "nothing"
)

// withholdNext makes the next POST do what it asks, without an answer.
func (s *webDriver) withholdNext(n noAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noAnswer = n
}

// withholds reports whether a request gets no answer, once.
func (s *webDriver) withholds(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	n := s.noAnswer
	s.noAnswer = ""
	s.mu.Unlock()
	switch n {
	case lost:
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	case hung:
		<-r.Context().Done()
	}
	return n != ""
}

func (s *webDriver) requestLog() (requests, unknown []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests), slices.Clone(s.unknown)
}

// newID returns a random id as WebDriver servers make them.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// elementID returns the id of the element with a name, or with an index among several.
func elementID(name string, index int) string {
	return fmt.Sprintf("%08x-%d", crc32.ChecksumIEEE([]byte(name)), index)
}

// w3cActions is the body of a request with actions.
type w3cActions struct {
	Actions []struct {
		Type    string `json:"type"`
		Actions []struct {
			Type     string  `json:"type"`
			Duration float64 `json:"duration"`
			X        float64 `json:"x"`
			Y        float64 `json:"y"`
			Origin   any     `json:"origin"`
			Value    string  `json:"value"`
		} `json:"actions"`
	} `json:"actions"`
}

// stroke is a finger from down to up, and when it came down, since the begin of the actions.
type stroke struct {
	finger app.Finger
	down   time.Duration
	up     time.Duration
}

// perform performs the W3C actions of a request: touches with their pointers, and typed keys. origin returns the middle
// of an element that a pointer moves to.
func perform(d *app.Device, r *request, origin func(element string) (screen.Point, error)) error {
	data, err := json.Marshal(r.body)
	if err != nil {
		return err
	}
	var actions w3cActions
	if err := json.Unmarshal(data, &actions); err != nil {
		return invalidArgument("%v", err)
	}
	if len(actions.Actions) == 0 {
		return invalidArgument("actions are missing")
	}
	var strokes []stroke
	var typed strings.Builder
	for i := range actions.Actions {
		if actions.Actions[i].Type == "key" {
			for _, a := range actions.Actions[i].Actions {
				if a.Type == "keyDown" {
					typed.WriteString(a.Value)
				}
			}
			continue
		}
		more, err := strokesOf(actions, i, origin)
		if err != nil {
			return err
		}
		strokes = append(strokes, more...)
	}
	touchAll(d, strokes)
	if typed.Len() > 0 {
		return typeText(d, typed.String())
	}
	return nil
}

// strokesOf returns the strokes of one pointer.
func strokesOf(actions w3cActions, source int, origin func(string) (screen.Point, error)) ([]stroke, error) {
	var strokes []stroke
	var at screen.Point
	var now time.Duration
	var current *stroke
	for _, a := range actions.Actions[source].Actions {
		duration := time.Duration(a.Duration * float64(time.Millisecond))
		switch a.Type {
		case "pointerMove":
			from, err := originOf(a.Origin, at, origin)
			if err != nil {
				return nil, err
			}
			at = screen.Point{X: from.X + int(a.X), Y: from.Y + int(a.Y)}
			if current != nil {
				current.finger.Path = append(current.finger.Path, at)
				current.finger.Last, current.finger.Rest = duration, 0
			}
		case "pointerDown":
			current = &stroke{finger: app.Finger{Path: []screen.Point{at}}, down: now}
		case "pause":
			switch {
			case current == nil: // before the touch
			case len(current.finger.Path) == 1:
				current.finger.Hold += duration
			default:
				current.finger.Rest += duration
			}
		case "pointerUp":
			if current == nil {
				return nil, invalidArgument("pointerUp without pointerDown")
			}
			current.up = now
			strokes, current = append(strokes, *current), nil
		default:
			return nil, invalidArgument("%s is not an action of a pointer", a.Type)
		}
		now += duration
	}
	if current != nil {
		return nil, invalidArgument("pointerUp is missing")
	}
	return strokes, nil
}

func originOf(origin any, at screen.Point, element func(string) (screen.Point, error)) (screen.Point, error) {
	switch o := origin.(type) {
	case map[string]any:
		id, _ := o[elementKey].(string)
		return element(id)
	case string:
		if o == "pointer" {
			return at, nil
		}
	}
	return screen.Point{}, nil
}

// touchAll performs strokes: those at the same time as one sequence of several fingers, the others one after another.
func touchAll(d *app.Device, strokes []stroke) {
	slices.SortStableFunc(strokes, func(a, b stroke) int { return int(a.down - b.down) })
	for len(strokes) > 0 {
		n := 1
		for n < len(strokes) && strokes[n].down < strokes[0].up {
			n++
		}
		var fingers []app.Finger
		for _, s := range strokes[:n] {
			fingers = append(fingers, s.finger)
		}
		if n == 1 && len(strokes) > 1 && isDoubleTap(strokes[0], strokes[1]) {
			n, fingers[0].Taps = 2, 2
		}
		d.Touch(fingers...)
		strokes = strokes[n:]
	}
}

// isDoubleTap reports whether two strokes are a double tap: those of Android's ViewConfiguration, 40 to 300 ms apart.
func isDoubleTap(a, b stroke) bool {
	pause := b.down - a.up
	return len(a.finger.Path) == 1 && len(b.finger.Path) == 1 && a.finger.Path[0] == b.finger.Path[0] &&
		pause >= 40*time.Millisecond && pause <= 300*time.Millisecond
}

// typeText types text into the field that has the focus.
func typeText(d *app.Device, text string) error {
	if err := d.Type(text); err != nil {
		return invalidState("%v", err)
	}
	return nil
}

// typedText returns the text of a request that types: text, or value as a list or a text.
func (r *request) typedText() string {
	if s, ok := r.body["text"].(string); ok {
		return s
	}
	switch v := r.body["value"].(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, s := range v {
			fmt.Fprint(&b, s)
		}
		return b.String()
	}
	return ""
}
