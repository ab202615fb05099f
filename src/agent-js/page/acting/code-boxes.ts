import { inputKind } from '../names/roles.js';
import { isHtml, parentOf, walk } from '../tree/flat-tree.js';
import { isSeen } from '../tree/visibility.js';

/** How far around a box the others stand: each may have a wrapper or two of its own. */
const MAX_AROUND = 3;

/**
 * The boxes of a code, from one of them on: fields beside each other that hold one character at most. A page hands on to
 * the next ones what is typed into one. A field that stands alone, or holds more, is no box.
 */
export function boxesFrom(first: HTMLInputElement): readonly HTMLInputElement[] {
  let around = parentOf(first);
  for (let up = 0; around !== null && up < MAX_AROUND; up += 1, around = parentOf(around)) {
    const fields: HTMLInputElement[] = [];
    walk(around, null, (element) => {
      if (isHtml(element, 'input') && inputKind(element) === 'typed' && isSeen(element)) fields.push(element);
      return null;
    });
    if (fields.length < 2) continue;
    const after = fields.slice(fields.indexOf(first));
    const end = after.findIndex(({ value }) => [...value].length > 1);
    return end < 0 ? after : after.slice(0, end);
  }
  return [];
}

/** What the boxes of a code hold together, from one of them to the first empty one. */
export function codeFrom(first: HTMLInputElement): string {
  const values = boxesFrom(first).map(({ value }) => value);
  const end = values.indexOf('');
  return values.slice(0, end < 0 ? values.length : end).join('');
}

/** Whether the boxes from one of them on have room for a text, and each takes one character alone. */
export function hasRoomFor(text: string, first: HTMLInputElement): boolean {
  const boxes = boxesFrom(first).slice(0, [...text].length);
  return boxes.length === [...text].length && boxes.every(({ maxLength }) => maxLength === 1);
}
