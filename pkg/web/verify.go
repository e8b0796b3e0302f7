package web

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

func webVerifyElementVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.VerifiedElementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.assertVisible(ctx, t, p.strict(args), p.assertionLimit(ctx, args))
}

// assertVisible fails unless the first element of a target becomes visible in time.
func (p *page) assertVisible(ctx context.Context, t syntax.Target, strict bool, limit time.Duration) (tool.Result, error) {
	o, err := p.search(t, check{name: "visible", want: "visible", unique: strict}).do(ctx, limit, nil)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s is visible", o), nil
}

func assertVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.CoreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.assertVisible(ctx, t, p.strict(args), p.assertionLimit(ctx, args))
}

func waitForSelector(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	return p.assertVisible(ctx, syntax.ByCSS(syntax.Arguments(args).Text("selector")), p.strict(args), p.actionLimit(ctx, args))
}

// timeoutOf returns the argument timeoutMs, or absent.
func timeoutOf(args syntax.Arguments, absent time.Duration) time.Duration {
	return time.Duration(args.Number("timeoutMs", float64(absent.Milliseconds())) * float64(time.Millisecond))
}

// checkValue checks the arguments of web_verifyValue.
func checkValue(args syntax.Arguments) error {
	if strings.EqualFold(args.Text("type"), "ATTRIBUTE") && args.Text("attribute") == "" {
		return fault.New(fault.InvalidArguments, "give attribute, such as href",
			"type ATTRIBUTE needs the name of an attribute")
	}
	_, err := syntax.ComparisonOptions(args)
	return errors.Join(err, checkVerified(args))
}

func webVerifyValue(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	t, err := syntax.VerifiedElementOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	kind, err := a.Word("type", "TEXT", "VALUE", "ATTRIBUTE")
	if err != nil {
		return tool.Result{}, err
	}
	if err := checkValue(a); err != nil {
		return tool.Result{}, err
	}
	options, err := syntax.ComparisonOptions(a)
	if err != nil {
		return tool.Result{}, err
	}
	options["attribute"] = a.Text("attribute")
	c := check{name: strings.ToLower(kind), want: "as expected", unique: p.strict(args), options: options}
	o, err := p.search(t, c).do(ctx, p.assertionLimit(ctx, args), nil)
	if err != nil {
		return tool.Result{}, err
	}
	more := textRemarks(o)
	if kind != "ATTRIBUTE" && a.Text("attribute") != "" {
		more = append(more, "attribute is ignored, because type is "+kind)
	}
	return success("%s has %q%s", o, shorten(o.Text), more), nil
}

// checkList checks the arguments of web_verifyListVisible.
func checkList(args syntax.Arguments) error {
	if slices.ContainsFunc(args.Texts("items"), syntax.IsBlank) {
		return fault.New(fault.InvalidArguments, "", "items: an item is empty, and every element shows that")
	}
	return checkVerified(args)
}

func webVerifyListVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.VerifiedElementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	a := syntax.Arguments(args)
	items := a.Texts("items")
	if err := checkList(a); err != nil {
		return tool.Result{}, err
	}
	c := check{
		name: "list", want: "as expected", unique: p.strict(args),
		options: map[string]any{"items": items, "exact": a.Flag("exact", false), "ordered": a.Flag("ordered", false), "only": a.Flag("only", false)},
	}
	o, err := p.search(t, c).do(ctx, p.assertionLimit(ctx, args), nil)
	if err != nil {
		return tool.Result{}, err
	}
	result := success("%s shows %s", o, text.Count(len(items), "item"))
	if len(o.Parts) > 0 {
		note := "of which it shows only as a part of other texts: " + strings.Join(text.Quote(o.Parts), ", ")
		result.Text += ", " + note
		result.Notes = append(result.Notes, note)
	}
	return result, nil
}
