import type { DiffLook, ElementChange, ElementDescriptor, FullLook } from '../../protocol/look.js';
import { foldRuns, type Line, roleOf } from './fold-runs.js';

/** A look as a script has it, or as it serialises: there the elements of a diff are not, and `unchanged` is a number. */
export type RenderableLook =
  | FullLook
  | (Omit<DiffLook, 'unchanged' | 'elements'> & { readonly unchanged: number | readonly string[] });

export interface RenderOptions {
  /** Where the reader knows the page to be: a diff says it again only where it differs. */
  readonly known?: { readonly url: string; readonly title: string } | undefined;
  /** Lines after folding; further elements are counted, with the call that shows them. 400 where absent. */
  readonly maxLines?: number;
  /** A longer run of one kind of control is shown by its first half of this. 100 where absent. */
  readonly maxRun?: number;
}

const MAX_LINES = 400;
const MAX_RUN = 100;
const MAX_VALUE = 100;
const MAX_OPTIONS = 12;
const MAX_URL = 300;

/** Roles that one types into, so that nothing needs to say so. */
const TYPED = new Set(['input', 'textarea', 'textbox', 'searchbox', 'spinbutton', 'combobox']);

/** Ways to operate an element that its kind does not tell. */
const TOLD = ['drag', 'dblclick', 'rightclick', 'hover'] as const;

/** What changes of an element that only stands elsewhere. */
const MOVED = new Set(['locator', 'offscreen', 'after']);
/** More than these are a list that was sorted. */
const MAX_MOVED = 10;

/** Whether a value, of whatever origin, is a look. */
export function isLook(value: unknown): value is RenderableLook {
  if (typeof value !== 'object' || value === null || !('url' in value) || !('title' in value)) return false;
  if ('diff' in value) return 'added' in value && isElements(value.added) && 'removed' in value && 'changed' in value;
  return 'elements' in value && isElements(value.elements);
}

/** Whether a value is a list of elements as a look has them: what `agent.look().elements.slice(100)` answers. */
export function isElements(value: unknown): value is readonly ElementDescriptor[] {
  if (!Array.isArray(value)) return false;
  return value.every((one) => typeof one === 'object' && one !== null && 'locator' in one && 'actions' in one);
}

/**
 * The compact form of a look, for models: a line with title and address, then a line for each element: its locator, and
 * other members only where they say something.
 *
 *     Sign up · https://shop.test/signup
 *     {input}First name = Ada
 *     {input}Newsletter [x]
 *     {select}Country = Belgium (Austria | Belgium)
 *     {button}Not now disabled
 *     offscreen:
 *     {a}Imprint
 *
 * Lines that differ only by numbers that count together stand as one: `{button:1..500}Edit`. A long run of a kind has its
 * roles before it, `40 of {a}, by name:` or `40 rows of {input} | {a}, by name:`, and then names alone. A diff has `+` before what
 * was added, `-` before what went, `~` before what changed and the new members, or where it stands now, except for what was only scrolled out of
 * view or into it; an unchanged page is `= 31 unchanged`. A look of another document reads like a first one.
 * What is cut says so, with the call that shows it.
 */
export function renderLook(look: RenderableLook, options: RenderOptions = {}): string {
  if (!('diff' in look)) return [place(look), ...renderFull(look, options)].join('\n');
  const { document, added } = look;
  const lines =
    document === 'new'
      ? [place(look), ...renderFull({ ...look, elements: added }, options)]
      : renderDiff(look, options);
  return lines.join('\n');
}

/** Elements alone, as {@link renderLook} has them. */
export function renderElements(elements: readonly ElementDescriptor[], options: RenderOptions = {}): string {
  return listed(elements, '', options, 'ask for a smaller slice').join('\n');
}

