import type { Failure } from '../../protocol/report/failure.js';
import { partOfPicture } from '../../protocol/report/part-of-picture.js';
import { escapeMarkup as esc } from '../escape.js';

/** The source around a failure, its line highlighted. */
export function frameOf(frame: string): string {
  const lines = frame.split('\n').map((line) => {
    const marked = line.startsWith('>') || /^\s*\|\s*\^/.test(line);
    return `<span${marked ? ' class="marked"' : ''}>${esc(line)}\n</span>`;
  });
  return `<pre class="frame">${lines.join('')}</pre>`;
}

/** A failure's code as a badge. */
export function codeBadge(code: string, tone: 'bad' | 'warn' = 'bad'): string {
  return `<code class="error${tone === 'warn' ? ' warn' : ''}">${esc(code)}</code>`;
}

/** A rectangle over a picture: the element that the step failed on. Attributes, since the page allows no styles. */
export function markOf(box: Failure['box']): string {
  const part = box === undefined ? null : partOfPicture(box);
  if (part === null) return '';
  return `<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true"><rect x="${part.left}" y="${part.top}" width="${part.width}" height="${part.height}"></rect></svg>`;
}
