package event

import "slices"

func (e RunFinished) withoutSecrets(r Redactor) Event {
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

func (e StepFinished) withoutSecrets(Redactor) Event { return e }

func (e RunStarted) withoutSecrets(r Redactor) Event {
	e.Root, e.Dir = r.Text(e.Root), r.Text(e.Dir)
	e.Version, e.Commit = r.Text(e.Version), r.Text(e.Commit)
	return e
}

func (e ServerStarted) withoutSecrets(r Redactor) Event {
	e.Server = r.Text(e.Server)
	return e
}

func (e TrailStarted) withoutSecrets(r Redactor) Event {
	e.File, e.Title, e.Target = r.Text(e.File), r.Text(e.Title), r.Text(e.Target)
	e.Device, e.DeviceID = r.Text(e.Device), r.Text(e.DeviceID)
	return e
}

func (e StepStarted) withoutSecrets(r Redactor) Event {
	e.Text = r.Text(e.Text)
	return e
}

func (e CallStarted) withoutSecrets(r Redactor) Event {
	e.Tool, e.Source = r.Text(e.Tool), r.Text(e.Source)
	args, ok := r.Value(e.Args).(map[string]any)
	if !ok || args == nil {
		args = map[string]any{} // in JSON {}, not null
	}
	e.Args = limitArgs(args)
	return e
}

func (e CallProgress) withoutSecrets(r Redactor) Event {
	e.Tool, e.Message = r.Text(e.Tool), limitText(r.Text(e.Message))
	return e
}

func (e CallFinished) withoutSecrets(r Redactor) Event {
	e.Tool, e.Text, e.Error = r.Text(e.Tool), limitText(r.Text(e.Text)), limitText(r.Text(e.Error))
	e.Details, _ = r.Value(e.Details).(map[string]any)
	e.Notes = withoutSecretsIn(e.Notes, r)
	return e
}

func (e Evidence) withoutSecrets(r Redactor) Event {
	e.File, e.Title = r.Text(e.File), r.Text(e.Title)
	return e
}

func (e DeviceNoted) withoutSecrets(r Redactor) Event {
	e.Text = limitText(r.Text(e.Text))
	return e
}

func (e TrailFinished) withoutSecrets(r Redactor) Event {
	e.File, e.Title, e.Reason, e.Hint = r.Text(e.File), r.Text(e.Title), limitText(r.Text(e.Reason)), r.Text(e.Hint)
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
		f.Kind, f.Reason, f.Step = r.Text(f.Kind), limitText(r.Text(f.Reason)), r.Text(f.Step)
		f.StepText, f.Tool, f.File = r.Text(f.StepText), r.Text(f.Tool), r.Text(f.File)
		e.Failures[i] = f
	}
	e.Earlier = slices.Clone(e.Earlier)
	for i, a := range e.Earlier {
		e.Earlier[i].Reason, e.Earlier[i].Session = limitText(r.Text(a.Reason)), r.Text(a.Session)
	}
	return e
}

func (e Log) withoutSecrets(r Redactor) Event {
	e.Source, e.Message, e.Hint = r.Text(e.Source), r.Text(e.Message), r.Text(e.Hint)
	return e
}