function renderFull(look: Pick<FullLook, 'dialog' | 'elements' | 'unsettled'>, options: RenderOptions): string[] {
  const { dialog, elements, unsettled } = look;
  if (elements.length === 0) return ['nothing to operate', ...unsettledLine(unsettled)];
  return [...dialogLine(dialog), ...unsettledLine(unsettled), ...listed(elements, '', options, undefined)];
}

function renderDiff(look: Exclude<RenderableLook, FullLook>, options: RenderOptions): string[] {
  const { url, title, dialog, added, removed, unchanged } = look;
  // That something must be scrolled to is nothing to act on: an action scrolls by itself.
  const changed = look.changed.filter((change) =>
    Object.keys(change).some((key) => !/^(locator|offscreen)$/.test(key)),
  );
  const moved = changed.filter((change) => Object.keys(change).every((key) => MOVED.has(key)));
  const told = moved.length > MAX_MOVED ? changed.filter((change) => !moved.includes(change)) : changed;
  const same = typeof unchanged === 'number' ? unchanged : unchanged.length;
  const count = same + look.changed.length - changed.length;
  const quiet = added.length + removed.length + changed.length === 0 && dialog === undefined;
  const { known } = options;
  // Who keeps no account of the place hears of it with each change.
  const there = known === undefined ? quiet : known.url === url && known.title === title;
  const limit = options.maxLines ?? MAX_LINES;
  return [
    ...(there ? [] : [place(look)]),
    ...dialogLine(dialog),
    ...unsettledLine(look.unsettled),
    ...capped(
      removed.map((locator) => `- ${locator}`),
      limit,
      'removed',
    ),
    ...capped(
      told.map((change) => `~ ${change.locator}${changedMembers(change)}`),
      limit,
      'changed',
    ),
    ...(told === changed ? [] : [`~ ${moved.length} stand in another order: agent.look({full: true})`]),
    ...listed(added, '+ ', options, 'agent.look({full: true})'),
    `= ${count} unchanged`,
  ];
}

function place({ url, title }: { readonly url: string; readonly title: string }): string {
  const short = url.length > MAX_URL ? `${url.slice(0, MAX_URL)}…` : url;
  return title === '' ? short : `${title} · ${short}`;
}

function dialogLine(dialog: FullLook['dialog']): string[] {
  return dialog === undefined ? [] : [`${dialog.kind}: ${cut(dialog.message, 500)}`];
}

function unsettledLine(unsettled: string | undefined): string[] {
  return unsettled === undefined ? [] : [`still changing after 1 s: ${unsettled}`];
}

/** Lines that differ by numbers become one, long runs of a kind and what is beyond the limit a count. */
function listed(
  elements: readonly ElementDescriptor[],
  sign: string,
  options: RenderOptions,
  how: string | undefined,
): string[] {
  const lines: Line[] = [];
  let offscreen = false;
  elements.forEach((element, index) => {
    const away = element.offscreen === true;
    if (sign === '' && away !== offscreen) {
      lines.push({ text: away ? 'offscreen:' : 'onscreen:', kind: '', index, named: null });
      offscreen = away;
    }
    const shown = members(element, sign !== '');
    const kind = `${element.role} ${element.actions.join()}`;
    const bare = bareName(element);
    lines.push({
      text: sign + element.locator + shown,
      kind,
      index,
      named: bare === null ? null : sign + bare + shown,
    });
  });
  const slice = (from: number, to?: number): string =>
    how ?? `agent.look().elements.slice(${to === undefined ? from : `${from}, ${to}`})`;
  const folded = foldRuns(lines, options.maxRun ?? MAX_RUN, (count, kinds, from, to) => {
    return `… ${count} more of ${kinds.map((kind) => `{${roleOf(kind)}}`).join(', ')}: ${slice(from, to)}`;
  });
  const limit = options.maxLines ?? MAX_LINES;
  const next = folded[limit];
  if (next === undefined) return folded.map((line) => line.text);
  const rest = elements.length - next.index;
  return [...folded.slice(0, limit).map((line) => line.text), `… ${rest} more: ${slice(next.index)}`];
}

