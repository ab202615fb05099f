import type { AnyNode } from 'acorn';
import { authorPlace, errorPlace, type KnownSource, stopPlace } from './error-place.js';
import type { EditedSource } from './source-edits.js';
import { flowSyntax } from './source-step.js';

/** A position that an author can look up. */
export interface ScriptPlace {
  /** The script's name, or the flow's path. */
  readonly name: string;
  readonly flow: string | null;
  readonly line: number;
  /** Null if the place is somewhere after the beginning of `line`. */
  readonly column: number | null;
  /** The author's source. */
  readonly source: string;
}

interface RegisteredSource {
  readonly name: string;
  readonly flow: string | null;
  readonly source: string;
  /** The same as JavaScript, with the same lines and columns. */
  readonly code: string;
  readonly original: EditedSource['original'];
}

interface PlaceOptions {
  /** Only positions of this flow. */
  readonly flow?: string;
  /** The message of the error that the stack is of: where the engine does not know the place of such an error, it is looked for. */
  readonly thrown?: string;
  /** The script was stopped there. */
  readonly isStopped?: boolean;
}

/** Functions of older scripts still run, but their positions are no longer known. */
const MAX_SOURCES = 500;

/**
 * Gives each source a unique name for the engine (`login#7`), and maps lines of the engine's stacks back to the
 * author's source.
 */
export class SourceRegistry {
  readonly #sources = new Map<number, RegisteredSource & KnownSource>();
  #last = 0;

  /** Drops the oldest source if the registry is full. */
  add(source: RegisteredSource): { readonly id: number; readonly engineName: string } {
    this.#last += 1;
    this.#sources.set(this.#last, { ...source, syntax: parsedOnce(source.code) });
    if (this.#sources.size > MAX_SOURCES) {
      for (const oldest of this.#sources.keys()) {
        this.#sources.delete(oldest);
        break;
      }
    }
    const readable = source.name.replace(/[^\w./ -]/g, '_').slice(0, 100);
    return { id: this.#last, engineName: `${readable}#${this.#last}` };
  }

  /** The innermost position in a registered source. */
  place(stack: string, { flow, thrown, isStopped = false }: PlaceOptions = {}): ScriptPlace | null {
    for (const frame of stack.matchAll(/#(\d+):(\d+):(\d+)\)?$/gm)) {
      const [, id, line, column] = frame;
      const source = this.#sources.get(Number(id));
      if (source === undefined || (flow !== undefined && source.flow !== flow)) continue;
      const position = source.original({ line: Number(line), column: Number(column) });
      const { name } = source;
      const about = { name, flow: source.flow, source: source.source };
      // Functions below the top are in a call, and so are those that called a function of the language.
      const isTop = frame.index === stack.search(/#\d+:\d+:\d+\)?$/m) && !/^\s*at [^\n]*\(native\)/.test(stack);
      // In a call of the host, the call is the place.
      if (isStopped && isTop && !stack.slice(0, frame.index).includes('\n'))
        return { ...stopPlace(source, position), ...about };
      if (thrown === undefined || !isTop) return { ...authorPlace(source, position), ...about };
      const { isExact, ...found } = errorPlace(source, position, thrown);
      return { ...found, ...(isExact ? {} : { column: null }), ...about };
    }
    return null;
  }
}

function parsedOnce(code: string): () => AnyNode | null {
  let known: { readonly program: AnyNode | null } | null = null;
  return () => {
    known ??= { program: parsed(code) };
    return known.program;
  };
}

function parsed(code: string): AnyNode | null {
  try {
    return flowSyntax(code);
  } catch {
    // A script that does not parse as a file either, or one that is nested too deeply.
    return null;
  }
}
