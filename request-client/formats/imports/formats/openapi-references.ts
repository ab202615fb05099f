import { asObject, member, textOf } from '../../../engine/collection/json-access.js';
import type { Findings } from '../findings.js';

/** More references in a row are a circle. */
const MAX_STEPS = 50;

/** Follows `$ref` inside one document. References to files and addresses are never followed, but named in a warning. */
export class References {
  readonly #root: unknown;
  readonly #findings: Findings;

  constructor(root: unknown, findings: Findings) {
    this.#root = root;
    this.#findings = findings;
  }

  /** The value itself, or what it refers to; undefined if that is not in the document. */
  resolve(value: unknown): unknown {
    let at = value;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const reference = textOf(member(at, '$ref'));
      if (asObject(at) === undefined || reference === undefined) return at;
      if (!reference.startsWith('#')) {
        this.#findings.warn('', '$ref', `A reference out of the document is not followed: ${reference.slice(0, 100)}`);
        return undefined;
      }
      at = this.#at(reference.slice(1));
      if (at === undefined) this.#findings.warn('', '$ref', `The document has no ${reference.slice(0, 100)}`);
    }
    return undefined;
  }

  #at(pointer: string): unknown {
    let at = this.#root;
    for (const step of pointer.split('/').slice(1)) {
      const key = unescaped(step);
      at = Array.isArray(at) ? at[Number(key)] : member(at, key);
    }
    return at;
  }
}

function unescaped(step: string): string {
  let text = step;
  try {
    text = decodeURIComponent(step);
  } catch {
    // A stray percent sign is part of the name.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}
