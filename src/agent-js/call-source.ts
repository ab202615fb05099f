/** Values beyond this are cut in a step's source text. */
const MAX_VALUE = 500;

/** A call as its author would write it: `agent.act("{button}Save", "click")`. */
export function callSource(method: string, args: readonly unknown[]): string {
  // A call on a second browser begins with its name and the method.
  if (method === 'in') {
    const [name, called, ...rest] = args;
    return `agent.session(${literal(name)}).${String(called)}(${listed(rest)})`;
  }
  return `agent.${method}(${listed(args)})`;
}

function listed(args: readonly unknown[]): string {
  const given = [...args];
  while (given.length > 0 && (given.at(-1) === null || given.at(-1) === undefined)) given.pop();
  return given.map(literal).join(', ');
}

function literal(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…"` : text;
}

/** A part of a file name for a call: `act-click-button-save`. */
export function callSlug(method: string, args: readonly unknown[]): string {
  const [first, second] = args;
  const words = method === 'act' ? [method, second, first] : [method, first];
  const slug = words
    .filter((word) => typeof word === 'string')
    .join(' ')
    .replace(/^(go) https?:\/\//, '$1 ')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'step' : slug;
}
