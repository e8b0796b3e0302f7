#!/bin/sh
# Starts WebDriverAgent on an iPhone and forwards port 8100 of this machine to it, until it is ended:
#   sh start-wda.sh UDID
# It needs a build in wda-build (docs/iphone.md) and iproxy (brew install libimobiledevice).
set -u
udid=$1
project=${WDA_PROJECT:-node_modules/appium-webdriveragent/WebDriverAgent.xcodeproj}
iproxy "${WDA_PORT:-8100}:8100" -u "$udid" &
forwarding=$!
xcodebuild test-without-building -project "$project" -scheme WebDriverAgentRunner -destination "id=$udid" \
	-derivedDataPath wda-build &
agent=$!
trap 'kill "$agent" "$forwarding" 2>/dev/null; exit 143' INT TERM
wait "$agent"
code=$?
kill "$forwarding" 2>/dev/null
echo "WebDriverAgent has ended: xcodebuild exited with $code" >&2
exit 1
