import t from 'tap';
import type { BrowserLease } from '#troupe/containers/driver.js';
import type { SessionChild } from '#troupe/supervisor/sessions/session-child.js';
import {
  attemptOf,
  heldBy,
  type LifecycleInput,
  type SessionHoldings,
  type SessionLifecycle,
  type Slot,
  transition,
} from '#troupe/supervisor/sessions/session-lifecycle.js';
import { Attempt } from '#troupe/supervisor/sessions/task/attempt.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** Stand for what is held: a transition only passes it on. */
const slot: Slot = { release: () => undefined };
const lease = { identity: { leaseId: 'lease' } } as unknown as BrowserLease;
const actor = { state: { kind: 'running' } } as unknown as SessionChild;
const attempt = new Attempt(new AbortController().signal);

const held: SessionHoldings = { slot, lease, video: null, actor, isReleasing: false };
const slotOnly: SessionHoldings = { slot, lease: null, video: null, actor: null, isReleasing: false };

const STATES = {
  waiting: { kind: 'waiting' },
  starting: { kind: 'starting', held: slotOnly, attempt },
  running: { kind: 'running', held, attempt, scripts: 1 },
  requeuing: { kind: 'requeuing', held },
  ending: { kind: 'ending', held },
  'ending, nothing held': { kind: 'ending', held: null },
  ended: { kind: 'ended' },
} as const satisfies Record<string, SessionLifecycle>;

const INPUTS = {
  Begun: { type: 'Begun', slot, attempt },
  LeaseAcquired: { type: 'LeaseAcquired', lease, video: null },
  ActorStarted: { type: 'ActorStarted', actor },
  Opened: { type: 'Opened' },
  ScriptSubmitted: { type: 'ScriptSubmitted' },
  ScriptSettled: { type: 'ScriptSettled' },
  Requeued: { type: 'Requeued' },
  ActorStopped: { type: 'ActorStopped' },
  BrowserReleasing: { type: 'BrowserReleasing' },
  Released: { type: 'Released' },
  Ended: { type: 'Ended' },
} as const satisfies Record<LifecycleInput['type'], LifecycleInput>;

type Cell = SessionLifecycle | 'same' | 'INTERNAL' | 'SESSION_ENDED';

const { waiting, starting, running, requeuing, ending, ended } = STATES;
const endingWith = (more: Partial<SessionHoldings>): SessionLifecycle => ({
  kind: 'ending',
  held: { ...held, ...more },
});