function capped(lines: readonly string[], limit: number, what: string): string[] {
  const folded = foldRuns(
    lines.map((text, index) => ({ text, kind: '', index, named: null })),
    Number.POSITIVE_INFINITY,
    () => '',
  ).map((line) => line.text);
  if (folded.length <= limit) return folded;
  return [...folded.slice(0, limit), `… ${folded.length - limit} more ${what}: agent.look({full: true})`];
}

/** What could be taken for another line than a name's. */
const NO_NAME = /^(?:[{…=+~-]|\d+ (?:of|rows|times)\b|(?:on|off)screen:)/;

/** A locator without its role; null where it is more than a name, or could not be told from something else. */
function bareName({ role, locator }: ElementDescriptor): string | null {
  const prefix = `{${role}}`;
  if (!locator.startsWith(prefix)) return null;
  const name = locator.slice(prefix.length);
  return name === '' || NO_NAME.test(name) ? null : name;
}

/** What a descriptor says beside its locator. */
function members(element: ElementDescriptor, withOffscreen: boolean): string {
  const { name, value, checked, disabled, options, href, offscreen } = element;
  let text = ways(element);
  if (checked !== undefined) text += checkMark(checked);
  if (value !== undefined && value !== '' && !(checked !== undefined && value === 'on')) text += ` = ${cut(value)}`;
  if (options !== undefined) text += ` (${choices(options)})`;
  // Of a link without a name its address is all there is to know.
  if (name === '' && href !== undefined) text += ` -> ${cut(href)}`;
  if (disabled === true) text += ' disabled';
  if (withOffscreen && offscreen === true) text += ' offscreen';
  return text;
}

/** How an element is operated, where its kind does not tell. */
function ways({ role, actions, checked }: ElementDescriptor): string {
  let text = '';
  if (actions.includes('upload')) text += ' upload';
  else if (actions.includes('input') && !TYPED.has(role)) text += ' input';
  else if (role === 'input' && checked === undefined && !actions.includes('input')) text += ' click';
  for (const action of TOLD) if (actions.includes(action)) text += ` ${action}`;
  if (actions[0] === 'press') text += ' press';
  if (actions.length === 0) text += ' drop';
  return text;
}

function changedMembers(change: ElementChange): string {
  let text = '';
  for (const [member, value] of Object.entries(change)) {
    switch (member) {
      case 'locator':
      case 'name':
      case 'role':
        break;
      case 'checked':
        text += value === null ? ' unchecked' : checkMark(value);
        break;
      case 'value':
        text += ` = ${value === null ? '""' : cut(String(value))}`;
        break;
      case 'options':
        text += Array.isArray(value) ? ` (${choices(value.map(String))})` : ' no options';
        break;
      case 'disabled':
        text += value === null ? ' enabled' : ' disabled';
        break;
      case 'offscreen':
        break;
      case 'after':
        text += value === null ? ' now first' : ` now after ${cut(String(value))}`;
        break;
      case 'href':
        text += value === null ? ' no address' : ` -> ${cut(String(value))}`;
        break;
      case 'actions':
        text += ` takes ${Array.isArray(value) ? value.join(', ') : ''}`;
        break;
      default:
        text += ` ${member}: ${cut(JSON.stringify(value))}`;
    }
  }
  return text;
}

function checkMark(checked: unknown): string {
  if (checked === 'mixed') return ' [-]';
  return checked === true ? ' [x]' : ' [ ]';
}

function choices(options: readonly string[]): string {
  const shown = options.slice(0, MAX_OPTIONS).map((option) => cut(option));
  if (options.length > MAX_OPTIONS) shown.push(`… ${options.length - MAX_OPTIONS} more`);
  return shown.join(' | ');
}

/** On one line, and no longer than says something. */
function cut(text: string, longest: number = MAX_VALUE): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest)}… (${text.length} characters)` : line;
}
