import { namedVariable } from '../../config.js';
import { UsageError } from '../failure.js';
import { parseWords } from '../parse-options.js';

/** What `troupe run` was asked for. */
export interface RunOptions {
  readonly words: readonly string[];
  readonly prompt: string | undefined;
  readonly model: string | undefined;
  readonly url: string | undefined;
  readonly own: boolean;
  readonly flows: string | undefined;
  readonly report: string | undefined;
  readonly junit: string | undefined;
  /** Null: as many as the service has places for. */
  readonly parallel: number | null;
  /** The `index`-th of `count` parts, from 1. */
  readonly shard: { readonly index: number; readonly count: number } | null;
  /** Each step of a job waits for the picture of the one before. */
  readonly exactScreenshots: boolean;
  readonly retries: number;
  readonly failFast: boolean;
  readonly grep: RegExp | null;
  /** Seconds of one job. */
  readonly timeout: number | undefined;
  readonly name: string | undefined;
  readonly labels: { readonly [name: string]: string };
  readonly args: { readonly [name: string]: unknown };
  readonly secrets: { readonly [name: string]: string };
  /** Ports of the service's machine that every job's pages reach as localhost. */
  readonly forward: readonly number[];
  /** For a service of the run's own. */
  readonly driver: string | undefined;
}

/** @throws UsageError that names the word which is wrong */
export function readRunOptions(args: readonly string[]): RunOptions {
  const { values, positionals } = parsed(args);
  if (positionals.length === 0 && values.prompt === undefined) {
    throw new UsageError('run needs flows or task files, or a --prompt');
  }
  if (values.own === true && values.url !== undefined) {
    throw new UsageError('--own starts a service for this run alone, --url names another: one of them');
  }
  return {
    words: positionals,
    prompt: values.prompt,
    model: values.model,
    url: values.url,
    own: values.own ?? false,
    flows: values.flows,
    report: values.report,
    junit: values.junit,
    parallel: values.parallel === undefined ? null : whole('--parallel', values.parallel, 1, 10_000),
    shard: values.shard === undefined ? null : shardOf(values.shard),
    exactScreenshots: values['exact-screenshots'] ?? false,
    retries: values.retries === undefined ? 0 : whole('--retries', values.retries, 0, 10),
    failFast: values['fail-fast'] ?? false,
    grep: values.grep === undefined ? null : expression(values.grep),
    timeout: values.timeout === undefined ? undefined : whole('--timeout', values.timeout, 1, 86_400),
    name: values.name,
    labels: Object.fromEntries((values.label ?? []).map((text) => pair('--label', text))),
    args: Object.fromEntries((values.args ?? []).map(argument)),
    secrets: Object.fromEntries((values.secret ?? []).map(secret)),
    forward: values.forward === undefined ? [] : values.forward.split(',').map(port),
    driver: values.driver,
  };
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const many = { type: 'string', multiple: true } as const;
  const flag = { type: 'boolean' } as const;
  return parseWords(args, {
    prompt: text,
    model: text,
    url: text,
    own: flag,
    flows: text,
    report: text,
    junit: text,
    parallel: text,
    shard: text,
    retries: text,
    'fail-fast': flag,
    'exact-screenshots': flag,
    grep: text,
    timeout: text,
    name: text,
    label: many,
    args: many,
    secret: many,
    driver: text,
    forward: text,
  });
}

function whole(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} takes a whole number from ${least} to ${most}, not '${text}'`);
}

function port(text: string): number {
  return whole('--forward', text.trim(), 1, 65_535);
}

function shardOf(text: string): NonNullable<RunOptions['shard']> {
  const [, index = '', count = ''] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (Number(index) >= 1 && Number(index) <= Number(count)) return { index: Number(index), count: Number(count) };
  throw new UsageError(`--shard takes a part and their number, such as 2/5, not '${text}'`);
}

function expression(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageError(`--grep takes a regular expression: ${error instanceof Error ? error.message : text}`);
  }
}

/** `key=value` is a text, `key:=value` any JSON. */
function argument(text: string): readonly [string, unknown] {
  const [, name, json] = /^([^=:]+):=(.*)$/s.exec(text) ?? [];
  if (name === undefined || json === undefined) return pair('--args', text);
  try {
    return [name, JSON.parse(json)];
  } catch {
    throw new UsageError(`--args ${name}:= takes JSON, not '${json}'`);
  }
}

function pair(option: string, text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`${option} takes name=value, not '${text}'`);
}

function secret(name: string): readonly [string, string] {
  const value = namedVariable(name);
  if (value !== undefined && value !== '') return [name, value];
  throw new UsageError(`--secret ${name}: the environment has no variable of that name`);
}