/** Every state and every input. */
const TABLE: Record<keyof typeof STATES, Record<keyof typeof INPUTS, Cell>> = {
  waiting: {
    Begun: starting,
    LeaseAcquired: 'INTERNAL',
    ActorStarted: 'INTERNAL',
    Opened: 'INTERNAL',
    ScriptSubmitted: 'SESSION_ENDED',
    ScriptSettled: 'same',
    Requeued: 'same',
    ActorStopped: 'INTERNAL',
    BrowserReleasing: 'INTERNAL',
    Released: waiting,
    Ended: STATES['ending, nothing held'],
  },
  starting: {
    Begun: 'INTERNAL',
    LeaseAcquired: { ...starting, held: { ...slotOnly, lease } },
    ActorStarted: { ...starting, held: { ...slotOnly, actor } },
    Opened: { kind: 'running', held: slotOnly, attempt, scripts: 0 },
    ScriptSubmitted: 'SESSION_ENDED',
    ScriptSettled: 'same',
    Requeued: { kind: 'requeuing', held: slotOnly },
    ActorStopped: starting,
    BrowserReleasing: { ...starting, held: { ...slotOnly, isReleasing: true } },
    Released: waiting,
    Ended: { kind: 'ending', held: slotOnly },
  },
  running: {
    Begun: 'INTERNAL',
    LeaseAcquired: running,
    ActorStarted: running,
    Opened: 'INTERNAL',
    ScriptSubmitted: { ...running, scripts: 2 },
    ScriptSettled: { ...running, scripts: 0 },
    Requeued: requeuing,
    ActorStopped: { ...running, held: { ...held, actor: null } },
    BrowserReleasing: { ...running, held: { ...held, isReleasing: true } },
    Released: waiting,
    Ended: ending,
  },
  requeuing: {
    Begun: 'INTERNAL',
    LeaseAcquired: requeuing,
    ActorStarted: requeuing,
    Opened: 'INTERNAL',
    ScriptSubmitted: 'SESSION_ENDED',
    ScriptSettled: 'same',
    Requeued: 'same',
    ActorStopped: { ...requeuing, held: { ...held, actor: null } },
    BrowserReleasing: { ...requeuing, held: { ...held, isReleasing: true } },
    Released: waiting,
    Ended: ending,
  },
  ending: {
    Begun: 'INTERNAL',
    LeaseAcquired: ending,
    ActorStarted: ending,
    Opened: 'same',
    ScriptSubmitted: 'SESSION_ENDED',
    ScriptSettled: 'same',
    Requeued: 'same',
    ActorStopped: endingWith({ actor: null }),
    BrowserReleasing: endingWith({ isReleasing: true }),
    Released: ended,
    Ended: ending,
  },
  'ending, nothing held': {
    Begun: { kind: 'ending', held: slotOnly },
    LeaseAcquired: 'INTERNAL',
    ActorStarted: 'INTERNAL',
    Opened: 'same',
    ScriptSubmitted: 'SESSION_ENDED',
    ScriptSettled: 'same',
    Requeued: 'same',
    ActorStopped: 'INTERNAL',
    BrowserReleasing: 'INTERNAL',
    Released: ended,
    Ended: STATES['ending, nothing held'],
  },
  ended: {
    Begun: { kind: 'ending', held: slotOnly },
    LeaseAcquired: 'INTERNAL',
    ActorStarted: 'INTERNAL',
    Opened: 'INTERNAL',
    ScriptSubmitted: 'SESSION_ENDED',
    ScriptSettled: 'same',
    Requeued: 'same',
    ActorStopped: 'INTERNAL',
    BrowserReleasing: 'INTERNAL',
    Released: ended,
    Ended: 'same',
  },
};

for (const [name, state] of Object.entries(STATES)) {
  t.test(`A session that is ${name} takes each input as the table says`, async (t) => {
    for (const [type, input] of Object.entries(INPUTS)) {
      const expected = TABLE[name as keyof typeof STATES][type as keyof typeof INPUTS];
      if (expected === 'INTERNAL' || expected === 'SESSION_ENDED') {
        t.throws(() => transition(state, input), { code: expected }, type);
      } else t.same(transition(state, input), expected === 'same' ? state : expected, type);
    }
  });
}

t.test('Nothing that is held is lost in any order of inputs', async (t) => {
  // Linear congruential, so that a failure can be repeated.
  let seed = 20261123;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed % below;
  };
  const inputs = Object.values(INPUTS);
  for (let round = 0; round < 2_000; round += 1) {
    let state: SessionLifecycle = waiting;
    let slots = 0;
    let lost = 0;
    for (let step = 0; step < 12; step += 1) {
      const input = inputs[random(inputs.length)] ?? INPUTS.Ended;
      try {
        const next: SessionLifecycle = transition(state, input);
        if (input.type === 'Begun') slots += 1;
        if (input.type === 'Released' && heldBy(state) !== null) slots -= 1;
        state = next;
      } catch {
        // Refused: nothing has changed.
      }
      if ((heldBy(state) === null ? 0 : 1) !== slots) lost += 1;
    }
    if (lost > 0) t.fail(`round ${round} holds another number of slots than it took`);
  }
  t.pass('2,000 orders of 12 inputs');
});

t.test('Only a session that starts or runs has an attempt', async (t) => {
  t.equal(attemptOf(starting), attempt);
  t.equal(attemptOf(running), attempt);
  for (const state of [waiting, requeuing, ending, ended]) t.equal(attemptOf(state), null);
});
