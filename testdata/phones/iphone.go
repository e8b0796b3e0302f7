package phones

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// IPhoneOptions describe a simulated iPhone.
type IPhoneOptions struct {
	App app.Options
	// Tablet makes it an iPad, where WebDriverAgent hides the keyboard by its last key.
	Tablet bool
	// Simulator makes WebDriverAgent say that it runs in a simulator, where every app may use the pasteboard.
	Simulator bool
	// AppAtPoint says that the active app, whose elements the source has, is the one at the point of the setting
	// activeAppDetectionPoint (WebDriverAgentLib/Utilities/FBActiveAppDetectionPoint.m), and not the one in front. Which
	// of several apps XCTest lists is not known.
	AppAtPoint bool
	// AlertElsewhere says that prompts of the system are those of an app that is never the active one.
	AlertElsewhere bool
	// NotVisible are the ids or labels of elements, or * for all, that are reported as not visible although they are, as
	// XCTest does for some (appium#19863; WebDriverAgentLib/Categories/XCUIElement+FBIsVisible.m).
	NotVisible []string
	// NoLocation says that the system does not take a location, as before iOS 16.4
	// (WebDriverAgentLib/Utilities/FBXCTestDaemonsProxy.m).
	NoLocation bool
	// Levels is how many more levels the tree has around the content of each window, as those of React Native. One branch
	// has Levels more, without content: XCTest fails with kAXErrorIllegalArgument when it is to read more than 62 levels of
	// a tree that has them.
	Levels int
	// Runner is the app in which WebDriverAgent runs if it was signed with a bundle id of the user's own, which it does not
	// know (WebDriverAgentLib/Commands/FBSessionCommands.m); empty for RunnerID.
	Runner string
	// DismissWait is how long an iPhone looks whether the keyboard is gone before WebDriverAgent says that it does not
	// know how to hide it; 0 stands for 3 s (WebDriverAgentLib/Categories/XCUIApplication+FBHelpers.m).
	DismissWait time.Duration
	// Address is where WebDriverAgent listens; empty stands for a free port of 127.0.0.1.
	Address string
}

// IPhone is a simulated iPhone with WebDriverAgent.
type IPhone struct {
	App *app.Device

	options   IPhoneOptions
	webDriver *webDriver
	listener  net.Listener
	cancel    context.CancelCauseFunc
	handlers  sync.WaitGroup
}

// StartIPhone starts a simulated iPhone. The caller must call Close.
func StartIPhone(ctx context.Context, o IPhoneOptions) (*IPhone, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	p := &IPhone{App: app.New(app.IOS, o.App), listener: l, options: o}
	ctx, p.cancel = context.WithCancelCause(ctx)
	p.webDriver = newWebDriver(ctx, &p.handlers)
	p.routes()
	p.webDriver.start(l)
	return p, nil
}

// URL returns where WebDriverAgent listens.
func (p *IPhone) URL() string { return "http://" + p.listener.Addr().String() }

// Close ends WebDriverAgent.
func (p *IPhone) Close() {
	p.cancel(errors.New("the phone is off"))
	p.webDriver.close()
	p.handlers.Wait()
}

// SetIntercept sets a function that is called before WebDriverAgent answers a request; nil for none.
func (p *IPhone) SetIntercept(i Intercept) { p.webDriver.setIntercept(i) }

// LoseNextAnswer makes WebDriverAgent do what the next POST asks, and close the connection without an answer.
func (p *IPhone) LoseNextAnswer() { p.webDriver.withholdNext(lost) }

// HangAfterNext makes WebDriverAgent do what the next POST asks, and answer nothing.
func (p *IPhone) HangAfterNext() { p.webDriver.withholdNext(hung) }

// StartAnotherSession starts a session of WebDriverAgent as another program does, which ends the one before it.
func (p *IPhone) StartAnotherSession() { p.webDriver.setSession(newID()) }

// Requests returns the method and path of the requests.
func (p *IPhone) Requests() []string {
	requests, _ := p.webDriver.requestLog()
	return requests
}

// UnknownRoutes returns the requests that the simulation does not know.
func (p *IPhone) UnknownRoutes() []string {
	_, unknown := p.webDriver.requestLog()
	return unknown
}
