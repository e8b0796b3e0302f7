package android

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// Where APKs are copied to while they are installed.
const (
	serverTemp = "/data/local/tmp/trailblaze-server.apk"
	appTemp    = "/data/local/tmp/trailblaze-app.apk"
)

// installer installs apps on a phone.
type installer struct {
	phone  adb.Device
	limits limits
	log    func(level, message, hint string)
}

// install installs the APKs of one app: one, or the base and its splits. Its data is kept. The APKs are copied to temp
// on the phone, which is removed.
func (i installer) install(ctx context.Context, a *apk, temp string) error {
	if len(a.files) == 1 {
		return i.copied(ctx, a.files[0], temp, func() error {
			return i.finish(ctx, a.path, "pm", "install", "-r", "-t", temp)
		})
	}
	out, _, err := runAny(ctx, i.phone, "pm", "install-create", "-r", "-t")
	if err != nil {
		return err
	}
	begun := installSession().FindStringSubmatch(out)
	if begun == nil {
		return i.failure(a.path, out)
	}
	session := begun[1]
	err = i.write(ctx, a, session, temp)
	if err == nil {
		err = i.finish(ctx, a.path, "pm", "install-commit", session)
	}
	if err != nil {
		_ = i.cleanUp(ctx, "pm", "install-abandon", session) // or it keeps what was copied
	}
	return err
}

// installSession is in what `pm install-create` writes.
var installSession = lazyregexp.New(`Success.*\[(\d+)\]`)

// write copies the APKs of an app into an installation that has begun.
func (i installer) write(ctx context.Context, a *apk, session, temp string) error {
	for n, file := range a.files {
		err := i.copied(ctx, file, temp, func() error {
			out, _, err := runAny(ctx, i.phone, "pm", "install-write", session, fmt.Sprintf("%d.apk", n), temp)
			if err == nil && !strings.Contains(out, "Success") {
				err = i.failure(file.name, out)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copied copies an APK to the phone while use runs.
func (i installer) copied(ctx context.Context, file apkFile, temp string, use func() error) error {
	content, err := file.open()
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "", "read the APK "+file.name)
	}
	defer func() { _ = content.Close() }()
	err = i.phone.Push(ctx, content, temp, 0o644)
	if err == nil {
		err = use()
	}
	removing := i.cleanUp(ctx, "rm", "-f", temp) // also of one that was copied in part
	if err != nil {
		return err
	}
	return removing
}

// cleanUp runs a command that removes something, also when ctx has ended.
func (i installer) cleanUp(ctx context.Context, words ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.limits.info)
	defer cancel()
	_, _, err := runAny(ctx, i.phone, words...)
	return err
}

// answerDialog is what people have to do when a phone asks.
const answerDialog = "look at the phone: Play Protect or its maker's own guard may ask whether to install it; some phones have " +
	"the developer options Install via USB and Verify apps over USB"

var errInstallation = errors.New("the installation did not end")

// finish runs the command that installs, which may wait for a person who answers a dialog.
func (i installer) finish(ctx context.Context, path string, words ...string) error {
	limited, cancel := context.WithTimeoutCause(ctx, i.limits.install, errInstallation)
	defer cancel()
	note := time.AfterFunc(i.limits.dialog, func() {
		i.log("warn", fmt.Sprintf("%s still installs %s", i.phone.Serial(), path), answerDialog)
	})
	defer note.Stop()
	out, _, err := runAny(limited, i.phone, words...)
	switch {
	case err == nil && strings.Contains(out, "Success"):
		return nil
	case err == nil:
		return i.failure(path, out)
	case errors.Is(context.Cause(limited), errInstallation):
		return fault.New(fault.Device, answerDialog, "installing %s on %s did not end within %s", path, i.phone.Serial(), i.limits.install)
	}
	return err
}

// failure returns the error for what `pm` wrote.
func (i installer) failure(path, out string) error {
	return fault.New(fault.Device, installHint(out), "installing %s on %s: %s", path, i.phone.Serial(), outputText(out))
}

// installHint says what can be done about what `pm install` reported.
func installHint(out string) string {
	for _, known := range []struct{ code, hint string }{
		{"INSUFFICIENT_STORAGE", "remove apps or files from the phone"},
		{"UPDATE_INCOMPATIBLE", "the installed app is signed with another key; uninstall it first"},
		{"VERSION_DOWNGRADE", "the installed app is newer; uninstall it first"},
		{"USER_RESTRICTED", answerDialog},
		{"CANCELED", answerDialog},
		{"ABORTED", answerDialog},
		{"VERIFICATION_FAILURE", "Play Protect or the phone's maker refused it; " + answerDialog},
		{"OLDER_SDK", "the app needs a later version of Android"},
		{"NO_MATCHING_ABIS", "the app was built for other processors than the phone's"},
		{"MISSING_SPLIT", "name a folder with all APKs of the app, or its .apks"},
	} {
		if strings.Contains(out, known.code) {
			return known.hint
		}
	}
	return ""
}
