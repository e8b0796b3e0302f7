.PHONY: deps

JS_TEST_DEPS := testdata/servers/node_modules/.stamp

deps: $(JS_TEST_DEPS) ## install the npm packages that the tests run

testdata/servers/node_modules/.stamp: testdata/servers/package.json testdata/servers/package-lock.json
	cd testdata/servers && npm ci --no-audit --no-fund
	@touch $@
