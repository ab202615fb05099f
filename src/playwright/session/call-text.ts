import type { Chain, Wire } from '../wire.js';

/** Values beyond this are cut in a step's source text. */
const MAX_VALUE = 300;

/** A call as its author would write it: `page.getByRole("button").click()`. */
export function callText(chain: Chain, method: string, args: readonly Wire[]): string {
  return `${chainText(chain)}.${method}(${args.map(valueText).join(', ')})`;
}

export function chainText({ root, links }: Chain): string {
  const from = root.includes('#') ? root.split('#')[0]?.toLowerCase() : root;
  const text = links.map(([name, args]) =>
    args === null ? `.${name}` : `.${name}(${args.map(valueText).join(', ')})`,
  );
  return `${from}${text.join('')}`;
}

export function valueText(value: Wire): string {
  const text = whole(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

function whole(value: Wire): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  switch (value[0]) {
    case 'u':
      return 'undefined';
    case 'n':
    case 'b':
    case 'f':
      return value[1];
    case 'd':
      return `new Date(${JSON.stringify(value[1])})`;
    case 'r':
      return `/${value[1]}/${value[2]}`;
    case 'a':
      return `[${value[1].map(whole).join(', ')}]`;
    case 'o':
      return `{${value[1].map(([name, member]) => `${name}: ${whole(member)}`).join(', ')}}`;
    case 'c':
      return chainText({ root: value[1], links: value[2] });
    case 'x':
      return `expect.${value[3] ? 'not.' : ''}${value[1]}(${value[2].map(whole).join(', ')})`;
    default:
      return '';
  }
}
