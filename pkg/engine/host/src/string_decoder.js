/** node:string_decoder. @module */
import decoder from "@frida/string_decoder";

export default decoder;
