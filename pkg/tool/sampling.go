package tool

// Sampling is a request of a tool that is running for an answer of a model.
type Sampling struct {
	System    string // may be empty
	Messages  []SamplingMessage
	MaxTokens int // of the answer
}

// SamplingMessage is a text or a picture.
type SamplingMessage struct {
	Role  string // user or assistant
	Text  string
	Image []byte // decoded; nil for a text
}

// Sampled is the answer of a model.
type Sampled struct {
	Text   string
	Model  string // PROVIDER/MODEL
	CutOff bool   // at MaxTokens
}
