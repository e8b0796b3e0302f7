# Everything here works in a fresh clone, given Go, Node.js with npm, and git. Tools are built into bin/tools, at the versions
# named here or in the tool's own configuration.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
TOOLS := bin/tools
GOLANGCI_VERSION := $(shell sed -nE '1s/.* (v[0-9.]+) .*/\1/p' .golangci.yml)
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
GORELEASER_VERSION := v2.16.0
GORELEASER := $(TOOLS)/goreleaser-$(GORELEASER_VERSION)
GO_INSTALL := env -u GOFLAGS GOBIN="$(CURDIR)/$(TOOLS)" go install

SHOP := testdata/projects/shop
HOST := pkg/engine/host
PAGE := pkg/studio/page
APPIUM := testdata/phones/appium
# The SDKs of Anthropic and OpenAI, which read what is sent to models: a module of its own.
JUDGES := testdata/models/judges
NPM_STAMPS := $(addsuffix /node_modules/.stamp,testdata/agents testdata/pyright testdata/servers testdata/tsschema testdata/web/playwright $(SHOP) sdks/typescript $(HOST) $(PAGE))
# Programs that "./..." does not reach.
PROGRAMS := ./.ci/check-release ./.ci/docs ./.ci/npm-packages ./.ci/sbom ./testdata/bench/... ./testdata/fakeserver/... ./testdata/models/... ./testdata/phones/... ./testdata/ports ./testdata/seeded ./$(SHOP)/tools/ledger
# What is tested: "./..." leaves testdata out.
TESTED := ./... ./testdata/phones/... ./testdata/ports

# The race detector needs a C compiler; go turns cgo off where there is none. It does not watch what was translated from C, which
# uses memory of its own from one goroutine and would be ten times slower, nor the bundler.
RACE = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race $(patsubst %,-gcflags=%=-race=false,$(UNWATCHED)))
UNWATCHED := modernc.org/libquickjs modernc.org/libc github.com/evanw/esbuild/...

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' Makefile

# What is built for people. Functions of the bundler are not inlined: that makes the program 0.8 MB smaller and bundling, which
# is done once for each script, 5 % slower.
SMALL := -trimpath '-gcflags=github.com/evanw/esbuild/...=-l'

.PHONY: build
build: ## build bin/trailblaze
	CGO_ENABLED=0 go build $(SMALL) -ldflags '-X main.version=$(VERSION)' -o bin/trailblaze .

.PHONY: deps
deps: $(NPM_STAMPS) $(SHOP)/bin/ledger xmllint python3 pip chromium headless-shell adb ## install what the tests and the demo run: npm packages, a Go tool server, xmllint, Python, Chromium with its headless shell, adb

# 300 MB that only test-race needs. Scripts would download a browser's driver.
.PHONY: deps-appium
deps-appium: $(APPIUM)/node_modules/.stamp ## install Appium and mobilecli, which test-race points at the simulated phones
$(APPIUM)/node_modules/.stamp: NPM_FLAGS := --ignore-scripts

%/node_modules/.stamp: %/package.json %/package-lock.json
	@command -v npm >/dev/null || { echo 'npm is missing: install Node.js 20 or later' >&2; exit 1; }
	cd $* && npm ci --no-audit --no-fund $(NPM_FLAGS)
	@touch $@

