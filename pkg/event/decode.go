package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrUnknown is in the error of Decode for a type of event that this version does not know. Such a record is to be skipped.
var ErrUnknown = errors.New("unknown type of event")

// Decode reads a record from what MarshalJSON writes, a line of events.ndjson. Fields that it does not know are left out. A Log
// keeps its hint in the message.
func Decode(line []byte) (Record, error) {
	var head struct {
		V       int       `json:"v"`
		Type    string    `json:"type"`
		Time    time.Time `json:"time"`
		Seq     int64     `json:"seq"`
		Session string    `json:"session"`
		Trail   string    `json:"trail"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Record{}, fmt.Errorf("read an event: %w", err)
	}
	if head.V != Version || head.Type == "" {
		return Record{}, fmt.Errorf("read an event: v is %d and type %q, not %d and a name", head.V, head.Type, Version)
	}
	e, err := decodeEvent(head.Type, line)
	if err != nil {
		return Record{}, fmt.Errorf("read an event of type %q: %w", head.Type, err)
	}
	return Record{Time: head.Time, Seq: head.Seq, Session: head.Session, Trail: head.Trail, Event: e}, nil
}

func decodeEvent(name string, line []byte) (Event, error) {
	switch name {
	case RunStarted{}.Type():
		return as[RunStarted](line)
	case TrailStarted{}.Type():
		return as[TrailStarted](line)
	case ServerStarted{}.Type():
		return as[ServerStarted](line)
	case StepStarted{}.Type():
		return as[StepStarted](line)
	case CallStarted{}.Type():
		return as[CallStarted](line)
	case CallFinished{}.Type():
		return as[CallFinished](line)
	case StepFinished{}.Type():
		return as[StepFinished](line)
	case Evidence{}.Type():
		return as[Evidence](line)
	case TrailFinished{}.Type():
		e, err := as[TrailFinished](line)
		e.Reason = strings.TrimSuffix(e.Reason, withHint("", e.Hint))
		if e.Line != 0 {
			e.Reason = strings.TrimPrefix(e.Reason, fmt.Sprintf("%s:%d: ", e.File, e.Line))
		}
		return e, err
	case RunFinished{}.Type():
		return as[RunFinished](line)
	case Log{}.Type():
		l, err := as[logged](line)
		if l.Call != "" {
			return CallProgress{Call: l.Call, Tool: l.Source, Message: l.Message}, err
		}
		return Log{Level: l.Level, Source: l.Source, Message: l.Message}, err
	}
	return nil, ErrUnknown
}

// as reads an event's own fields. Numbers in arguments stay as they are written.
func as[T any](line []byte) (T, error) {
	var e T
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	err := d.Decode(&e)
	return e, err
}
