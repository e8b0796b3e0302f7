/** node:string_decoder. @module */
import base from "@frida/string_decoder";
import { ERR_UNKNOWN_ENCODING } from "internal/errors";

class StringDecoder extends base.StringDecoder {
  constructor(encoding = "utf8") {
    if (!Buffer.isEncoding(encoding)) throw new ERR_UNKNOWN_ENCODING(encoding);
    super(encoding);
  }
}

export default { StringDecoder };
