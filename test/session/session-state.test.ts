import t from 'tap';
import { type SessionInput, type SessionState, transition } from '#troupe/session/session-state.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lost = { code: 'WORKER_LOST', error: 'the browser is gone' } as const;

const STATES: readonly SessionState[] = [
  { kind: 'new' },
  { kind: 'opening' },
  { kind: 'idle' },
  { kind: 'scripting', script: 1 },
];

const ALLOWED: readonly (readonly [SessionState['kind'], SessionInput, SessionState])[] = [
  ['new', { type: 'Opening' }, { kind: 'opening' }],
  ['opening', { type: 'Opened' }, { kind: 'idle' }],
  ['idle', { type: 'ScriptBegan', script: 7 }, { kind: 'scripting', script: 7 }],
  ['scripting', { type: 'ScriptEnded' }, { kind: 'idle' }],
];

t.test('transition takes each state only where the drawing leads', async (t) => {
  for (const state of STATES) {
    for (const [from, input, to] of ALLOWED) {
      if (state.kind === from) t.same(transition(state, input), to, `${state.kind} + ${input.type}`);
      else t.throws(() => transition(state, input), { code: 'INTERNAL' }, `${state.kind} + ${input.type}`);
    }
    t.same(transition(state, { type: 'Ended', error: lost }), { kind: 'ended', error: lost });
  }
});

t.test('transition keeps the first end, and answers a script after it with that end', async (t) => {
  const ended: SessionState = { kind: 'ended', error: lost };
  t.equal(transition(ended, { type: 'Ended', error: { code: 'SESSION_ENDED', error: 'later' } }), ended);
  t.equal(transition(ended, { type: 'ScriptEnded' }), ended);
  t.throws(() => transition(ended, { type: 'ScriptBegan', script: 1 }), { code: 'WORKER_LOST' });
});
