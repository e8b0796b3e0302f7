package live

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// RedactedSession is a live session for those who work in it: no text of its answers and errors has a secret. A request
// that panics returns an error.
type RedactedSession struct{ session *Session }

var _ API = (*RedactedSession)(nil)

// Open opens a session: it starts the servers of the scope and registers their tools. The device starts with the first
// call that needs it. ctx bounds the lifetime of the session.
func Open(ctx context.Context, o Options) (*RedactedSession, error) {
	s, err := open(ctx, o)
	if err != nil {
		return nil, cleanError(o.Redactor, err)
	}
	r := &RedactedSession{s}
	if err := r.listenForOthers(ctx); err != nil {
		r.Close(ctx)
		return nil, cleanError(o.Redactor, err)
	}
	return r, nil
}

// Status implements [API].
func (r *RedactedSession) Status(ctx context.Context) (Status, error) {
	return answer(r, func() (Status, error) { return r.session.Status(ctx) })
}

// Snapshot implements [API].
func (r *RedactedSession) Snapshot(ctx context.Context, o SnapshotOptions) (Snapshot, error) {
	return answer(r, func() (Snapshot, error) { return r.session.Snapshot(ctx, o) })
}

// Step implements [API].
func (r *RedactedSession) Step(ctx context.Context, request StepRequest) (StepReport, error) {
	return answer(r, func() (StepReport, error) { return r.session.Step(ctx, request) })
}

// Edit implements [API].
func (r *RedactedSession) Edit(ctx context.Context, e Edit) (string, error) {
	return answer(r, func() (string, error) { return r.session.Edit(ctx, e) })
}

// Save implements [API].
func (r *RedactedSession) Save(ctx context.Context, request SaveRequest) (SaveReport, error) {
	return answer(r, func() (SaveReport, error) { return r.session.Save(ctx, request) })
}

// RunTrail implements [API].
func (r *RedactedSession) RunTrail(ctx context.Context, request TrailRequest) (TrailReport, error) {
	return answer(r, func() (TrailReport, error) { return r.session.RunTrail(ctx, request) })
}

// Toolbox implements [API]. What calls and checks the tools is left out.
func (r *RedactedSession) Toolbox(ctx context.Context) (Toolbox, error) {
	return answer(r, func() (Toolbox, error) { return r.session.Toolbox(ctx) })
}

// Look implements [API].
func (r *RedactedSession) Look(ctx context.Context, picture bool) (Look, error) {
	return answer(r, func() (Look, error) { return r.session.Look(ctx, picture) })
}

// Locate implements [API].
func (r *RedactedSession) Locate(ctx context.Context, at Place) (Location, error) {
	return answer(r, func() (Location, error) { return r.session.Locate(ctx, at) })
}

// Watch calls frame with pictures of what the device shows, as [Session.Watch] says.
func (r *RedactedSession) Watch(ctx context.Context, frame func(Frame)) error {
	_, err := answer(r, func() (struct{}, error) {
		return struct{}{}, r.session.Watch(ctx, func(f Frame) { frame(clean(r.session.opts.Redactor, f)) })
	})
	return err
}

// Check returns what is wrong with a text as the content of a trail file, as [Session.Check] does.
func (r *RedactedSession) Check(ctx context.Context, file string, content []byte) (TrailProblems, error) {
	return answer(r, func() (TrailProblems, error) { return r.session.Check(ctx, file, content) })
}

// CheckNewFile returns an error unless a recording can be saved into a file that does not exist, or that is to be
// overwritten.
func (r *RedactedSession) CheckNewFile(file string, overwrite trail.Overwrite) error {
	_, err := answer(r, func() (struct{}, error) { return struct{}{}, r.session.checkNewFile(file, overwrite) })
	return err
}

// Variables returns the values that tokens can use, as [Session.Variables] does.
func (r *RedactedSession) Variables(ctx context.Context) ([]Variable, error) {
	return answer(r, func() ([]Variable, error) { return r.session.Variables(ctx) })
}

// Subscribe implements [API].
func (r *RedactedSession) Subscribe(ctx context.Context, buffer int) (events <-chan event.Event, stop func()) {
	events, end := r.session.Subscribe(buffer)
	forget := context.AfterFunc(ctx, end)
	return events, func() { forget(); end() }
}

// Err implements [API].
func (r *RedactedSession) Err() error { return cleanError(r.session.opts.Redactor, r.session.Err()) }

