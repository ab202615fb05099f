import type { Expression, SpreadElement } from 'acorn';
import { asWritten, calledOf, type TapedCall } from '../flow-tape.js';
import { type FoundCall, findCall, parseFlow } from './find-call.js';

/** A position where a flow failed, and what was done there by hand. */
export interface Repair {
  readonly line: number;
  readonly column: number | null;
  /** The call that failed; for a failed check, the first read before it. */
  readonly failed: TapedCall;
  /** `replace`: the calls replace the failed one. `before`: they are inserted before it. */
  readonly how: 'replace' | 'before';
  /** The successful calls that were made by hand, in order. */
  readonly byHand: readonly TapedCall[];
}

interface SourceChange {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Calls that change something; all others only read. */
const ACTING: ReadonlySet<string> = new Set(['agent.act', 'agent.go', 'agent.back']);

export function isActing(call: TapedCall): boolean {
  return ACTING.has(calledOf(call));
}

/**
 * Returns the flow's source with its failed calls repaired; null if one of them cannot be.
 *
 * The author's code is kept if it still fits: if a call only found its element under another name, only the locator is
 * replaced, and a value that the flow computed is still computed in the repaired flow.
 *
 * @param codeOf the source as JavaScript, with the same positions; null if it is not valid
 */
export function repairSource(
  source: string,
  repairs: readonly Repair[],
  codeOf: (source: string) => string | null = (text) => text,
): string | null {
  const code = codeOf(source);
  if (code === null) return null;
  const changes: SourceChange[] = [];
  for (const repair of repairs) {
    const { failed } = repair;
    const method = methodOf(calledOf(failed));
    const found = findCall(code, { method, ofAgent: calledOf(failed) === failed.target }, repair.line, repair.column);
    // A browser with a login cannot be written as a part of a call.
    const needsState = repair.byHand.some(({ target, args }) => target === 'agent.session' && isGiven(args[1]));
    const made = found === null || needsState ? null : changesFor(source, found, repair);
    if (made === null) return null;
    changes.push(...made);
  }
  // Apply from the end, so that earlier positions stay valid; at the same position, the later change is applied first.
  const ordered = changes.map((change, order) => ({ ...change, order }));
  ordered.sort((one, other) => other.from - one.from || other.order - one.order);
  if (ordered.some((change, index) => change.to > (ordered[index - 1]?.from ?? source.length))) return null;
  const repaired = ordered.reduce(
    (text, { from, to, text: fresh }) => text.slice(0, from) + fresh + text.slice(to),
    source,
  );
  const repairedCode = repaired === source ? null : codeOf(repaired);
  return repairedCode !== null && parseFlow(repairedCode) !== null ? repaired : null;
}

function changesFor(source: string, found: FoundCall, repair: Repair): readonly SourceChange[] | null {
  const acting = repair.byHand.filter(isActing);
  if (repair.how === 'before') return acting.length === 0 ? null : [statementsBefore(source, found, acting, repair)];
  if (!isActing(repair.failed)) return readInstead(source, found, repair, acting);
  const last = acting.at(-1);
  if (last === undefined) return null;
  const others = acting.slice(0, -1);
  const instead = { from: found.call.start, to: found.call.end, text: callText(source, last, found, repair) };
  return others.length === 0 ? [instead] : [statementsBefore(source, found, others, repair), instead];
}

/** A read that found nothing under its locator, but something under another one. */
function readInstead(
  source: string,
  found: FoundCall,
  repair: Repair,
  acting: readonly TapedCall[],
): readonly SourceChange[] | null {
  const failed = asWritten(repair.failed);
  const byHand = repair.byHand.map(asWritten);
  // With a new locator, the call is still to be made. With a value, the read by hand has the right locator.
  const value = failed.answer.ok ? JSON.stringify(failed.answer.value) : 'null';
  const same = byHand.findLast(
    ({ target, answer }) => target === failed.target && answer.ok && JSON.stringify(answer.value) === value,
  );
  const [argument] = found.call.arguments;
  if (same === undefined || argument === undefined) return null;
  const instead = { from: argument.start, to: argument.end, text: locatorText(source, argument, failed, same.args[0]) };
  return acting.length === 0 ? [instead] : [statementsBefore(source, found, acting, repair), instead];
}

function statementsBefore(source: string, found: FoundCall, calls: readonly TapedCall[], repair: Repair): SourceChange {
  const { start } = found.statement;
  const indent = /[ \t]*$/.exec(source.slice(0, start))?.[0] ?? '';
  const lines = calls.map((call) => `${callText(source, call, found, repair)};\n${indent}`);
  return { from: start, to: start, text: lines.join('') };
}

/** A call that was made by hand, with the author's arguments if they are the same. */
function callText(source: string, made: TapedCall, { call: written, code }: FoundCall, repair: Repair): string {
  const [call, failed] = [asWritten(made), asWritten(repair.failed)];
  if (call.target !== failed.target) return `${call.target}(${call.args.filter(isGiven).map(literalText).join(', ')})`;
  const args = trimmed(call.args).map((value, index) => {
    const argument = written.arguments[index];
    if (argument === undefined) return literalText(value);
    if (same(value, failed.args[index])) return source.slice(argument.start, endWithTypes(code, argument)).trimEnd();
    return index === 0 ? locatorText(source, argument, failed, value) : literalText(value);
  });
  return `${source.slice(written.callee.start, written.callee.end)}(${args.join(', ')})`;
}

/** A locator. If the author's has one computed part that the new one contains too, it is still computed. */
function locatorText(
  source: string,
  argument: Expression | SpreadElement,
  failed: TapedCall,
  locator: unknown,
): string {
  const old = failed.args[0];
  if (argument.type !== 'TemplateLiteral' || typeof old !== 'string' || typeof locator !== 'string') {
    return literalText(locator);
  }
  const [expression] = argument.expressions;
  const [head, tail] = argument.quasis.map(({ value }) => value.cooked ?? '');
  if (argument.expressions.length !== 1 || expression === undefined || head === undefined || tail === undefined) {
    return literalText(locator);
  }
  const part = old.slice(head.length, old.length - tail.length);
  if (part === '' || !locator.includes(part)) return literalText(locator);
  const [before, after] = argument.quasis;
  // Between `${` and `}`, so that a type assertion stays.
  const written = `\${${source.slice((before?.end ?? 0) + 2, (after?.start ?? 0) - 1)}}`;
  return `\`${locator.split(part).map(templateText).join(written)}\``;
}

function templateText(text: string): string {
  return text.replace(/[\\`]|\$\{/g, '\\$&');
}

/** A text as a literal in single quotes, in the style of flows. */
function literalText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'undefined';
  return `'${JSON.stringify(value).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;
}

/** Where an argument ends with its type assertion, `as string` for example, which is spaces in the code. */
function endWithTypes(code: string, argument: Expression | SpreadElement): number {
  return argument.end + (/^\s*/.exec(code.slice(argument.end))?.[0].length ?? 0);
}

function trimmed(args: readonly unknown[]): readonly unknown[] {
  return args.slice(0, args.findLastIndex(isGiven) + 1);
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function methodOf(target: string): string {
  return target.slice(target.indexOf('.') + 1);
}
