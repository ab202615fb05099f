import type { ErrorBody } from '../protocol/errors.js';

/** Messages between the two ends of a thread port. Tuples, because thousands of them are sent. */
export const FrameKind = {
  tell: 0,
  ask: 1,
  cancel: 2,
  reply: 3,
  failure: 4,
  gone: 5,
  event: 6,
  terminated: 7,
} as const;

export type Frame =
  | readonly [kind: typeof FrameKind.tell, actor: number, type: string, payload: unknown]
  | readonly [kind: typeof FrameKind.ask, actor: number, ask: number, type: string, payload: unknown]
  | readonly [kind: typeof FrameKind.cancel, actor: number, ask: number]
  | readonly [kind: typeof FrameKind.reply, ask: number, value: unknown]
  | readonly [kind: typeof FrameKind.failure, ask: number, error: ErrorBody]
  /** The actor had ended before the ask arrived: no handler has seen it. */
  | readonly [kind: typeof FrameKind.gone, ask: number]
  | readonly [kind: typeof FrameKind.event, actor: number, event: unknown]
  | readonly [
      kind: typeof FrameKind.terminated,
      actor: number,
      reason: 'normal' | 'shutdown' | 'crash' | 'hang',
      error: ErrorBody | null,
    ];
