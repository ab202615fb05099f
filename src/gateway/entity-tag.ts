import { createHash } from 'node:crypto';
import { TroupeError } from '../protocol/errors.js';

const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/** The strong entity tag of a text, with its quotes. */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url')}"`;
}

/**
 * What the headers `If-Match` and `If-None-Match` demand of a resource (RFC 9110, 13.1): a function that gets its entity
 * tag, null if it does not exist, and throws PRECONDITION_FAILED.
 * @throws INVALID_REQUEST for a malformed header
 */
export function preconditionOf(headers: { readonly [name: string]: string }): (etag: string | null) => void {
  const wanted = tagsOf('If-Match', headers['if-match'] ?? '');
  const unwanted = tagsOf('If-None-Match', headers['if-none-match'] ?? '');
  return (etag) => {
    if (wanted !== null && !matches(wanted, etag)) {
      const why = etag === null ? 'It does not exist' : 'It has changed since it was read';
      throw new TroupeError('PRECONDITION_FAILED', `${why}: read it again, then send its ETag as If-Match`);
    }
    if (unwanted !== null && matches(unwanted, etag)) {
      throw new TroupeError(
        'PRECONDITION_FAILED',
        'It exists already: choose another path, or replace it with If-Match',
      );
    }
  };
}

/** Null without a header. */
function tagsOf(name: string, value: string): readonly string[] | '*' | null {
  const text = value.trim();
  if (text === '') return null;
  if (text === '*') return '*';
  // A tag may contain commas, but those of this service do not.
  const tags = text.split(',').map((tag) => tag.trim());
  if (tags.every((tag) => TAG.test(tag))) return tags;
  const message = `"${name}" must be *, or the ETag of an answer with its quotes`;
  throw new TroupeError('INVALID_REQUEST', message, { issues: [{ path: name, message }] });
}

/** Weak tags match nothing: they do not identify the bytes. */
function matches(tags: readonly string[] | '*', etag: string | null): boolean {
  return etag !== null && (tags === '*' || tags.includes(etag));
}
