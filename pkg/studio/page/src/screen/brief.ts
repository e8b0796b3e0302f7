/** A selector in a few words: role and name as people say them, other keys as in YAML. */
export function brief(selector: Record<string, unknown>): string {
	const { role, name, ...rest } = selector;
	const parts = [typeof role === "string" && role, name !== undefined && value(name)];
	for (const [key, one] of Object.entries(rest)) parts.push(`${key}: ${value(one)}`);
	if (name !== undefined && typeof role !== "string") parts[1] = `name: ${value(name)}`;
	return parts.filter(Boolean).join(parts[0] ? " " : ", ");
}

function value(one: unknown): string {
	return typeof one === "object" && one !== null ? `{${brief(one as Record<string, unknown>)}}` : JSON.stringify(one);
}
