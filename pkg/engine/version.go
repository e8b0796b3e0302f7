package engine

import lib "modernc.org/libquickjs"

// Version names the engine and its release.
func Version() string { return "QuickJS " + lib.MCONFIG_VERSION }
