package event

// The folder of a trace below the session's folder, and the file in it that has a [Trace] as JSON.
const (
	TraceFolder = "trace"
	TraceIndex  = "trace.json"
)

// Trace is what a session keeps of the calls of its device. The names of files are those in TraceFolder.
type Trace struct {
	Calls []TracedCall `json:"calls"`
	// The numbers of the oldest parts that were removed, because the trace was too large.
	RemovedPictures int `json:"removedPictures,omitempty"`
	RemovedTrees    int `json:"removedTrees,omitempty"`
	RemovedCalls    int `json:"removedCalls,omitempty"`
}

// TracedCall is a call with the screen before and after it.
type TracedCall struct {
	Call      string   `json:"call"` // its id in events
	URL       string   `json:"url,omitempty"`
	Title     string   `json:"title,omitempty"`
	Before    string   `json:"before,omitempty"`    // picture; that of the call before
	After     string   `json:"after,omitempty"`     // picture
	NoPicture string   `json:"noPicture,omitempty"` // why After is missing
	Tree      string   `json:"tree,omitempty"`      // the elements of the screen after the call, as text
	Requests  []string `json:"requests,omitempty"`  // since the call before
	Console   []string `json:"console,omitempty"`   // since the call before
	Omitted   int      `json:"omitted,omitempty"`   // number of requests and lines of the console that were left out
	// Touched is where the call pressed the screen first: in CSS pixels of the viewport on the web, pixels on Android,
	// points on iOS. Width and Height are the size of the screen in that unit; 0 if it is not known.
	Touched *Point `json:"touched,omitempty"`
	Width   int    `json:"width,omitempty"`
	Height  int    `json:"height,omitempty"`
}

// Point is a point of a screen.
type Point struct {
	X int `json:"x"`
	Y int `json:"y"`
}
