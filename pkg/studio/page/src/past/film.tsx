import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Moment } from "../protocol";
import { fileURL } from "./read";

interface Props {
	session: string;
	moments: Moment[];
	at: number;
	onChoose: (index: number) => void;
}

/** The width of a frame with its gap, in pixels, and how many are rendered beside those in view. */
const frameWidth = 104;
const margin = 6;

/** All screens: a slider that arrow keys move, and below it a film strip. Only the frames in view are rendered. */
export function Film({ session, moments, at, onChoose }: Props) {
	const strip = useRef<HTMLDivElement>(null);
	const [view, setView] = useState({ left: 0, width: 1280 });
	const measure = () => {
		const { scrollLeft: left, clientWidth: width } = strip.current ?? { scrollLeft: 0, clientWidth: 0 };
		setView((old) => (old.left === left && old.width === width ? old : { left, width }));
	};
	useLayoutEffect(() => {
		const element = strip.current;
		if (!element) return;
		const from = at * frameWidth;
		const hidden = from < element.scrollLeft || from + frameWidth > element.scrollLeft + element.clientWidth;
		if (hidden) element.scrollLeft = from - (element.clientWidth - frameWidth) / 2;
		measure();
	}, [at]);
	const first = Math.max(0, Math.floor(view.left / frameWidth) - margin);
	const frames = moments.slice(first, Math.ceil((view.left + view.width) / frameWidth) + margin);
	const now = moments[at];
	return (
		<section class="film" aria-label="Film">
			<div class="film-slider">
				<input
					type="range"
					aria-label="Moment"
					min={0}
					max={moments.length - 1}
					value={at}
					aria-valuetext={now && `${now.call} ${now.brief}, ${now.outcome || "did not end"}`}
					onInput={(event) => onChoose(Number(event.currentTarget.value))}
				/>
				<span class="dim">
					{at + 1} of {moments.length}
				</span>
			</div>
			<div class="film-strip" ref={strip} onScroll={measure} aria-hidden="true">
				<div class="film-frames" style={{ width: `${moments.length * frameWidth}px` }}>
					{frames.map((moment, i) => {
						const index = first + i;
						return (
							<div
								key={index}
								class={`film-frame is-${moment.outcome || "unfinished"} ${index === at ? "is-now" : ""}`}
								style={{ left: `${index * frameWidth}px` }}
								title={`${moment.call} ${moment.brief}`}
								onClick={() => onChoose(index)}
							>
								<Frame session={session} moment={moment} />
								<span class="film-name">{moment.brief}</span>
							</div>
						);
					})}
				</div>
			</div>
		</section>
	);
}

function Frame({ session, moment }: { session: string; moment: Moment }) {
	if (moment.after && moment.after !== moment.before)
		return <img src={fileURL(session, moment.after)} alt="" loading="lazy" decoding="async" draggable={false} />;
	return <span class="gap dim">{moment.after ? "no change" : moment.noPicture}</span>;
}
