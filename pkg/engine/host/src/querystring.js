/** node:querystring. @module */
import querystring from "unenv/node/querystring";

export default querystring;
