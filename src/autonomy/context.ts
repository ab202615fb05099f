import type { PageText } from '../protocol/model.js';
import type { Conversation } from './conversation.js';
import type { Message } from './wire.js';

/** Answers to tool calls that keep their whole text: the newest. */
const WHOLE_ANSWERS = 6;
/** What remains of an older and longer one, in characters. */
const SHORT_ANSWER = 400;
/** Stands for an answer of nothing: providers refuse an empty message. */
const NOTHING = '(no answer)';
const NO_RESULT = '(no result)';
const LEFT_OUT = '(the page as it was then: left out, a newer one follows)';

/**
 * The messages of a request, from all that was said: what never changes comes first, so that a provider finds it in its
 * cache; a page that was shown whole again later is left out, and so are long results of old.
 *
 * The newest whole page stays where it stands with the changes after it: together they are the page as it is now.
 */
export function messagesOf({ start, turns }: Conversation): readonly Message[] {
  if (start === null) return [];
  const pages = pagesOf({ start, turns });
  const newest = pages.findLastIndex((page) => page?.kind === 'full');
  const answers = turns.reduce((sum, turn) => sum + turn.answers.length, 0);
  let index = -1;
  let answer = 0;
  const withPage = (text: string, page: PageText | null): string => {
    index += 1;
    if (page === null) return text === '' ? NO_RESULT : text;
    const block = index < newest ? LEFT_OUT : dataBlock('page', page.text);
    return text === '' ? block : `${text}\n${block}`;
  };
  const messages: Message[] = [
    { role: 'system', content: start.system },
    { role: 'user', content: withPage(start.task, start.page) },
  ];
  for (const turn of turns) {
    messages.push({
      role: 'assistant',
      content: turn.text === '' && turn.toolCalls.length === 0 ? NOTHING : turn.text,
      toolCalls: turn.toolCalls,
    });
    for (const one of turn.answers) {
      answer += 1;
      const text = answers - answer < WHOLE_ANSWERS ? one.text : shortened(one.text);
      messages.push({ role: 'tool', id: one.id, content: withPage(text, one.page) });
    }
    const nudges = turn.nudges.map(({ text, page }) => withPage(text, page));
    if (nudges.length > 0) messages.push({ role: 'user', content: nudges.join('\n') });
  }
  return messages;
}

/** Every page that the model was shown, in order; null where it was told something without one. */
export function pagesOf({ start, turns }: Pick<Conversation, 'start' | 'turns'>): readonly (PageText | null)[] {
  return [
    start?.page ?? null,
    ...turns.flatMap(({ answers, nudges }) => [...answers, ...nudges].map(({ page }) => page)),
  ];
}

/** Text of a page, marked as such. It cannot end the mark by itself. */
export function dataBlock(tag: 'page' | 'result' | 'console' | 'error', text: string): string {
  return `<${tag}>\n${text.replace(/<\/(?=page|result|console|error)/gi, '<\\/')}\n</${tag}>`;
}

function shortened(text: string): string {
  if (text.length <= SHORT_ANSWER * 1.5) return text;
  const end = /\n<\/\w+>$/.exec(text)?.[0] ?? '';
  return `${text.slice(0, SHORT_ANSWER)}\n… (${text.length - SHORT_ANSWER} characters of this old result are left out)${end}`;
}
