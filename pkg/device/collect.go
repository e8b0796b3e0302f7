package device

import (
	"context"
	"time"
)

// Collector is a Backend that can collect what its device answers, for people who do not have such a device.
type Collector interface {
	// Collect asks the device what a session asks it, and puts back what that changes on it. The error is for a device
	// that cannot be chosen; any other one is that of an answer.
	Collect(ctx context.Context, o CollectOptions) (Collection, error)
}

// CollectOptions say what is collected.
type CollectOptions struct {
	Root     string // absolute folder of the project; empty without one
	WithText bool   // the texts of the screen stay as they are
	Log      func(level, message, hint string)
}

// Collection is what a device answered.
type Collection struct {
	Product string // for people, such as Pixel 7, Android 14; empty if it is not known
	Answers []CollectedAnswer
	// Replace has the texts that identify the device or the person who uses it, such as serials, with what stands for
	// them.
	Replace map[string]string
}

// CollectedAnswer is what a device answered to one question.
type CollectedAnswer struct {
	File     string // name, with an extension
	Question string // a command or a request
	Data     []byte
	Err      error
	Took     time.Duration
}
