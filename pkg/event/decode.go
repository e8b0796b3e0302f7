package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrUnknown is wrapped in the error of Decode for an unknown type of event. Readers skip such a record, of a later
// version.
var ErrUnknown = errors.New("unknown type of event")

// Decode decodes a record that MarshalJSON encoded, a line of events.ndjson. It ignores unknown fields. The hint of a
// Log stays part of its message.
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
		return Record{}, fmt.Errorf("decode event: %w", err)
	}
	if head.V != Version || head.Type == "" {
		return Record{}, fmt.Errorf("decode event: v is %d and type is %q, expected v %d and a type", head.V, head.Type, Version)
	}
	e, err := decodeEvent(head.Type, line)
	if err != nil {
		return Record{}, fmt.Errorf("decode event of type %q: %w", head.Type, err)
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
	case DeviceNoted{}.Type():
		return as[DeviceNoted](line)
	case Lost{}.Type():
		return as[Lost](line)
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
		l, err := as[logFields](line)
		if l.Call != "" {
			return CallProgress{Call: l.Call, Tool: l.Source, Message: l.Message}, err
		}
		return Log{Level: l.Level, Source: l.Source, Message: l.Message}, err
	}
	return nil, ErrUnknown
}

// as decodes the fields of an event. Numbers in arguments become json.Number.
func as[T any](line []byte) (T, error) {
	var e T
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	err := d.Decode(&e)
	return e, err
}
