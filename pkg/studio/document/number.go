package document

import (
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func stepNumber(step int) string { return strconv.Itoa(step + 1) }

func callNumber(step, call int) string { return stepNumber(step) + "." + strconv.Itoa(call+1) }

// parseNumber reads the number of a step or a call as indexes.
func parseNumber(number string) (step, call int, isCall bool, err error) {
	first, second, isCall := strings.Cut(number, ".")
	step, err = strconv.Atoi(first)
	if isCall && err == nil {
		call, err = strconv.Atoi(second)
	}
	if err != nil || step < 1 || isCall && call < 1 {
		return 0, 0, false, fault.New(fault.InvalidArguments, "steps are numbered as 2, calls as 2.1",
			"%q is not the number of a step or a call", number)
	}
	return step - 1, call - 1, isCall, nil
}

func (d *Document) step(step int) *trail.Step { return d.now.all()[step] }

// stepIndex returns the index of a step that can be edited.
func (d *Document) stepIndex(number string) (int, error) {
	step, _, isCall, err := parseNumber(number)
	if err == nil && isCall {
		err = fault.New(fault.InvalidArguments, "give the number before the dot", "%s is the number of a call, not of a step", number)
	}
	if err == nil {
		err = d.checkStep(step)
	}
	return step, err
}

func (d *Document) checkStep(step int) error {
	if err := d.checkParsed(); err != nil {
		return err
	}
	switch all, teardown := len(d.now.all()), len(d.now.rest.TeardownSteps()); {
	case step < all:
		return nil
	case step < all+teardown:
		return fault.New(fault.InvalidArguments, "change it in the YAML, under config: teardown:", "step %s belongs to the teardown", stepNumber(step))
	default:
		return fault.New(fault.InvalidArguments, "", "there is not a step %s; the trail has %s", stepNumber(step), text.Count(all, "step"))
	}
}

// checkParsed returns an error for a text that does not parse.
func (d *Document) checkParsed() error {
	if len(d.now.problems) == 0 {
		return nil
	}
	return fault.New(fault.Trail, "solve it in the YAML first", "%s cannot be edited: line %d: %s", d.opts.Name,
		d.now.problems[0].Line, d.now.problems[0].Message)
}

// call returns the indexes of a call for the device.
func (d *Document) call(number string) (step, call int, err error) {
	step, call, isCall, err := parseNumber(number)
	switch {
	case err != nil:
		return 0, 0, err
	case !isCall:
		return 0, 0, fault.New(fault.InvalidArguments, "calls are numbered as 2.1", "%s is the number of a step, not of a call", number)
	}
	if err := d.checkStep(step); err != nil {
		return 0, 0, err
	}
	if _, calls := d.recorded(d.step(step)); call >= len(calls) {
		return 0, 0, fault.New(fault.InvalidArguments, "", "step %s has no call %s; it has %s for this device", stepNumber(step),
			number, text.Count(len(calls), "call"))
	}
	return step, call, nil
}
