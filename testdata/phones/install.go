package phones

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// firstServerLevel is the first level of Android's API on which the UiAutomator2 server can be installed (minSdk of its
// app/build.gradle.kts).
const firstServerLevel = 26

// pmInstall installs one APK.
func pmInstall(c *call) int {
	m, status := c.readAPK()
	if status != 0 {
		return status
	}
	return c.install([]manifest{m}, c.has("-d"))
}

// pmInstallCreate begins an installation of several APKs.
func pmInstallCreate(c *call) int {
	p := c.phone
	p.mu.Lock()
	defer p.mu.Unlock()
	id := 1000 + len(p.installations)
	p.installations[id] = []manifest{}
	c.printf("Success: created install session [%d]\n", id)
	return 0
}

// pmInstallWrite adds an APK: install-write [-S BYTES] ID NAME [PATH|-].
func pmInstallWrite(c *call) int {
	m, status := c.readAPK()
	if status != 0 {
		return status
	}
	args := c.args[2:]
	if i := slices.Index(args, "-S"); i >= 0 {
		args = slices.Delete(slices.Clone(args), i, i+2)
	}
	id, _ := strconv.Atoi(args[0])
	p := c.phone
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, begun := p.installations[id]; !begun {
		c.errorf("Error: java.lang.SecurityException: Caller has no access to session %d\n", id)
		return 1
	}
	p.installations[id] = append(p.installations[id], m)
	c.printf("Success: streamed 1000 bytes\n")
	return 0
}

// pmInstallCommit installs what was added.
func pmInstallCommit(c *call) int {
	id, _ := strconv.Atoi(c.last())
	c.phone.mu.Lock()
	all := c.phone.installations[id]
	c.phone.installations[id] = nil
	c.phone.mu.Unlock()
	return c.install(all, false)
}

// readAPK reads the manifest of an APK from a file, or from stdin when -S says how long it is and no file is named. A
// status other than 0 ends the command.
func (c *call) readAPK() (manifest, int) {
	var data []byte
	var err error
	file, missing := c.phone.files.Stat(c.last())
	if size := c.after("-S"); size != "" && missing != nil {
		var n int64
		_, _ = fmt.Sscan(size, &n)
		data, err = io.ReadAll(io.LimitReader(c.stdin, n))
	} else {
		data, err = file.Data, missing
	}
	if err != nil {
		c.errorf("Error: Unable to open file: %s\n", c.last())
		return manifest{}, 1
	}
	m, err := readManifest(data)
	if err != nil {
		c.printf("Failure [%v]\n", err)
		return manifest{}, 1
	}
	return m, 0
}

// install installs the APKs of one app, and returns the exit status.
func (c *call) install(apks []manifest, downgrades bool) int {
	p := c.phone
	if p.options.Verifier == VerifierAsks && !p.awaitAnswer(c.ctx) {
		return 1
	}
	p.mu.Lock()
	m, problem := p.installable(apks, downgrades)
	_, replaces := p.packages[m.app]
	if problem == "" {
		p.packages[m.app] = m
		p.appOfOthers = p.appOfOthers && m.app != app.ShopID // an installation without --user is for all of them
	}
	p.mu.Unlock()
	if problem != "" {
		c.printf("Failure [%s]\n", problem)
		return 1
	}
	if replaces { // Android ends what it replaces
		p.stopApp(m.app)
	}
	c.printf("Success\n")
	return 0
}

// awaitAnswer waits until somebody answers the dialog about an installation, and reports whether somebody does.
func (p *Android) awaitAnswer(ctx context.Context) bool {
	var answered <-chan time.Time
	if p.options.AnswerAfter > 0 {
		answered = time.After(p.options.AnswerAfter)
	}
	select {
	case <-answered:
		return true
	case <-ctx.Done():
		return false
	}
}

// installable returns the base APK of an app that can be installed, or why it cannot be.
func (p *Android) installable(apks []manifest, downgrades bool) (base manifest, problem string) {
	bases := slices.DeleteFunc(slices.Clone(apks), func(m manifest) bool { return m.split != "" })
	switch {
	case len(bases) == 0:
		return base, "INSTALL_FAILED_INVALID_APK: Full install must include a base package"
	case len(bases) > 1:
		return base, "INSTALL_FAILED_INVALID_APK: Split null was defined multiple times"
	}
	base = bases[0]
	old, installed := p.packages[base.app]
	switch {
	case slices.ContainsFunc(apks, func(m manifest) bool { return m.app != base.app }):
		return base, "INSTALL_FAILED_INVALID_APK: package name inconsistent"
	case base.needsSplits && len(apks) == 1:
		return base, "INSTALL_FAILED_MISSING_SPLIT: Missing split for " + base.app
	case base.app == serverApp && p.options.Level < firstServerLevel:
		return base, fmt.Sprintf("INSTALL_FAILED_OLDER_SDK: Requires newer sdk version #%d (current version is #%d)",
			firstServerLevel, p.options.Level)
	case p.options.Verifier == VerifierRefuses:
		return base, "INSTALL_FAILED_VERIFICATION_FAILURE"
	case installed && base.code < old.code && !downgrades:
		return base, fmt.Sprintf("INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code %d is older than "+
			"current %d", base.code, old.code)
	}
	return base, ""
}
