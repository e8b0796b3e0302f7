import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/app.css";

import { render } from "preact";
import { App } from "./app";
import { connect } from "./connection";
import { keepLooking } from "./screen/looks";

render(<App />, document.body);
connect();
keepLooking();
