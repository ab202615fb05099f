import type { QuickJSHandle } from 'quickjs-emscripten-core';
import { hookOf } from '../base/flow-file.js';
import { sourceFrame } from '../base/source-frame.js';
import { decodeError, type ErrorDetails, encodeError, TroupeError } from '../protocol/errors.js';
import type { QuickJs } from './engine/quickjs.js';
import type { HostBridge } from './host-bridge.js';
import type { ScriptLimits } from './limits.js';
import type { FlowForm } from './source/flow-form.js';
import { positionIn, type SourcePosition } from './source/source-edits.js';
import type { SourceRegistry } from './source/source-registry.js';
import { prepareFlow } from './source/source-step.js';
import { readDescription, sourceTooLong, withDetails, withFrame } from './thrown.js';

/** Cached compiled flows; beyond this the oldest is dropped. */
const MAX_COMPILED = 50;

interface OpenFlow {
  readonly run: number;
  readonly path: string;
  /** 1 for the outermost flow. */
  readonly depth: number;
  /** On this thread's performance clock. */
  readonly startedAt: number;
  /** A job runs it for what it does or returns, and not another flow or script. */
  readonly ofJob: boolean;
  /** It has called the host, or checked something. */
  acted: boolean;
  /** All of its tests were skipped. */
  skipped: boolean;
}

interface Compiled {
  readonly source: string;
  readonly code: string;
  readonly body: QuickJSHandle;
  /** Where the flow's function begins, or the file. */
  readonly begin: SourcePosition;
}

/** The running flows: their stack, their events, and their compiled code. */
export class FlowRunner {
  readonly #js: QuickJs;
  readonly #bridge: HostBridge;
  readonly #sources: SourceRegistry;
  readonly #limits: ScriptLimits;
  readonly #compiled = new Map<string, Compiled>();
  #open: OpenFlow[] = [];
  /** Starts higher than the numbers of an earlier thread of the session. */
  #runs = Math.floor(performance.timeOrigin + performance.now());

  constructor(js: QuickJs, bridge: HostBridge, sources: SourceRegistry, limits: ScriptLimits) {
    this.#js = js;
    this.#bridge = bridge;
    this.#sources = sources;
    this.#limits = limits;
  }

  /** Outermost first. */
  get paths(): readonly string[] {
    return this.#open.map((flow) => flow.path);
  }

  /** The run number of the innermost flow; null if none runs. */
  get run(): number | null {
    return this.#open.at(-1)?.run ?? null;
  }

