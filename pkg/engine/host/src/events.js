/** node:events. @module */
import events from "events/";

export default events;
