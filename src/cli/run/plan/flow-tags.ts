import { leadingComment } from '../../../agent-js/flows/leading-comment.js';
import { isFlowFile } from '../../../base/flow-file.js';

/** One or more tags at the end of a line, or alone on it. `@param {string} name` of a JSDoc comment is none. */
const TAGS = /(?:(?:^|\s)@[\w-]+)+\s*$/;

/** The comment that describes a flow or a task, without its tags, and the tags, each with its `@`. */
export interface Description {
  readonly text: string;
  readonly tags: readonly string[];
}

/**
 * Reads what the author says of a flow (its leading comment) or of a task (an HTML comment before its first line).
 * @param path tells flows (.js, .ts) from tasks (.md)
 */
export function describeSource(path: string, source: string): Description {
  const comment = isFlowFile(path) ? leadingComment(source) : (/^\s*<!--([\s\S]*?)-->/.exec(source)?.[1] ?? '');
  const tags = new Set<string>();
  const lines = comment.split('\n').flatMap((line) => {
    const [found = ''] = TAGS.exec(line) ?? [];
    for (const tag of found.match(/@[\w-]+/g) ?? []) tags.add(tag);
    const rest = line.slice(0, line.length - found.length);
    return found !== '' && rest.trim() === '' ? [] : [rest];
  });
  return { text: lines.join('\n').trim(), tags: [...tags] };
}

/** Whether a flow is chosen by `--grep`: by its path, or by a tag. `@smoke` alone means exactly that tag. */
export function isChosen(grep: RegExp, name: string, tags: readonly string[]): boolean {
  if (/^@[\w-]+$/.test(grep.source)) return tags.includes(grep.source);
  return grep.test(name) || tags.some((tag) => grep.test(tag));
}
