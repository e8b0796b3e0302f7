import { useSignal } from "@preact/signals";
import type { Moment } from "../protocol";
import { Button } from "../ui/button";
import { fileURL } from "./read";

const views = ["Both", "Before", "After"] as const;

interface Props {
	session: string;
	moment: Moment;
}

/** What the screen showed before and after a call: beside each other, or in the same place, to see what changed. */
export function Screens({ session, moment }: Props) {
	const view = useSignal<(typeof views)[number]>("Both");
	const same = moment.before !== "" && moment.before === moment.after;
	const unknown = moment.noPicture || "no picture was taken";
	return (
		<section class="screens" aria-label="Screens">
			<header>
				<p class="url dim" dir="auto" title={moment.url}>
					{moment.url}
				</p>
				<fieldset class="views">
					<legend class="hidden-text">Show</legend>
					{views.map((name) => (
						<Button key={name} pressed={view.value === name} onClick={() => (view.value = name)}>
							{name}
						</Button>
					))}
				</fieldset>
			</header>
			<div class={moment.width > moment.height ? "pair is-wide" : "pair"}>
				{view.value !== "After" && (
					<Picture name="Before" file={moment.before} session={session} missing="nothing is known of the screen before">
						<Touched moment={moment} />
					</Picture>
				)}
				{view.value !== "Before" && (
					<Picture
						name="After"
						file={moment.after}
						session={session}
						missing={unknown}
						note={same ? "no change" : ""}
					/>
				)}
			</div>
		</section>
	);
}

interface PictureProps {
	name: string;
	file: string;
	session: string;
	missing: string;
	note?: string;
	children?: preact.ComponentChildren;
}

function Picture({ name, file, session, missing, note, children }: PictureProps) {
	return (
		<figure class="shot">
			<figcaption>
				{name}
				{note && <span class="dim"> {note}</span>}
			</figcaption>
			<div class="frame">
				{file ? (
					<div class="picture">
						<img src={fileURL(session, file)} alt={name} decoding="async" draggable={false} />
						{children}
					</div>
				) : (
					<p class="gap dim">{missing}</p>
				)}
			</div>
		</figure>
	);
}

/** Where the call pressed the screen. */
function Touched({ moment: { touched, width, height } }: { moment: Moment }) {
	if (!touched || width <= 0 || height <= 0) return null;
	const style = { left: `${(100 * touched.x) / width}%`, top: `${(100 * touched.y) / height}%` };
	return <span class="touched" role="img" aria-label={`pressed at ${touched.x}, ${touched.y}`} style={style} />;
}
