package event

import "slices"

func (e RunFinished) redacted(r Redactor) Event {
	left := make([]NotRun, len(e.NotRun))
	for i, n := range e.NotRun {
		left[i] = NotRun{n.Case, r.Text(n.File), r.Text(n.Title), r.Text(n.Device)}
	}
	e.NotRun = left
	e.Repeated = slices.Clone(e.Repeated)
	for i, one := range e.Repeated {
		one.File, one.Title, one.Device = r.Text(one.File), r.Text(one.Title), r.Text(one.Device)
		e.Repeated[i] = one
	}
	return e
}

func (e StepFinished) redacted(Redactor) Event { return e }

func (e RunStarted) redacted(r Redactor) Event {
	e.Root, e.Dir = r.Text(e.Root), r.Text(e.Dir)
	e.Version, e.Commit = r.Text(e.Version), r.Text(e.Commit)
	return e
}

func (e ServerStarted) redacted(r Redactor) Event {
	e.Server = r.Text(e.Server)
	return e
}

func (e TrailStarted) redacted(r Redactor) Event {
	e.File, e.Title, e.Target = r.Text(e.File), r.Text(e.Title), r.Text(e.Target)
	e.Device, e.DeviceID = r.Text(e.Device), r.Text(e.DeviceID)
	return e
}

func (e StepStarted) redacted(r Redactor) Event {
	e.Text = r.Text(e.Text)
	return e
}

func (e CallStarted) redacted(r Redactor) Event {
	e.Tool, e.Source = r.Text(e.Tool), r.Text(e.Source)
	args, ok := r.Value(e.Args).(map[string]any)
	if !ok || args == nil {
		args = map[string]any{} // in JSON {}, not null
	}
	e.Args = limitedArgs(args)
	return e
}

func (e CallProgress) redacted(r Redactor) Event {
	e.Tool, e.Message = r.Text(e.Tool), limited(r.Text(e.Message))
	return e
}

func (e CallFinished) redacted(r Redactor) Event {
	e.Tool, e.Text, e.Error = r.Text(e.Tool), limited(r.Text(e.Text)), limited(r.Text(e.Error))
	e.Details, _ = r.Value(e.Details).(map[string]any)
	e.Notes = slices.Clone(e.Notes)
	for i, note := range e.Notes {
		e.Notes[i] = limited(r.Text(note))
	}
	return e
}

func (e Evidence) redacted(r Redactor) Event {
	e.File, e.Title = r.Text(e.File), r.Text(e.Title)
	return e
}

func (e DeviceNoted) redacted(r Redactor) Event {
	e.Text = limited(r.Text(e.Text))
	return e
}

func (e TrailFinished) redacted(r Redactor) Event {
	e.File, e.Title, e.Reason, e.Hint = r.Text(e.File), r.Text(e.Title), limited(r.Text(e.Reason)), r.Text(e.Hint)
	e.StepText, e.Tool, e.Snippet, e.Device = r.Text(e.StepText), r.Text(e.Tool), r.Text(e.Snippet), r.Text(e.Device)
	artifacts := make([]string, len(e.Artifacts))
	for i, a := range e.Artifacts {
		artifacts[i] = r.Text(a)
	}
	e.Artifacts, e.Product = artifacts, r.Text(e.Product)
	if e.Used != nil {
		e.Used = &Position{r.Text(e.Used.File), e.Used.Line}
	}
	e.Failures = slices.Clone(e.Failures)
	for i, f := range e.Failures {
		f.Kind, f.Reason, f.Step = r.Text(f.Kind), limited(r.Text(f.Reason)), r.Text(f.Step)
		f.StepText, f.Tool, f.File = r.Text(f.StepText), r.Text(f.Tool), r.Text(f.File)
		e.Failures[i] = f
	}
	e.Earlier = slices.Clone(e.Earlier)
	for i, a := range e.Earlier {
		e.Earlier[i].Reason, e.Earlier[i].Session = limited(r.Text(a.Reason)), r.Text(a.Session)
	}
	return e
}

func (e Log) redacted(r Redactor) Event {
	e.Source, e.Message, e.Hint = r.Text(e.Source), r.Text(e.Message), r.Text(e.Hint)
	return e
}
