export async function orders_report(args, ctx, client) { return "written"; }
