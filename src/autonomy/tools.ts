import { z } from 'zod';
import type { ToolCall } from '../protocol/model.js';
import { literalOf } from '../script/literal.js';
import type { Tool } from './wire.js';

const EvalArguments = z.object({ js: z.string() });
const DoneArguments = z.object({ success: z.boolean(), summary: z.string().max(20_000) });

/** The model's two tools. Their texts are part of every request. */
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

/** How to continue a failed flow: after the failed call, which then returns `value`, or with that call. */
export type ResumeRequest =
  | { readonly kind: 'done'; readonly value?: unknown }
  | { readonly kind: 'retry' }
  | { readonly kind: 'locator'; readonly locator: string };

/** The meaning of a tool call. For `malformed`, `why` is sent to the model. */
export type Intent =
  | { readonly kind: 'evaluate'; readonly js: string }
  | { readonly kind: 'resume'; readonly how: ResumeRequest }
  | { readonly kind: 'done'; readonly success: boolean; readonly summary: string }
  | { readonly kind: 'malformed'; readonly why: string };

/** A continuation of a flow. Scripts cannot do this from inside, so it is recognised only alone in its call. */
const RESUME = /^\s*(?:return\s+)?Flow\.resume\(([\s\S]*)\)\s*;?\s*$/;

/** Parses a tool call. Models may write anything, so invalid input is not an error. */
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

/** Parses the options of Flow.resume, which must be plain literals. */
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