  /**
   * Returns the new depth; 0 if that would be too deep.
   * @param file in the flows folder; empty for a flow that has none
   * @param byJob whether the script that runs is a job's
   */
  enter(path: string, file: string, byJob: boolean): number {
    if (this.#open.length >= this.#limits.flowDepth) return 0;
    const depth = this.#open.length + 1;
    this.#runs += 1;
    const ofJob = byJob && depth === 1 && hookOf(file) === null;
    this.#open.push({
      run: this.#runs,
      path,
      depth,
      startedAt: performance.now(),
      ofJob,
      acted: false,
      skipped: false,
    });
    this.#bridge.emit({ type: 'FlowStarted', data: { path, depth, ...(file === '' ? {} : { file }) } });
    return depth;
  }

  /** The running flows have called the host, or checked something. */
  acted(): void {
    for (const flow of this.#open) flow.acted = true;
  }

  /** The innermost flow counts as skipped, unless it fails. */
  skip(): void {
    const flow = this.#open.at(-1);
    if (flow !== undefined) flow.skipped = true;
  }

  /**
   * Why the innermost flow fails although it threw nothing: the text of an error body; empty if it does not.
   * @param type that of its value
   */
  fault(type: string): string {
    const flow = this.#open.at(-1);
    if (flow?.ofJob !== true) return '';
    if (type === 'function') return this.#fault(flow.path, 'The flow returned a function that nobody called');
    const didNothing = type === 'undefined' && !flow.acted && !flow.skipped;
    return didNothing ? this.#fault(flow.path, 'The flow did nothing; return a value if that was meant') : '';
  }

  #fault(path: string, error: string): string {
    const compiled = this.#compiled.get(path);
    if (compiled === undefined) return JSON.stringify({ error, details: { flow: path } });
    const { source, begin } = compiled;
    const frame = sourceFrame(source, begin.line, begin.column);
    return JSON.stringify({ error, details: { flow: path, ...begin, frame } });
  }

  /** `error` is empty for a flow that passed, else the engine's description of the thrown value. */
  leave(error: string): void {
    const flow = this.#open.pop();
    if (flow === undefined) return;
    const { path, depth } = flow;
    const durationMs = performance.now() - flow.startedAt;
    const description = readDescription(error);
    if (description === null) {
      const status = flow.skipped ? 'skipped' : 'passed';
      this.#bridge.emit({ type: 'FlowFinished', data: { path, depth, status, durationMs } });
      return;
    }
    const { message, code, details, stack } = description;
    const thrown = this.#sources.place(stack, { flow: path, ...(code === null ? { thrown: message } : {}) });
    const place = placeIn(details, path) ?? thrown;
    const where = place === null ? {} : { flow: path, line: place.line, ...columnOf(place) };
    // The frame of a parse error came with it.
    const frame = thrown === null ? {} : { frame: sourceFrame(thrown.source, thrown.line, thrown.column) };
    const body = { error: message, code: code ?? 'SCRIPT_ERROR', details: { ...frame, ...details } } as const;
    this.#bridge.emit({
      type: 'FlowFinished',
      data: { path, depth, status: 'failed', durationMs, error: body, ...where },
    });
  }

  /** Drops the flows of a stopped script; the handle emits their ends. */
  clear(): void {
    this.#open = [];
  }

  /**
   * Returns a handle of the flow's function of `args`, owned by the caller; or the text of an error body if the flow
   * does not parse.
   */
  compile(path: string, source: string, code: string, fault: string): QuickJSHandle {
    const known = this.#compiled.get(path);
    if (fault === '' && known?.source === source && known.code === code) return known.body.dup();
    try {
      const { sourceLength } = this.#limits;
      if (source.length > sourceLength) throw sourceTooLong(`The flow '${path}'`, sourceLength);
      if (fault !== '') throw decodeError(JSON.parse(fault));
      const { edited, form } = prepareFlow(code);
      const { engineName } = this.#sources.add({ name: path, flow: path, source, code, original: edited.original });
      const completion = this.#js.evaluate(edited.code, engineName);
      if (!completion.ok) throw completion.error;
      for (const idle of form.idle) this.#warn(path, form.source, idle);
      const begin = form.flow === null ? { line: 1, column: 1 } : positionIn(form.source, form.flow.start);
      this.#keep(path, { source, code, body: completion.value, begin });
      return completion.value.dup();
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      const where = { name: path, flow: path, flows: this.paths };
      return this.#js.text(JSON.stringify(encodeError(withDetails(withFrame(error, source), where))));
    }
  }

  /** Writes to the console which function of a flow nothing can call. */
  #warn(flow: string, source: string, { name, node }: FlowForm['idle'][number]): void {
    const text = `${name === null ? 'A function' : `The function ${name}`} of ${flow} is never called`;
    this.#bridge.emit({
      type: 'ConsoleWritten',
      data: { level: 'warn', text, flow, ...positionIn(source, node.start) },
    });
  }

  #keep(path: string, compiled: Compiled): void {
    this.#compiled.get(path)?.body.dispose();
    this.#compiled.delete(path);
    for (const [oldest, { body: old }] of this.#compiled) {
      if (this.#compiled.size < MAX_COMPILED) break;
      this.#compiled.delete(oldest);
      old.dispose();
    }
    this.#compiled.set(path, compiled);
  }
}

function columnOf({ column }: { readonly column: number | null }): { readonly column?: number } {
  return column === null ? {} : { column };
}

/** The position in a parse error of this flow. */
function placeIn(details: ErrorDetails, flow: string): { line: number; column: number } | null {
  const { line, column } = details;
  return details.flow === flow && typeof line === 'number' && typeof column === 'number' ? { line, column } : null;
}
