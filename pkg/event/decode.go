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
		return decodeAs[RunStarted](line)
	case TrailStarted{}.Type():
		return decodeAs[TrailStarted](line)
	case ServerStarted{}.Type():
		return decodeAs[ServerStarted](line)
	case StepStarted{}.Type():
		return decodeAs[StepStarted](line)
	case CallStarted{}.Type():
		return decodeAs[CallStarted](line)
	case CallFinished{}.Type():
		return decodeAs[CallFinished](line)
	case StepFinished{}.Type():
		return decodeAs[StepFinished](line)
	case Evidence{}.Type():
		return decodeAs[Evidence](line)
	case DeviceNoted{}.Type():
		return decodeAs[DeviceNoted](line)
	case TaskStarted{}.Type():
		return decodeAs[TaskStarted](line)
	case LLMFinished{}.Type():
		return decodeAs[LLMFinished](line)
	case TaskFinished{}.Type():
		return decodeAs[TaskFinished](line)
	case HealProposed{}.Type():
		return decodeAs[HealProposed](line)
	case Lost{}.Type():
		return decodeAs[Lost](line)
	case TrailFinished{}.Type():
		e, err := decodeAs[TrailFinished](line)
		e.Reason = strings.TrimSuffix(e.Reason, withHint("", e.Hint))
		if e.Line != 0 {
			e.Reason = strings.TrimPrefix(e.Reason, fmt.Sprintf("%s:%d: ", e.File, e.Line))
		}
		return e, err
	case RunFinished{}.Type():
		return decodeAs[RunFinished](line)
	case Log{}.Type():
		l, err := decodeAs[logFields](line)
		if l.Call != "" {
			return CallProgress{Call: l.Call, Tool: l.Source, Message: l.Message}, err
		}
		return Log{Level: l.Level, Source: l.Source, Message: l.Message}, err
	}
	return nil, ErrUnknown
}

// decodeAs decodes the fields of an event. Numbers in arguments become json.Number.
func decodeAs[T any](line []byte) (T, error) {
	var e T
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	err := d.Decode(&e)
	return e, err
}
