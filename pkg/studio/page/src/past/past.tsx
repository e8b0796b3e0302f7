import { Session } from "./session";
import { Sessions } from "./sessions";
import "./past.css";

/** Looks back at a finished session; without one, lists the sessions. It fills the page below the header. */
export function Past({ session }: { session: string }) {
	return session === "" ? <Sessions /> : <Session key={session} name={session} />;
}
