import { membersOf, misuse, textOf } from '../../agent-js/call-arguments.js';
import { CLASSES } from '../../agent-js/playwright-api/classes.js';
import type { Wire } from '../wire.js';
import { valueText } from './call-text.js';
import { type CheckedCall, checkCall } from './check-call.js';

const MOCK_MEMBERS = ['status', 'json', 'body', 'headers', 'contentType', 'delay', 'abort'] as const;

/** A call of Playwright that a call of `agent` stands for, and how the transcript shows it. */
export interface AgentCall {
  readonly call: CheckedCall;
  readonly text: string;
  /** The call's name for its step. */
  readonly name: string;
}

/** `agent.mock(glob, answer)`: a rule of `context.route`, for all tabs. @throws SCRIPT_ERROR */
export function mockCall(url: unknown, answer: unknown): AgentCall {
  const wanted = textOf(url, 'agent.mock takes an address or a glob, such as "**/api/orders"');
  const text = `agent.mock(${[url, answer].map((one) => valueText(wireOf(one))).join(', ')})`;
  const rule = membersOf(answer, 'agent.mock', MOCK_MEMBERS);
  const ends = answer === null;
  if (!ends && Object.keys(rule).length === 0) {
    throw misuse('agent.mock takes what to answer: {status, json, body, headers, contentType, delay} or {abort}');
  }
  const call = checkCall(['context', []], ends ? 'unroute' : 'route', [wanted, ...(ends ? [] : [wireOf(rule)])]);
  return { call, text, name: 'mock' };
}

/** `agent.clock`: the calls of `context.clock`, for all tabs. @throws SCRIPT_ERROR */
export function clockCall(method: unknown, given: readonly unknown[]): AgentCall {
  const name = String(method);
  if (!Object.hasOwn(CLASSES.Clock, name)) {
    throw misuse(`agent.clock has no ${name}; it has ${Object.keys(CLASSES.Clock).join(', ')}`);
  }
  const args = given.filter((one) => one !== undefined && one !== null).map(wireOf);
  const text = `agent.clock.${name}(${args.map(valueText).join(', ')})`;
  return { call: checkCall(['context', [['clock', null]]], name, args), text, name: 'clock' };
}

/** Plain JSON as a call's argument. */
function wireOf(value: unknown): Wire {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string')
    return value;
  if (Array.isArray(value)) return ['a', value.map(wireOf)];
  if (typeof value !== 'object') return ['u'];
  return ['o', Object.entries(value).map(([name, member]) => [name, wireOf(member)] as const)];
}
