import type { ElementChange, ElementDescriptor } from '../../protocol/look.js';

/** What is different between two looks. The lists of numbers are places in the later one. */
export interface LookDiff {
  readonly added: readonly number[];
  readonly removed: readonly string[];
  readonly changed: readonly ElementChange[];
  readonly unchanged: readonly number[];
}

/** Compares by locator: `before` without `removed`, `changed` applied, and `added` is exactly `after`. */
export function diffLooks(before: readonly ElementDescriptor[], after: readonly ElementDescriptor[]): LookDiff {
  const gone = new Map(before.map((element) => [element.locator, element]));
  const added: number[] = [];
  const changed: ElementChange[] = [];
  const unchanged: number[] = [];
  after.forEach((element, index) => {
    const earlier = gone.get(element.locator);
    if (earlier === undefined) {
      added.push(index);
      return;
    }
    gone.delete(element.locator);
    const change = changeOf(earlier, element);
    if (change === null) unchanged.push(index);
    else changed.push(change);
  });
  return { added, removed: [...gone.keys()], changed, unchanged };
}

/** The members that are new, null for one that went; null when nothing changed. */
function changeOf(before: ElementDescriptor, after: ElementDescriptor): ElementChange | null {
  const change: Record<string, unknown> = {};
  const earlier = new Map<string, unknown>(Object.entries(before));
  for (const [member, value] of Object.entries(after)) {
    if (!same(earlier.get(member), value)) change[member] = value;
    earlier.delete(member);
  }
  for (const member of earlier.keys()) change[member] = null;
  return Object.keys(change).length === 0 ? null : { locator: after.locator, ...change };
}

function same(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right)) return left === right;
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
