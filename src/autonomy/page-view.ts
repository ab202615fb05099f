import { createHash } from 'node:crypto';
import type { WholeLook } from '../agent-js/look/look.js';
import { type RenderableLook, renderLook } from '../agent-js/look/render.js';
import type { PageText } from '../protocol/model.js';
import { pagesOf } from './context.js';
import type { Conversation } from './conversation.js';

/** Lines of a page that a model is sent; the last one says how to request more. */
const MAX_LINES = 250;
/** Changes are sent if they are shorter than this fraction of the full page. */
const MAX_DIFF_SHARE = 0.6;

/** A page for a model, and its fingerprint. */
export interface PageView {
  readonly page: PageText;
  /** Equal for the same page in the same state. */
  readonly fingerprint: string;
}

/**
 * The page that a model is sent after each of its scripts: the changes since the last one, or the full page if that is
 * hardly longer, or if the changes since the last full page add up to one.
 */
export function viewPage(look: WholeLook, shown: Conversation): PageView {
  const { url, title, dialog, elements, diff } = look;
  const place = { url, title, ...(dialog === undefined ? {} : { dialog }) };
  const whole = renderLook({ ...place, elements }, { maxLines: MAX_LINES });
  const print = createHash('sha1')
    .update(JSON.stringify([place, elements]))
    .digest('base64url')
    .slice(0, 12);
  const full: PageView = { page: { kind: 'full', text: whole }, fingerprint: print };
  const known = charactersOfChanges(shown);
  if (diff === undefined || diff.document === 'new' || known === null) return full;
  const at = (index: number) => elements[index] ?? [];
  const changes: RenderableLook = {
    ...place,
    diff: true,
    added: diff.added.flatMap(at),
    removed: diff.removed,
    changed: diff.changed,
    unchanged: elements.length - diff.added.length - diff.changed.length,
  };
  const text = renderLook(changes, { maxLines: MAX_LINES });
  if (text.length > whole.length * MAX_DIFF_SHARE || known + text.length > Math.max(whole.length, 400)) return full;
  return { page: { kind: 'diff', text }, fingerprint: print };
}

/** Characters of the changes that were sent since the last full page; null if there was none. */
function charactersOfChanges(shown: Conversation): number | null {
  const pages = pagesOf(shown);
  const newest = pages.findLastIndex((page) => page?.kind === 'full');
  if (newest === -1) return null;
  return pages.slice(newest + 1).reduce((sum, page) => sum + (page?.text.length ?? 0), 0);
}
