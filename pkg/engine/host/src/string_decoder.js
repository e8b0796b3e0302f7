/** node:string_decoder. @module */
import decoder from "string_decoder/";

export default decoder;