// Close implements [API].
func (r *RedactedSession) Close(ctx context.Context) { r.session.Close(ctx) }

// Done is closed when the session can no longer be used.
func (r *RedactedSession) Done() <-chan struct{} { return r.session.Done() }

// Folder returns the folder with the logs and the evidence of the session, empty for none. It is for the program itself:
// a secret in the path is not replaced.
func (r *RedactedSession) Folder() string { return r.session.dir }

// SaveDraft writes a recording that the caller has into the folder of the session, where it is found when the process is
// killed; nil removes it. From then on, the session does not write its own there.
func (r *RedactedSession) SaveDraft(recording []byte) error { return r.session.keepText(recording) }

// LeaveDraft has [LostRecordings] return the recording after the session was closed, as if it was killed.
func (r *RedactedSession) LeaveDraft() {
	r.session.kept.mu.Lock()
	defer r.session.kept.mu.Unlock()
	r.session.kept.left = true
}

// Lineage returns the classifiers of the device, narrow first. Calls are recorded under the first.
func (r *RedactedSession) Lineage() []string { return slices.Clone(r.session.opts.Lineage) }

// TargetID returns the id of the target of the session.
func (r *RedactedSession) TargetID() string { return r.session.opts.Scope.Target.ID }

// answer makes a request and returns its answer without secrets.
func answer[T any](r *RedactedSession, request func() (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked(p)
		}
		result, err = clean(r.session.opts.Redactor, result), cleanError(r.session.opts.Redactor, err)
	}()
	return request()
}

// redactor replaces secrets.
type redactor interface {
	Text(text string) string
	Value(v any) any
}

// clean returns a copy of an answer without secrets. What it shares with the session is not changed.
func clean[T any](r redactor, answer T) T {
	v := reflect.ValueOf(&answer).Elem()
	v.Set(cleanValue(r, v))
	return answer
}

// cleanValue replaces secrets in every text of a value. Texts of other types than string are words of trailblaze, such
// as outcomes, and bytes are pictures.
func cleanValue(r redactor, v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch {
	case v.Type() == reflect.TypeFor[string]():
		out.SetString(r.Text(v.String()))
	case v.Kind() == reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				out.FieldByIndex(field.Index).Set(cleanValue(r, value))
			}
		}
	case !slices.Contains([]reflect.Kind{reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Map}, v.Kind()) || v.IsNil():
	case v.Type() == reflect.TypeFor[*discover.Registry]():
		registry, _ := reflect.TypeAssert[*discover.Registry](v)
		out.Set(reflect.ValueOf(cleanRegistry(r, registry)))
	case v.Kind() == reflect.Interface || v.Type() == reflect.TypeFor[map[string]any]():
		out.Set(reflect.ValueOf(r.Value(v.Interface())))
	case v.Kind() == reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(cleanValue(r, v.Elem()))
	case v.Kind() == reflect.Map:
		out.Set(reflect.MakeMap(v.Type()))
		for key, value := range v.Seq2() {
			out.SetMapIndex(cleanValue(r, key), cleanValue(r, value))
		}
	case v.Type().Elem().Kind() != reflect.Uint8:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i, item := range v.Seq2() {
			out.Index(int(i.Int())).Set(cleanValue(r, item))
		}
	}
	return out
}

// cleanRegistry returns a registry without secrets, as its encoding has it.
func cleanRegistry(r redactor, registry *discover.Registry) *discover.Registry {
	out := &discover.Registry{}
	data, err := json.Marshal(r.Value(registry))
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil { // not reached: schemas were decoded when the tools were registered
		return &discover.Registry{}
	}
	return out
}

// cleanError returns an error without secrets. Its causes, which are not printed, stay.
func cleanError(r redactor, err error) error {
	var cleaned []error
	for _, part := range fault.Split(err) {
		e := fault.As(part)
		problems, areProblems := errors.AsType[fault.Problems](part)
		switch {
		case e != nil:
			details, _ := r.Value(e.Details).(map[string]any)
			part = &fault.Error{Kind: e.Kind, Message: r.Text(part.Error()), Hint: r.Text(e.Hint), Details: details, Cause: part}
		case areProblems:
			part = clean(r, problems)
		case r.Text(part.Error()) != part.Error():
			part = errors.New(r.Text(part.Error()))
		}
		cleaned = append(cleaned, part)
	}
	if len(cleaned) == 1 {
		return cleaned[0]
	}
	return errors.Join(cleaned...)
}
