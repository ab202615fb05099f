import type { ListPiece, WirePiece } from '../../page/page-calls.js';
import { fromWire } from '../../page/wire-descriptor.js';
import type { ElementChange, ElementDescriptor } from '../../protocol/look.js';

/** What is different between two looks; whatever it does not name is unchanged. */
export interface LookDiff {
  /** The later look is of another document: everything in it is added, and nothing of the earlier one is named. */
  readonly document?: 'new';
  /** Places in the later list. */
  readonly added: readonly number[];
  readonly removed: readonly string[];
  readonly changed: readonly ElementChange[];
}

/** Compares by locator: `before` without `removed`, `changed` applied, and `added` is exactly `after`. */
export function diffLooks(before: readonly ElementDescriptor[], after: readonly ElementDescriptor[]): LookDiff {
  if (before === after) return { added: [], removed: [], changed: [] };
  const gone = new Map(before.map((element) => [element.locator, element]));
  const added: number[] = [];
  const changed: ElementChange[] = [];
  after.forEach((element, index) => {
    const earlier = gone.get(element.locator);
    if (earlier === undefined) {
      added.push(index);
      return;
    }
    gone.delete(element.locator);
    if (earlier === element) return;
    const change = changeOf(earlier, element);
    if (change !== null) changed.push(change);
  });
  return { added, removed: [...gone.keys()], changed };
}

/** A look of another document than the one before, in the form of a diff. */
export function newDocument(after: readonly ElementDescriptor[]): LookDiff {
  return { document: 'new', added: after.map((_, index) => index), removed: [], changed: [] };
}

/** The list that pieces of an earlier one, and new elements, make up. Unchanged, it is the earlier one itself. */
export function assemble(
  before: readonly ElementDescriptor[],
  pieces: readonly WirePiece[],
): readonly ElementDescriptor[] {
  const [first] = pieces;
  if (first === undefined && before.length === 0) return before;
  if (pieces.length === 1 && first !== undefined && isRange(first) && first[0] === 0 && first[1] === before.length) {
    return before;
  }
  return pieces.flatMap((piece) => (isRange(piece) ? before.slice(piece[0], piece[0] + piece[1]) : fromWire(piece)));
}

/** A list as pieces of an earlier one: elements that are the same objects are not said again. */
export function dissect(before: readonly ElementDescriptor[], after: readonly ElementDescriptor[]): ListPiece[] {
  if (before === after) return before.length === 0 ? [] : [[0, before.length]];
  const places = new Map(before.map((element, index) => [element, index]));
  const pieces: ListPiece[] = [];
  let from = 0;
  let count = 0;
  for (const element of after) {
    const place = places.get(element);
    if (place !== undefined && place === from + count) {
      count++;
      continue;
    }
    if (count > 0) pieces.push([from, count]);
    if (place === undefined) pieces.push(element);
    from = place ?? from + count;
    count = place === undefined ? 0 : 1;
  }
  if (count > 0) pieces.push([from, count]);
  return pieces;
}

function isRange(piece: WirePiece): piece is readonly [number, number] {
  return typeof piece[0] === 'number';
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
