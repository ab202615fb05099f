import type { ActionName, ElementDescriptor } from '../protocol/look.js';

/** What people do with things of each kind, the usual first. Pages name a set by its place here. */
export const ACTION_SETS = [
  ['click'],
  ['select'],
  ['upload'],
  ['input', 'clear', 'press', 'click'],
  ['click', 'press'],
  ['input'],
  ['click', 'check', 'uncheck'],
  ['click', 'check'],
  ['click', 'drag'],
  ['dblclick'],
  ['rightclick'],
  ['hover'],
  ['press', 'click'],
  ['click', 'dblclick'],
  ['click', 'rightclick'],
  ['click', 'hover'],
  // Something is dropped on it.
  [],
  // A slider that a page draws.
  ['click', 'press', 'input'],
  // The thumb of one that says its number in a field.
  ['click', 'drag', 'input'],
] as const satisfies readonly (readonly ActionName[])[];

/** A descriptor's members beyond the first four, and the name where the locator does not tell it. */
export type MoreMembers = Partial<Omit<ElementDescriptor, 'role' | 'locator' | 'actions'>>;

/**
 * A descriptor on its way from the page, which is long enough with 1,500 of them: role and name are in the locator, and
 * actions are a place in {@link ACTION_SETS}.
 */
export type WireDescriptor = readonly [locator: string, actions: number, more?: MoreMembers];

/** The descriptor that a page has told. Members stand in the order of the type. */
export function fromWire([locator, actions, more]: WireDescriptor): ElementDescriptor {
  const end = locator.indexOf('}');
  const role = locator.slice(1, end).replace(/^\^/, '').replace(/:\d+$/, '');
  return { role, name: locator.slice(end + 1), locator, actions: [...(ACTION_SETS[actions] ?? [])], ...more };
}
