import { asObject } from './json-access.js';
import { removeValue, setValue } from './json-edit.js';

type Path = readonly (string | number)[];

/**
 * Changes the value at `path` with the fewest edits: equal members keep their text, and lists of equal length are
 * changed element by element. `undefined` removes a value.
 *
 * @param old the current value
 */
export function changeValue(text: string, old: unknown, path: Path, value: unknown): string {
  if (value === undefined) return old === undefined ? text : removeValue(text, path);
  if (JSON.stringify(old) === JSON.stringify(value)) return text;
  const [before, after] = [asObject(old), asObject(value)];
  let changed = text;
  if (before !== undefined && after !== undefined) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      changed = changeValue(changed, before[key], [...path, key], after[key]);
    }
    return changed;
  }
  if (!Array.isArray(old) || !Array.isArray(value) || old.length !== value.length) return setValue(text, path, value);
  value.forEach((element, index) => {
    changed = changeValue(changed, old[index], [...path, index], element);
  });
  return changed;
}
