import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import type { Resumption, TapedCall } from '../flow-tape.js';
import { isActing, type Repair, repairSource } from './repair-source.js';

/** A flow as it could be from now on. */
export interface HealedFlow {
  /** As Flow.run takes it. */
  readonly path: string;
  readonly source: string;
  /** Against the flow as it was; its paths begin at the home of the service. */
  readonly patch: string;
}

type Noted = Repair & { readonly trial: boolean };

/** Gathers what was done by hand where flows failed, and makes mended flows of it. */
export class Healer {
  readonly #sources = new Map<string, string>();
  readonly #repairs = new Map<string, Noted[]>();

  /** A failed flow goes on. What was done at one place in several goes belongs together. */
  note({ failed, how, byHand, trial }: Resumption): void {
    const { flow, line, column } = failed;
    if (flow === null || line === null) return;
    // It was only too early: nothing in the flow is wrong.
    if (how === 'before' && !byHand.some(isActing)) return;
    const repairs = this.#repairs.get(flow) ?? [];
    this.#repairs.set(flow, repairs);
    const known = repairs.findIndex((repair) => repair.line === line && repair.column === column);
    const earlier = repairs[known];
    // A locator that was tried and failed too is no part of it.
    const before = earlier?.byHand.slice(0, earlier.trial ? -1 : undefined) ?? [];
    const repair = { line, column, failed, how, byHand: [...before, ...byHand], trial };
    if (known === -1) repairs.push(repair);
    else repairs[known] = repair;
  }

  /**
   * The mended flows, once the flow has passed. Flows whose places cannot be mended all are left out: a half mended one
   * would fail too.
   * @param calls all that the flow did, the mended places included
   */
  heal(calls: readonly TapedCall[]): readonly HealedFlow[] {
    for (const { target, answer } of calls) {
      const loaded = target === 'flow.load' && answer.ok ? answer.value : null;
      if (isLoaded(loaded)) this.#sources.set(loaded.path, loaded.source);
    }
    return [...this.#repairs].flatMap(([path, repairs]) => {
      const source = this.#sources.get(path);
      if (source === undefined || repairs.some((repair) => workedBefore(repair, calls))) return [];
      const repaired = repairSource(source, repairs);
      if (repaired === null) return [];
      return [{ path, source: repaired, patch: patchOf(`flows/${path}.js`, source, repaired) }];
    });
  }
}

/** As `patch` and `git apply` take it. */
function patchOf(path: string, before: string, after: string): string {
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, options);
}

/** The same call at the same place went well another time: what replaces it would be wrong there. */
function workedBefore({ failed, how, line, column }: Repair, calls: readonly TapedCall[]): boolean {
  if (how === 'before') return false;
  const here = calls.filter((call) => call.flow === failed.flow && call.line === line && call.column === column);
  return here.length > 1;
}

function isLoaded(value: unknown): value is { readonly path: string; readonly source: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'path') === 'string' &&
    typeof Reflect.get(value, 'source') === 'string'
  );
}
