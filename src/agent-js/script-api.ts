import { ActionName } from '../protocol/look.js';
import { playwrightGlobals, playwrightNamespace } from './playwright-api/types.js';
import {
  BROWSER_CALLS,
  FILE_CALLS,
  FLOW_CALLS,
  MATCH,
  MATCH_CALLS,
  REQUEST_CALLS,
  type ScriptCall,
  type ScriptCalls,
  SESSION_CALLS,
} from './script-types/calls.js';
import { shapes } from './script-types/shapes.js';

/** Names of the language that scripts have. */
const LANGUAGE =
  'undefined NaN Infinity globalThis Object Function Array Number Boolean String Symbol BigInt Math JSON Date RegExp Map Set WeakMap WeakSet WeakRef Promise Proxy Reflect Error EvalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError ArrayBuffer SharedArrayBuffer DataView Atomics Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval FinalizationRegistry Iterator';

/** What scripts can call. The one source of their types and of what `troupe flow check` knows. */
const API: { readonly [object: string]: ScriptCalls } = {
  agent: { ...BROWSER_CALLS, ...SESSION_CALLS },
  match: MATCH_CALLS,
  Flow: FLOW_CALLS,
  File: FILE_CALLS,
  Request: REQUEST_CALLS,
};

/** The calls of each object that scripts have, by its name. */
export const SCRIPT_CALLS: { readonly [object: string]: readonly string[] } = Object.fromEntries(
  Object.entries(API).map(([object, calls]) => [object, Object.keys(calls)]),
);

export const ACTIONS: readonly string[] = ActionName.options;

/** Every name that a script may use without declaring it. */
export const GLOBALS: ReadonlySet<string> = new Set([
  ...LANGUAGE.split(' '),
  ...Object.keys(API),
  ...['console', 'args', 'page', 'context', 'expect'],
]);

const AGENT = '/** Acts on the browser of the session. */';
const MATCH_TEXT = '/** Compares values, and throws MATCH_FAILED where they differ. */';
const FLOW = '/** Runs other flows. */';

/**
 * `flows/troupe.d.ts`: the globals of flows, for editors and compilers. What a platform has under the same name (lib.dom)
 * keeps its own type there: two declarations of one variable must have one type.
 */
export function scriptTypes(): string {
  const own = (name: string, type: string): string =>
    `declare var ${name}: typeof globalThis extends { onmessage: any; ${name}: infer T } ? T : ${type};`;
  return `// The globals of Troupe's flows and scripts. Made by: troupe types
declare namespace AgentJs {
${indented(interfaces())}
}
${AGENT}
declare const agent: AgentJs.Agent;
${MATCH_TEXT}
declare const match: AgentJs.Match;
${FLOW}
declare const Flow: AgentJs.Flows;
/** Files below \`flows/\`. */
${own('File', 'AgentJs.Files')}
/** Requests of the collections below \`requests/\`. */
${own('Request', 'AgentJs.Requests')}
/** Writes lines to the console of the session. */
${own('console', 'AgentJs.Console')}
/** What the flow or script was given. */
declare const args: any;
declare ${playwrightNamespace()}
${playwrightGlobals('declare const')}
declare function require(name: 'playwright' | '@playwright/test'): any;
`;
}

/**
 * `troupe/agent-js`: the types of agent JS, and as globals the names that no platform has. For programs that give functions
 * to `session.run`: `File`, `Request`, and `console` are there what the program has.
 */
export function moduleTypes(): string {
  return `// The globals of Troupe's flows and scripts, for programs that send functions to a session.
${exported(interfaces())}
export ${playwrightNamespace()}
declare global {
  ${AGENT}
  const agent: Agent;
  ${MATCH_TEXT}
  const match: Match;
  ${FLOW}
  const Flow: Flows;
${indented(playwrightGlobals('const'))}
}
`;
}

function interfaces(): string {
  return [
    shapes().trimEnd(),
    interfaceOf('Session', BROWSER_CALLS, 'The calls on one browser, such as that of `agent.session(name)`.'),
    interfaceOf('Agent extends Session', SESSION_CALLS, 'The calls of `agent`.'),
    interfaceOf('Match', { '': MATCH, ...MATCH_CALLS }, 'The function `match`, and what it has.'),
    interfaceOf('Flows', FLOW_CALLS, 'The calls of `Flow`.'),
    interfaceOf('Files', FILE_CALLS, 'The calls of `File`.'),
    interfaceOf('Requests', REQUEST_CALLS, 'The calls of `Request`.'),
  ].join('\n');
}

function interfaceOf(name: string, calls: ScriptCalls, says: string): string {
  const members = Object.entries(calls).map(([call, one]) => `${comment(one)}\n  ${call}${one.type};`);
  return `/** ${says} */\ninterface ${name} {\n${members.join('\n')}\n}`;
}

function comment({ says, example }: ScriptCall): string {
  if (example === undefined) return `  /** ${says} */`;
  const lines = example.split('\n').map((line) => `   * ${line}`);
  return ['  /**', `   * ${says}`, '   * @example', ...lines, '   */'].join('\n');
}

function exported(text: string): string {
  return text.replace(/(^|\n)(?=interface |type )/g, '$1export ');
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
}
