import "../../../report/page/tokens.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/app.css";

import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app";
import { connect } from "./connection";
import { keepLooking } from "./screen/looks";
import { doc, state, titleOf } from "./store";

render(<App />, document.body);
effect(() => {
	document.title = `${state.value?.unsaved ? "• " : ""}${titleOf(doc.value, state.value)} – trailblaze studio`;
});
connect();
keepLooking();
