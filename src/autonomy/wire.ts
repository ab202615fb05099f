import type OpenAI from 'openai';
import { assertNever } from '../base/assert-never.js';
import type { ToolCall } from '../protocol/model.js';

/** A message of a conversation in our own form. */
export type Message =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly id: string; readonly content: string };

/** A tool as it is described to the model; `parameters` is a JSON schema. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: { readonly [key: string]: unknown };
}

/** Messages in the format of the chat completions API. */
export function wireMessages(messages: readonly Message[]): OpenAI.ChatCompletionMessageParam[] {
  return messages.map(wireMessage);
}

function wireMessage(message: Message): OpenAI.ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.id, content: message.content };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content === '' ? null : message.content,
        ...(message.toolCalls.length === 0 ? {} : { tool_calls: message.toolCalls.map(wireCall) }),
      };
    default:
      return assertNever(message);
  }
}

export function wireTools(tools: readonly Tool[]): OpenAI.ChatCompletionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters: { ...parameters } },
  }));
}

function wireCall({ id, name, arguments: text, extra }: ToolCall): OpenAI.ChatCompletionMessageToolCall {
  const call = { id, type: 'function', function: { name, arguments: text } } as const;
  // Gemini signs its calls and rejects a conversation without the signature.
  return extra === undefined ? call : Object.assign(call, { extra_content: extra });
}
