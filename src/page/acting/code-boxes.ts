import { inputKind } from '../names/roles.js';
import { isHtml, parentOf, walk } from '../tree/flat-tree.js';
import { isSeen } from '../tree/visibility.js';

/** How far around a box the others stand: each may have a wrapper or two of its own. */
const MAX_AROUND = 3;
/** How much wider than high a field may be that has room for one character. */
const MAX_RATIO = 2;

/** What the boxes of a code hold together, from one of them to the first empty one. */
export function codeFrom(first: HTMLInputElement): string {
  const values = boxesFrom(first).map(({ value }) => value);
  const end = values.indexOf('');
  return values.slice(0, end < 0 ? values.length : end).join('');
}

/** Whether there are as many boxes, from one of them on, as a text has characters. */
export function hasRoomFor(text: string, first: HTMLInputElement): boolean {
  return boxesFrom(first).length >= [...text].length;
}

/**
 * The boxes of a code, from one of them on: fields beside each other for one character each. A page hands on to the next
 * ones what is typed into one. A field that stands alone is no box.
 */
function boxesFrom(first: HTMLInputElement): readonly HTMLInputElement[] {
  let around = parentOf(first);
  for (let up = 0; around !== null && up < MAX_AROUND; up += 1, around = parentOf(around)) {
    const fields: HTMLInputElement[] = [];
    walk(around, null, (element) => {
      if (isHtml(element, 'input') && inputKind(element) === 'typed' && isSeen(element)) fields.push(element);
      return null;
    });
    if (fields.length < 2) continue;
    const after = fields.slice(fields.indexOf(first));
    const end = after.findIndex((field) => !isBox(field));
    return end < 0 ? after : after.slice(0, end);
  }
  return [];
}

function isBox(field: HTMLInputElement): boolean {
  if ([...field.value].length > 1) return false;
  const { width, height } = field.getBoundingClientRect();
  return field.maxLength === 1 || width <= height * MAX_RATIO;
}
