import type { ActorKind } from '#troupe/actors/actor.js';

type Reply<P, R> = { readonly payload: P; readonly reply: R };

/** What the actor of specimen.thread.mjs can be told to do. */
export type SpecimenMessages = {
  Echo: Reply<unknown, unknown>;
  Args: Reply<null, unknown>;
  Fail: Reply<{ code: string; message: string }, never>;
  Throw: Reply<null, never>;
  Unsendable: Reply<null, never>;
  /** Holds the mailbox until the asker gives up. */
  Hold: Reply<null, never>;
  HoldLater: Reply<null, never>;
  /** Holds the mailbox for ever. */
  Hang: Reply<null, never>;
  /** Answers, and blocks its whole thread for ever. */
  Block: Reply<null, undefined>;
  Emit: Reply<{ events: readonly string[] }, undefined>;
  Crash: Reply<null, undefined>;
  End: Reply<null, undefined>;
  Shutdown: Reply<null, undefined>;
  ExitThread: Reply<null, never>;
  EatHeap: Reply<null, never>;
};

export interface SpecimenArgs {
  /** Emitted when it is made. */
  readonly hello?: string;
  readonly hangOnStop?: boolean;
  readonly attempt?: number;
}

export const Specimen: ActorKind<SpecimenMessages, SpecimenArgs | null, string> = { name: 'specimen' };

export const SPECIMEN_THREAD = new URL('./specimen.thread.mjs', import.meta.url);

/** Long enough for a busy machine. */
export const SOON = { deadlineMs: 20_000 };
