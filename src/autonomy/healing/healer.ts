import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { flowCode } from '../../agent-js/flows/read-flow.js';
import type { Resumption, TapedCall } from '../flow-tape.js';
import { isActing, type Repair, repairSource } from './repair-source.js';

/** A repaired flow. */
export interface HealedFlow {
  /** The argument of Flow.run. */
  readonly path: string;
  /** Its file in the flows folder: `shop/login.ts`. */
  readonly file: string;
  readonly source: string;
  /** The difference from the original flow; its paths are relative to the service's home. */
  readonly patch: string;
}

interface LoadedFlow {
  readonly path: string;
  readonly file: string;
  readonly source: string;
}

type RecordedRepair = Repair & { readonly trial: boolean };

/** Records what was done by hand where flows failed, and creates repaired flows from it. */
export class Healer {
  readonly #sources = new Map<string, LoadedFlow>();
  readonly #repairs = new Map<string, RecordedRepair[]>();

  /** Records that a failed flow was continued. Several continuations at the same position are combined. */
  record({ failed, how, byHand, trial }: Resumption): void {
    const { flow, line, column } = failed;
    if (flow === null || line === null) return;
    // The call was only too early: the flow itself is correct.
    if (how === 'before' && !byHand.some(isActing)) return;
    const repairs = this.#repairs.get(flow) ?? [];
    this.#repairs.set(flow, repairs);
    const known = repairs.findIndex((repair) => repair.line === line && repair.column === column);
    const earlier = repairs[known];
    // A locator that was tried and failed too is not part of the repair.
    const before = earlier?.byHand.slice(0, earlier.trial ? -1 : undefined) ?? [];
    const repair = { line, column, failed, how, byHand: [...before, ...byHand], trial };
    if (known === -1) repairs.push(repair);
    else repairs[known] = repair;
  }

  /**
   * The repaired flows, once the flow has passed. A flow is omitted if any of its failures cannot be repaired: a
   * partially
   * repaired one would fail too.
   * @param calls all calls of the flow, including the repaired ones
   */
  heal(calls: readonly TapedCall[]): readonly HealedFlow[] {
    for (const { target, answer } of calls) {
      const loaded = target === 'flow.load' && answer.ok ? answer.value : null;
      if (isLoaded(loaded)) this.#sources.set(loaded.path, loaded);
    }
    return [...this.#repairs].flatMap(([path, repairs]) => {
      const loaded = this.#sources.get(path);
      if (loaded === undefined || repairs.some((repair) => workedBefore(repair, calls))) return [];
      const { file, source } = loaded;
      const repaired = repairSource(source, repairs, (text) => codeOf(file, text));
      if (repaired === null) return [];
      return [{ path, file, source: repaired, patch: patchOf(`flows/${file}`, source, repaired) }];
    });
  }
}

/** The flow's JavaScript; null if it is not valid. */
function codeOf(file: string, source: string): string | null {
  try {
    return flowCode(file, source);
  } catch {
    return null;
  }
}

/** In the format of `patch` and `git apply`. */
function patchOf(path: string, before: string, after: string): string {
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, options);
}

/** Whether the same call at the same position succeeded another time: its replacement would be wrong there. */
function workedBefore({ failed, how, line, column }: Repair, calls: readonly TapedCall[]): boolean {
  if (how === 'before') return false;
  const here = calls.filter((call) => call.flow === failed.flow && call.line === line && call.column === column);
  return here.length > 1;
}

function isLoaded(value: unknown): value is LoadedFlow {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'path') === 'string' &&
    typeof Reflect.get(value, 'file') === 'string' &&
    typeof Reflect.get(value, 'source') === 'string'
  );
}
