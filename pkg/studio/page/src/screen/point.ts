// Which element of a look is at a point.
import type { Element, Look } from "../protocol";

const flattened = new WeakMap<Look, Element[]>();

/** All elements below the root of a look that have bounds, in the order of the tree. */
function elementsOf(look: Look): Element[] {
	let all = flattened.get(look);
	if (!all) {
		all = [];
		const stack = look.root ? [look.root] : [];
		for (let element = stack.pop(); element; element = stack.pop()) {
			if (element.bounds && element !== look.root) all.push(element);
			stack.push(...[...(element.children ?? [])].reverse());
		}
		flattened.set(look, all);
	}
	return all;
}

/** The smallest element at a point; of equal ones the innermost. The root, which is everything, does not count. */
export function elementAt(look: Look, x: number, y: number): Element | null {
	let best: Element | null = null;
	let bestSize = Number.POSITIVE_INFINITY;
	for (const element of elementsOf(look)) {
		const { bounds } = element;
		if (!bounds || x < bounds.left || y < bounds.top || x >= bounds.right || y >= bounds.bottom) continue;
		const size = (bounds.right - bounds.left) * (bounds.bottom - bounds.top);
		if (size <= bestSize) {
			best = element;
			bestSize = size;
		}
	}
	return best;
}

/** Role and name, such as: button "Save". */
export function inWords(element: Element): string {
	const name = element.name || element.content;
	return name ? `${element.role} "${name}"` : element.role;
}
