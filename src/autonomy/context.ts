import type { PageText } from '../protocol/model.js';
import type { Conversation } from './conversation.js';
import type { Message } from './wire.js';

/** The newest answers to tool calls keep their whole text: how many. */
const FULL_ANSWERS = 6;
/** Characters that remain of an older, longer answer. */
const SHORT_ANSWER = 400;
/** Replaces an empty answer: providers reject an empty message. */
const NO_ANSWER = '(no answer)';
const NO_RESULT = '(no result)';
const OMITTED_PAGE = '(the page as it was then: left out, a newer one follows)';

/**
 * Builds the messages of a request from the conversation. The parts that never change come first, so that the provider
 * finds them in its cache. A full page that a newer one replaces is omitted, and long old results are shortened.
 *
 * The newest full page stays in its place, with the changes after it: together they are the current page.
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
    const block = index < newest ? OMITTED_PAGE : dataBlock('page', page.text);
    return text === '' ? block : `${text}\n${block}`;
  };
  const messages: Message[] = [
    { role: 'system', content: start.system },
    { role: 'user', content: withPage(start.task, start.page) },
  ];
  for (const turn of turns) {
    messages.push({
      role: 'assistant',
      content: turn.text === '' && turn.toolCalls.length === 0 ? NO_ANSWER : turn.text,
      toolCalls: turn.toolCalls,
    });
    for (const one of turn.answers) {
      answer += 1;
      const text = answers - answer < FULL_ANSWERS ? one.text : shortened(one.text);
      messages.push({ role: 'tool', id: one.id, content: withPage(text, one.page) });
    }
    const nudges = turn.nudges.map(({ text, page }) => withPage(text, page));
    if (nudges.length > 0) messages.push({ role: 'user', content: nudges.join('\n') });
  }
  return messages;
}

/** All pages that the model was sent, in order; null for messages without a page. */
export function pagesOf({ start, turns }: Pick<Conversation, 'start' | 'turns'>): readonly (PageText | null)[] {
  return [
    start?.page ?? null,
    ...turns.flatMap(({ answers, nudges }) => [...answers, ...nudges].map(({ page }) => page)),
  ];
}

/** Marks text as page content. The text cannot close the mark. */
export function dataBlock(tag: 'page' | 'result' | 'console' | 'error', text: string): string {
  return `<${tag}>\n${text.replace(/<\/(?=page|result|console|error)/gi, '<\\/')}\n</${tag}>`;
}

function shortened(text: string): string {
  if (text.length <= SHORT_ANSWER * 1.5) return text;
  const end = /\n<\/\w+>$/.exec(text)?.[0] ?? '';
  return `${text.slice(0, SHORT_ANSWER)}\n… (${text.length - SHORT_ANSWER} characters of this old result are left out)${end}`;
}
