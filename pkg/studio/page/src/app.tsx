import { Banners } from "./banners";
import { Elements } from "./elements/elements";
import { Logs } from "./logs/logs";
import { Past } from "./past/past";
import { Asks } from "./screen/asks";
import { Screen } from "./screen/screen";
import { Details } from "./steps/details";
import { Steps } from "./steps/steps";
import { panel, past } from "./store";
import { Toolbar } from "./toolbar/toolbar";
import { Tools } from "./tools/tools";
import { refused } from "./trail/editor";
import { Trail } from "./trail/trail";
import { remembered } from "./ui/remembered";
import { Splitter } from "./ui/splitter";
import { Tabs } from "./ui/tabs";
import { Variables } from "./variables/variables";

const panels = [
	{
		name: "Trail",
		get note() {
			return refused.value ? "not applied" : undefined;
		},
		tone: "failed",
		content: () => <Trail />,
	},
	{ name: "Elements", content: () => <Elements /> },
	{ name: "Tools", content: () => <Tools /> },
	{ name: "Variables", content: () => <Variables /> },
] as const;

/** How much of the page each side has, in percent. */
const stepsShare = remembered("steps", 22);
const panelsShare = remembered("panels", 27);

/** The whole page. */
export function App() {
	return (
		<div class="app">
			<Toolbar />
			<Banners />
			{past.value === null ? <Work /> : <Past session={past.value} />}
			<Asks />
		</div>
	);
}

function Work() {
	return (
		<main class="work" style={{ "--steps": `${stepsShare.value}%`, "--panels": `${panelsShare.value}%` }}>
			<div class="side steps-side" hidden={stepsShare.value === 0}>
				<Steps />
				<Details />
			</div>
			<Splitter name="Width of the steps" share={stepsShare} side="left" hides />
			<Screen />
			<Splitter name="Width of the panels" share={panelsShare} side="right" hides />
			<div class="side panels-side" hidden={panelsShare.value === 0}>
				<Tabs name="Panels" tabs={[...panels]} chosen={panel.value} onChoose={(name) => (panel.value = name)} />
			</div>
			<Logs />
		</main>
	);
}
