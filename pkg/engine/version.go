package engine

import lib "modernc.org/libquickjs"

// Version returns the name and release of the JavaScript engine.
func Version() string { return "QuickJS " + lib.MCONFIG_VERSION }
