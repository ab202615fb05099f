import { ActionName } from '../protocol/look.js';
import type { ActRequest, DragWay } from './acting/act-request.js';
import { isPlain, membersOf, misuse, shown, textOf, timeoutOf } from './call-arguments.js';

/** Actions with a value, and how it is written. Only `scroll` works without one. */
const VALUES: { readonly [action in ActionName]?: string } = {
  input: 'a text',
  press: 'a key, like "Enter" or "Control+A"',
  select: "an option's text, or an array of them",
  upload: "a file's name, or an array of them",
  drag: "the target's locator, {by: [dx, dy]}, {to: locator, x, y} or {path: [[x, y], ...]}",
  wheel: 'a distance, [dx, dy]',
  scroll: 'a direction, an end or a number of pixels',
};
/** Actions that go to a point of the element, if one is given. */
const POINTED: ReadonlySet<ActionName> = new Set(['click', 'dblclick', 'tripleclick', 'rightclick', 'hover']);
/** A longer path is refused: each of its points is several messages to the browser. */
const MAX_PATH = 1_000;
const NOTHING = { value: null, drag: null, wheel: null } as const;

type Value = Pick<ActRequest, 'value' | 'drag' | 'wheel'>;

/**
 * The arguments of `agent.act`. Options come last: third, where the action has no value.
 *
 * @throws SCRIPT_ERROR with how it is written
 */
export function actRequest(locator: unknown, action: unknown, value: unknown, options: unknown): ActRequest {
  const named = textOf(locator, 'agent.act takes a locator');
  const parsed = ActionName.safeParse(action);
  if (!parsed.success) {
    const given =
      action === null || action === undefined ? 'agent.act takes an action' : `Unknown action ${shown(action)}`;
    throw misuse(`${given}. Use one of: ${ActionName.options.join(', ')}`);
  }
  const { data } = parsed;
  const optional = VALUES[data] === undefined || data === 'scroll';
  const early = optional && isNone(options) && typeof value === 'object' && !Array.isArray(value);
  const [own, more] = early ? [null, value] : [value, options];
  return { locator: named, action: data, ...valueOfAct(data, own), ...optionsOf(data, more), given: [value, options] };
}

function valueOfAct(action: ActionName, value: unknown): Value {
  const wanted = VALUES[action];
  if (isNone(value) || (wanted === undefined && value === '')) {
    if (wanted !== undefined && action !== 'scroll') {
      throw misuse(`agent.act(locator, "${action}", value) takes ${wanted}`);
    }
    return NOTHING;
  }
  if (wanted === undefined) throw misuse(`${action} takes no value: ${shown(value)} was given`);
  const read = readValue(action, value);
  if (read === null) throw misuse(`The value of ${action} is ${wanted}, not ${shown(value)}`);
  return { ...NOTHING, ...read };
}

/** Null for what is no value of the action. */
function readValue(action: ActionName, value: unknown): Partial<Value> | null {
  switch (action) {
    case 'wheel': {
      const wheel = pairOf(value);
      return wheel === null ? null : { wheel };
    }
    case 'drag': {
      const drag = typeof value === 'string' ? (value === '' ? null : { to: value, at: null }) : dragOf(value);
      return drag === null ? null : { drag };
    }
    case 'select':
    case 'upload':
      if (Array.isArray(value) && value.every(isPlain)) return { value: value.map(String) };
      break;
    default:
  }
  const empty = value === '' && (action === 'press' || action === 'upload');
  return isPlain(value) && !empty ? { value: String(value) } : null;
}

function dragOf(value: unknown): DragWay | null {
  const { by, to, x, y, path } = membersOf(value, 'drag', ['by', 'to', 'x', 'y', 'path']);
  const kinds = [by, to, path].filter((one) => one !== undefined);
  if (kinds.length !== 1 || (to === undefined && (x !== undefined || y !== undefined))) return null;
  if (by !== undefined) {
    const way = pairOf(by);
    return way === null ? null : { by: way };
  }
  if (to !== undefined) {
    return { to: textOf(to, 'The "to" of drag is a locator'), at: pointOf(x, y) };
  }
  if (!Array.isArray(path) || path.length < 2 || path.length > MAX_PATH) return null;
  const points = path.map(pairOf);
  return points.every((point) => point !== null) ? { path: points } : null;
}

function optionsOf(action: ActionName, options: unknown): Pick<ActRequest, 'at' | 'timeoutMs'> {
  const { x, y, timeout } = membersOf(options, 'agent.act', ['x', 'y', 'timeout']);
  const at = pointOf(x, y);
  if (at !== null && !POINTED.has(action)) {
    throw misuse(`${action} goes to no point: x and y are options of ${[...POINTED].join(', ')}`);
  }
  return { at, timeoutMs: timeoutOf(timeout) };
}

/** Null where neither is given. */
function pointOf(x: unknown, y: unknown): { readonly x: number; readonly y: number } | null {
  if (x === undefined && y === undefined) return null;
  if (isDistance(x) && isDistance(y) && x >= 0 && y >= 0) return { x, y };
  throw misuse(`x and y are numbers of CSS pixels from the element's corner, not ${shown(x)} and ${shown(y)}`);
}

function pairOf(value: unknown): readonly [number, number] | null {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const [first, second]: unknown[] = value;
  return isDistance(first) && isDistance(second) ? [first, second] : null;
}

function isDistance(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= 1_000_000;
}

function isNone(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
