package trailmap_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// TestFunctions has tools of scripts in each form: in a script alone, with a descriptor that wins over it, several of one
// file, one that needs a process, and one of a flat target.
func TestFunctions(t *testing.T) {
	t.Parallel()
	project := load(t, `-- `+anchor+` --
-- `+maps+`lib/trailmap.yaml --
id: lib
dependencies: [trailblaze]
-- `+maps+`lib/tools/lib_help.ts --
export const lib_help = trailblaze.tool({ description: "Helps.", requiresHost: true }, run);
-- `+maps+`shop/trailmap.yaml --
id: shop
dependencies: [lib]
target:
  display_name: Shop
  tools: [shop_pay]
  platforms:
    web: {tools: [shop_buy]}
    ios: {}
-- `+maps+`shop/tools/shop_pay.ts --
export interface Pay { sum: number }
/** Pays. */
export const shop_pay = trailblaze.tool<Pay>({ surfaceToLlm: false }, run);
-- `+maps+`shop/tools/shop_buy.ts --
import type { Buy } from "./types/buy";
/** Buys. */
export const shop_buy = trailblaze.tool<Buy>({ supportedPlatforms: ["web"], isRecordable: true }, run);
-- `+maps+`shop/tools/types/buy.ts --
export interface Buy { what?: string }
-- `+maps+`shop/tools/shop_buy.yaml --
script: shop_buy.ts
name: shop_buy
description: Buys it.
isRecordable: false
-- `+maps+`shop/tools/many.yaml --
script: many.js
runtime: subprocess
requiresHost: true
tools:
  - {name: shop_a, description: A., inputSchema: {file: {type: string, required: false}, n: {type: number, enum: [1, 2]}}}
  - {name: shop_b, description: B., requiresHost: false, _meta: {trailblaze/timeoutMs: 5}}
-- `+maps+`shop/tools/many.js --
export async function shop_a() {}
export async function shop_b() {}
-- trails/config/targets/flat.yaml --
display_name: Flat
tools:
  - {script: flat.js, name: flat_it, description: F., inputSchema: {type: object, properties: {a: {type: string}}}}
  - {script: ../scripts/typed.ts, name: flat_typed, isRecordable: false}
platforms: {web: {tool_sets: [web_core]}}
-- trails/config/targets/flat.js --
export async function flat_it() {}
-- trails/config/scripts/typed.ts --
export interface Typed { a?: string }
/** Typed. */
export const flat_typed = trailblaze.tool<Typed>({ supportedPlatforms: ["web"] }, run);
`)
	got := ""
	for _, id := range []string{"shop", "flat"} {
		target, _ := project.FindTarget(id)
		for _, s := range target.Servers {
			got += fmt.Sprintf("%s: %s process=%v\n", id, s.Name, s.NotEmbedded)
			for _, f := range s.Functions {
				got += describe(f)
			}
		}
	}
	const want = `shop: shop-many process=true
  shop_a many.js "A." {"properties":{"file":{"type":"string"},"n":{"enum":[1,2],"type":"number"}},"required":["n"],"type":"object"} map[trailblaze/requiresHost:true]
  shop_b many.js "B."  map[trailblaze/requiresHost:false trailblaze/timeoutMs:5]
shop: shop process=false
  shop_buy shop_buy.ts "Buys it." {"additionalProperties":false,"properties":{"what":{"type":"string"}},"type":"object"} map[trailblaze/isRecordable:false trailblaze/supportedPlatforms:[web]]
  shop_pay shop_pay.ts "Pays." {"additionalProperties":false,"properties":{"sum":{"type":"number"}},"required":["sum"],"type":"object"} map[trailblaze/surfaceToLlm:false]
shop: lib process=false
  lib_help lib_help.ts "Helps." {"properties":{},"type":"object"} map[trailblaze/requiresHost:true]
flat: flat process=false
  flat_it flat.js "F." {"properties":{"a":{"type":"string"}},"type":"object"} map[]
  flat_typed typed.ts "Typed." {"additionalProperties":false,"properties":{"a":{"type":"string"}},"type":"object"} map[trailblaze/isRecordable:false trailblaze/supportedPlatforms:[web]]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	shop, _ := project.FindTarget("shop")
	if web := shop.Platforms[scope.Web].Tools; !slices.Equal(web, []string{"shop_buy", "shop_pay"}) {
		t.Errorf("listed for web: %q", web)
	}
}

func describe(f config.FunctionTool) string {
	return fmt.Sprintf("  %s %s %q %s %v\n", f.Name, filepath.Base(f.File), f.Description, strings.TrimSpace(string(f.Schema)), f.Meta)
}
