import { render } from "preact";
import { App } from "./app";
import { connect } from "./connection";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/app.css";

render(<App />, document.body);
connect();
