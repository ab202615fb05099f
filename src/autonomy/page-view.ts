import { createHash } from 'node:crypto';
import type { WholeLook } from '../agent-js/look/look.js';
import { type RenderableLook, renderLook } from '../agent-js/look/render.js';
import type { PageText } from '../protocol/model.js';
import { pagesOf } from './context.js';
import type { Conversation } from './conversation.js';

/** Lines of a page that a model is shown; the last says how to ask for more. */
const MAX_LINES = 250;
/** Changes are shown while they are shorter than this part of the whole page. */
const WORTH = 0.6;

/** A page for a model, and what tells it from another. */
export interface PageSeen {
  readonly page: PageText;
  /** The same for the same page in the same state. */
  readonly print: string;
}

/**
 * What a model is shown of the page after each of its scripts: the changes since it saw it last, or the whole page where
 * that is hardly longer, or where the changes since the last whole page have added up to one.
 */
export function viewPage(look: WholeLook, shown: Conversation): PageSeen {
  const { url, title, dialog, elements, diff } = look;
  const place = { url, title, ...(dialog === undefined ? {} : { dialog }) };
  const whole = renderLook({ ...place, elements }, { maxLines: MAX_LINES });
  const print = createHash('sha1')
    .update(JSON.stringify([place, elements]))
    .digest('base64url')
    .slice(0, 12);
  const full: PageSeen = { page: { kind: 'full', text: whole }, print };
  const known = charactersOfChanges(shown);
  if (diff === undefined || known === null) return full;
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
  if (text.length > whole.length * WORTH || known + text.length > Math.max(whole.length, 400)) return full;
  return { page: { kind: 'diff', text }, print };
}

/** Characters of the changes told since the last whole page; null where none was shown. */
function charactersOfChanges(shown: Conversation): number | null {
  const pages = pagesOf(shown);
  const newest = pages.findLastIndex((page) => page?.kind === 'full');
  if (newest === -1) return null;
  return pages.slice(newest + 1).reduce((sum, page) => sum + (page?.text.length ?? 0), 0);
}
