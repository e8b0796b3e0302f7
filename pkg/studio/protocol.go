package studio

import (
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// What the server says to pages. page/src/protocol.ts has the same types, with what they mean.

// DeviceOption is a device that the person can choose.
type DeviceOption struct {
	Name     string `json:"name"` // what --device takes
	Platform string `json:"platform"`
	Why      string `json:"why"` // it cannot be chosen; empty if it can
}

type problem struct {
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Severity string `json:"severity"`
}

func problemsOf(found fault.Problems, severity string) []problem {
	out := []problem{}
	for _, p := range found {
		out = append(out, problem{Line: p.Line, Column: p.Column, Message: p.Message, Hint: p.Hint, Severity: severity})
	}
	return out
}

type pictureMessage struct {
	Seq      int     `json:"seq"`
	Width    float64 `json:"width"`
	Height   float64 `json:"height"`
	Withheld string  `json:"withheld"`
}

type logMessage struct {
	Lines []logLine `json:"lines"`
}

type logLine struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"`
	Text  string    `json:"text"`
}
