import { createRequire } from 'node:module';
import { TroupeError } from '../../protocol/errors.js';

type Library = typeof import('@swc/wasm-typescript');

interface SyntaxFault {
  readonly message: string;
  /** 1-based. */
  readonly startLine: number;
  /** 0-based, in characters. */
  readonly startColumn: number;
}

const require = createRequire(import.meta.url);
const PACKAGE = '@swc/wasm-typescript';

/** Compiling the library takes tens of milliseconds, and most sessions have no TypeScript. */
let library: Library | null = null;

/** A flow may be a function without a name, or return at its top level. Each is valid only inside other code. */
const FRAMES: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  ['void ', ''],
  ['async()=>{', '\n}'],
];

/** A name that functions get while their types are removed. */
const NAME = ' $troupeFlow';
/** Functions without a name in a file. */
const MAX_UNNAMED = 20;

/**
 * The JavaScript of a TypeScript flow. Types become spaces, so every line and column stays the same. Only types can be
 * removed: enums, namespaces with values, and parameter properties are refused.
 *
 * @throws SCRIPT_ERROR with line and column
 */
export function stripTypes(source: string): string {
  const faults: SyntaxFault[] = [];
  for (const [before, after] of FRAMES) {
    const stripped = stripNamed(before + source + after);
    if (typeof stripped === 'string') return stripped.slice(before.length, stripped.length - after.length);
    // A frame moves the columns of the first line.
    const shift = stripped.startLine === 1 ? before.length : 0;
    faults.push({ ...stripped, startColumn: Math.max(0, stripped.startColumn - shift) });
  }
  // The attempt that got furthest understood the author best.
  const fault = faults.reduce((best, next) => (isLater(next, best) ? next : best));
  const line = source.split('\n')[fault.startLine - 1] ?? '';
  const column = [...line].slice(0, fault.startColumn).join('').length + 1;
  throw new TroupeError('SCRIPT_ERROR', `SyntaxError: ${fault.message}: ${line.trim().slice(0, 120)}`, {
    line: fault.startLine,
    column,
  });
}

/** The same for a source with `function (args) {...}` as a statement, which the library takes only with a name. */
function stripNamed(source: string): string | SyntaxFault {
  const names: number[] = [];
  let named = source;
  let stripped = strip(named);
  while (typeof stripped !== 'string' && names.length < MAX_UNNAMED) {
    const at = offsetOf(named, stripped);
    if (named[at] !== '(' || !/\bfunction\s*$/.test(named.slice(Math.max(0, at - 100), at))) break;
    names.push(at);
    named = `${named.slice(0, at)}${NAME}${named.slice(at)}`;
    stripped = strip(named);
  }
  if (typeof stripped !== 'string') {
    const { startLine, startColumn } = stripped;
    const shift = names.filter((at) => named.slice(0, at).split('\n').length === startLine).length * NAME.length;
    return { ...stripped, startColumn: Math.max(0, startColumn - shift) };
  }
  return names.reduceRight((code, at) => code.slice(0, at) + code.slice(at + NAME.length), stripped);
}

/** @param fault its column counts characters */
function offsetOf(source: string, { startLine, startColumn }: SyntaxFault): number {
  const lines = source.split('\n');
  const before = lines.slice(0, startLine - 1).reduce((sum, line) => sum + line.length + 1, 0);
  return before + [...(lines[startLine - 1] ?? '')].slice(0, startColumn).join('').length;
}

function strip(source: string): string | SyntaxFault {
  library ??= require(PACKAGE) as Library;
  try {
    return library.transformSync(source, { mode: 'strip-only', filename: 'flow.ts' }).code;
  } catch (thrown) {
    if (isSyntaxFault(thrown)) return thrown;
    // A trap, of too deep a nesting for example, leaves the instance unusable for any source.
    library = null;
    delete require.cache[require.resolve(PACKAGE)];
    throw new TroupeError('SCRIPT_ERROR', 'SyntaxError: the source is nested too deeply', { line: 1, column: 1 });
  }
}

function isSyntaxFault(thrown: unknown): thrown is SyntaxFault {
  return (
    typeof thrown === 'object' &&
    thrown !== null &&
    typeof Reflect.get(thrown, 'message') === 'string' &&
    typeof Reflect.get(thrown, 'startLine') === 'number' &&
    typeof Reflect.get(thrown, 'startColumn') === 'number'
  );
}

function isLater(one: SyntaxFault, other: SyntaxFault): boolean {
  return one.startLine > other.startLine || (one.startLine === other.startLine && one.startColumn > other.startColumn);
}
