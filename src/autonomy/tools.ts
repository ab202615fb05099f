import { z } from 'zod';
import type { ToolCall } from '../protocol/model.js';
import { literalOf } from '../script/literal.js';
import type { Tool } from './wire.js';

const EvalArguments = z.object({ js: z.string() });
const DoneArguments = z.object({ success: z.boolean(), summary: z.string().max(20_000) });

/** The two tools of a model. Their texts are part of every request. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'agent_eval',
    description: 'Runs a script of agent JS in the browser session. Answers its result and the page after it.',
    parameters: {
      type: 'object',
      properties: { js: { type: 'string', description: 'the script' } },
      required: ['js'],
      additionalProperties: false,
    },
  },
  {
    name: 'done',
    description: 'Ends the task. Call it once, when the task is done and checked, or when it cannot be done.',
    parameters: {
      type: 'object',
      properties: {
        success: { type: 'boolean', description: 'whether the task was done as asked' },
        summary: { type: 'string', description: 'what was done and found, or why it could not be done' },
      },
      required: ['success', 'summary'],
      additionalProperties: false,
    },
  },
];

/** How a failed flow is to go on: behind the failed call, which answers `value` then, or with it. */
export type ResumeRequest =
  | { readonly kind: 'done'; readonly value?: unknown }
  | { readonly kind: 'retry' }
  | { readonly kind: 'locator'; readonly locator: string };

/** What a model wants with a tool call. `malformed` says what to tell it. */
export type Intent =
  | { readonly kind: 'evaluate'; readonly js: string }
  | { readonly kind: 'resume'; readonly how: ResumeRequest }
  | { readonly kind: 'done'; readonly success: boolean; readonly summary: string }
  | { readonly kind: 'malformed'; readonly why: string };

/** Continues a flow, which no script can do from inside: it is understood only alone in its call. */
const RESUME = /^\s*(?:return\s+)?Flow\.resume\(([\s\S]*)\)\s*;?\s*$/;

/** Reads a tool call. Models write anything: nothing of it is an error of ours. */
export function intentOf({ name, arguments: text }: ToolCall): Intent {
  if (name !== 'agent_eval' && name !== 'done') {
    return malformed(`There is no tool '${name.slice(0, 100)}'. There are agent_eval and done.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return malformed(`The arguments of ${name} are not JSON (${why}). Nothing was run. Send them again.`);
  }
  if (name === 'done') {
    const parsed = DoneArguments.safeParse(value);
    if (parsed.success) return { kind: 'done', ...parsed.data };
    return malformed('done takes {"success": true or false, "summary": "text"}. The task has not ended.');
  }
  const parsed = EvalArguments.safeParse(value);
  if (!parsed.success) return malformed('agent_eval takes {"js": "the script"}. Nothing was run.');
  const { js } = parsed.data;
  const resume = RESUME.exec(js);
  return resume === null ? { kind: 'evaluate', js } : resumption(resume[1] ?? '');
}

/** Options of Flow.resume, of which only plain values are understood. */
function resumption(text: string): Intent {
  if (text.trim() === '') return { kind: 'resume', how: { kind: 'done' } };
  const options = literalOf(text);
  const given = typeof options === 'object' && options !== null ? new Map(Object.entries(options)) : new Map();
  if (given.get('retry') === true) return { kind: 'resume', how: { kind: 'retry' } };
  const locator: unknown = given.get('locator');
  if (typeof locator === 'string' && locator !== '') return { kind: 'resume', how: { kind: 'locator', locator } };
  if (given.has('value')) return { kind: 'resume', how: { kind: 'done', value: given.get('value') } };
  return malformed(
    'Flow.resume takes nothing, {locator: "..."}, {retry: true} or {value: ...}, written out. Nothing was run.',
  );
}

function malformed(why: string): Intent {
  return { kind: 'malformed', why };
}