$(SHOP)/bin/ledger: $(wildcard $(SHOP)/tools/ledger/*.go) go.mod go.sum
	go build -o $@ ./$(SHOP)/tools/ledger

HEADLESS_SHELLS := chromium-headless-shell chrome-headless-shell
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable microsoft-edge

# Without one of these only the tests that need it fail, so a machine that refuses to install it goes on.
.PHONY: xmllint python3 pip chromium headless-shell adb
xmllint: ; $(call installed,xmllint,libxml2-utils,libxml2-utils (Debian and Ubuntu) or libxml2 (Fedora and Homebrew))
python3: ; $(call installed,python3,python3,Python 3.9 or later)
pip: ; $(call installed,pip3 pip,python3-pip,pip for Python 3 (package python3-pip of Debian and Ubuntu))
chromium: ; $(if $(TRAILBLAZE_BROWSER)$(wildcard /Applications/Google?Chrome.app),,$(call installed,$(BROWSERS),chromium,Chromium (package chromium of Debian) or Google Chrome))
headless-shell: ; $(call installed,$(HEADLESS_SHELLS),chromium-headless-shell,the headless shell of Chromium (package chromium-headless-shell of Debian) or Chrome)
adb: ; $(call installed,adb,adb,adb (package adb of Debian and Ubuntu) or the platform-tools of Android)

# installed makes sure that one of some programs is there: $(1) are their names, $(2) is the Debian package, $(3) what to say.
installed = @for name in $(1); do command -v $$name >/dev/null && exit; done; \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(2); } || \
		echo '$(firstword $(1)) is missing: install $(3)' >&2

.PHONY: demo
demo: $(SHOP)/node_modules/.stamp $(SHOP)/bin/ledger python3 chromium build ## replay the example shop's trails, some on two devices, write reports to bin/demo
	.ci/demo bin/trailblaze bin/demo

.PHONY: demo-mobile
demo-mobile: adb chromium build ## replay one trail on a simulated Android phone, a simulated iPhone and a web page at once, write a report to bin/demo-mobile
	go build -o bin/simulate ./testdata/phones/simulate
	cd testdata/projects/corner-shop && "$(CURDIR)/bin/trailblaze" run trails/see-an-order.trail.yaml --all-devices --evidence always --html "$(CURDIR)/bin/demo-mobile"

.PHONY: demo-no-runtime
demo-no-runtime: $(SHOP)/node_modules/.stamp $(SHOP)/bin/ledger python3 chromium build ## the same trails where there is neither bun nor node
	.ci/no-runtime bin/trailblaze

# make lint and make test-race vet. Browsers are headless shells where one is installed, which take less time; the tests of
# pkg/web, which would use Chromium, use it in test-race. The tests of e2e come last, alone: beside others, pages of small
# machines are silent for seconds, and everything takes longer.
SHORT = TRAILBLAZE_BROWSER="$${TRAILBLAZE_BROWSER:-$$(for name in $(HEADLESS_SHELLS); do command -v $$name && break; done)}" \
	go test -short -vet=off -timeout 40m

.PHONY: test
test: deps ## run every test; some try less than in test-race: fewer random changes, pages, faults, runtimes and trails of the example
	@$(SHORT) -parallel 6 $(filter-out $(shell go list ./e2e),$(shell go list $(TESTED)))
	$(SHORT) -parallel 5 ./e2e
	cd $(JUDGES) && go test ./...

# Packages whose tests start browsers, one at a time: with the race detector, two need more memory and time than small machines have.
BROWSING := ./e2e ./pkg/agent ./pkg/live ./pkg/report ./pkg/studio ./pkg/studio/gesture ./pkg/web
# What tests no Go: the tests of the studio's page.
NO_GO := ./$(PAGE)

.PHONY: test-race
test-race: deps deps-appium ## run every test of Go, with the race detector
	@$(if $(RACE),,echo 'no C compiler: the race detector is off' >&2)
	@go test $(RACE) -parallel 4 -timeout 40m $(filter-out $(shell go list $(BROWSING) $(NO_GO)),$(shell go list $(TESTED)))
	go test $(RACE) -p 1 -parallel 4 -timeout 40m $(BROWSING)

# Not part of test: Wine and the compiler of its library need 600 MB.
.PHONY: test-windows
test-windows: wine mingw ## run tests as Windows programs in Wine, except those that testdata/windows/left-out names
	.ci/test-windows

.PHONY: test-arm
test-arm: qemu ## run tests as programs of linux/arm64 in qemu
	.ci/test-arm

.PHONY: wine mingw qemu
wine: ; $(call installed,wine,wine wine64,Wine (packages wine and wine64 of Debian))
mingw: ; $(call installed,x86_64-w64-mingw32-gcc,gcc-mingw-w64-x86-64,MinGW-w64 (package gcc-mingw-w64-x86-64 of Debian))
qemu: ; $(call installed,qemu-aarch64,qemu-user,qemu for programs of Linux (package qemu-user of Debian))

# Not part of test: it takes an hour, and needs packages that nothing else needs.
APPS := e2e/apps
REPEATS ?= 20
.PHONY: test-apps
test-apps: php dokuwiki $(APPS)/node_modules/.stamp chromium headless-shell build ## replay the trails of real apps, each REPEATS times (20) in a new app
	cd $(APPS) && go test -tags apps -count 1 -timeout 0 -repeats $(REPEATS)

.PHONY: php dokuwiki
php: ; $(call installed,php,php-cli,PHP (package php-cli of Debian and Ubuntu))
dokuwiki: ; $(call installed,/usr/share/dokuwiki/bin/dwpage.php,dokuwiki,DokuWiki (package dokuwiki of Debian and Ubuntu))

.PHONY: bench
bench: deps build ## measure start-up, calls, reports, browsers and phones; deps-appium adds the rows with Appium
	go run ./testdata/bench

.PHONY: lint
lint: lint-code lint-rules lint-page vet tidy-check fmt-check ## run every static check

.PHONY: lint-code
lint-code: $(GOLANGCI)
	$(GOLANGCI) run

.PHONY: lint-rules
lint-rules: $(GOLANGCI)
	.ci/lint-rules $(GOLANGCI)

.PHONY: lint-page
lint-page: $(PAGE)/node_modules/.stamp ## check types and style of the studio's page
	cd $(PAGE) && node_modules/.bin/tsc && node_modules/.bin/tsc -p test && node_modules/.bin/biome ci --colors=off --error-on-warnings

.PHONY: vet
vet: ## vet for linux, darwin and windows
	@for os in linux darwin windows; do \
		echo "GOOS=$$os go vet ./..."; \
		CGO_ENABLED=0 GOOS=$$os go vet ./... || exit 1; \
	done
	go vet $(PROGRAMS)
	go vet -tags apps ./$(APPS)

.PHONY: tidy-check
tidy-check:
	go mod tidy -diff

.PHONY: fmt-check
fmt-check:
	@files=$$(git ls-files -z '*.go' | xargs -0 gofmt -l); \
		[ -z "$$files" ] || { echo "run make fmt; not formatted:"; echo "$$files"; exit 1; }

.PHONY: fmt
fmt: $(GOLANGCI) ## format the code
	$(GOLANGCI) fmt
	@git ls-files -z '*.go' | xargs -0 gofmt -w

$(GOLANGCI):
	$(GO_INSTALL) github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(TOOLS)/golangci-lint $@

.PHONY: generate
generate: $(HOST)/node_modules/.stamp $(PAGE)/node_modules/.stamp ## write the command reference in docs/commands, the chunks of the embedded engine, the page of the studio, the scripts of web pages, and the package for TypeScript
	cd pkg/web && go run ./generate
	cd sdks/typescript && go run ./generate
	cd $(HOST) && go run ./generate
	cd $(PAGE) && go run ./generate
	rm -rf docs/commands
	go run ./.ci/docs -markdown docs/commands

.PHONY: docs-check
docs-check: ## fail when docs/commands is not what the commands say
	@rm -rf bin/docs
	go run ./.ci/docs -markdown bin/docs
	@diff -r docs/commands bin/docs || { echo 'run make generate' >&2; exit 1; }

.PHONY: screenshots
screenshots: testdata/web/playwright/node_modules/.stamp chromium build ## write the pictures of the studio in docs/images
	cd testdata/web/playwright && node screenshots.mjs "$(CURDIR)/bin/trailblaze" \
		"$$(command -v chromium || command -v chromium-browser || command -v google-chrome)" "$(CURDIR)/docs/images"

.PHONY: release-check
release-check: $(GORELEASER) ## check the release configuration and build all its targets
	$(GORELEASER) check
	go run ./.ci/check-release

# The container image is made only if IMAGE has its name, because it needs a Docker daemon.
.PHONY: dist
dist: $(GORELEASER) ## make the files of a release in dist, with the npm packages in dist/npm, publish nothing
	$(GORELEASER) release --snapshot --clean
	go run ./.ci/npm-packages

.PHONY: release
release: $(GORELEASER)
	$(GORELEASER) release --clean
	go run ./.ci/npm-packages

.PHONY: image
image: ## build the container image trailblaze from this checkout (needs Docker)
	@docker info >/dev/null 2>&1 || { echo 'no Docker daemon responds: install and start Docker' >&2; exit 1; }
	CGO_ENABLED=0 GOOS=linux go build $(SMALL) -ldflags '-X main.version=$(VERSION)' -o bin/image/linux/$$(go env GOARCH)/trailblaze .
	docker build --build-arg TARGETPLATFORM=linux/$$(go env GOARCH) --tag trailblaze --file Dockerfile bin/image

$(GORELEASER):
	$(GO_INSTALL) github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)
	@mv $(TOOLS)/goreleaser $@

.PHONY: clean
clean: ## remove what was built and installed
	rm -rf bin dist $(SHOP)/bin $(dir $(NPM_STAMPS)) $(APPIUM)/node_modules $(APPS)/node_modules
