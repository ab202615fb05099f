import t from 'tap';
import { advanceLife, type LifeInput, type SessionLife } from '#troupe/supervisor/sessions/session-life.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

function live(...inputs: readonly LifeInput[]): SessionLife {
  return inputs.reduce<SessionLife>(advanceLife, { kind: 'waiting' });
}

t.test('a session waits, starts, runs its scripts and ends', async (t) => {
  t.same(live('Begun'), { kind: 'starting' });
  t.same(live('Begun', 'Opened', 'ScriptCame', 'ScriptCame', 'ScriptLeft'), { kind: 'running', scripts: 1 });
  t.same(live('Begun', 'Opened', 'Ended'), { kind: 'ending' });
});

t.test('a job that begins again waits again', async (t) => {
  t.same(live('Begun', 'Opened', 'ScriptCame', 'Requeued', 'ScriptLeft'), { kind: 'waiting' });
  t.same(live('Begun', 'Requeued', 'Begun', 'Opened'), { kind: 'running', scripts: 0 });
  t.same(live('Ended', 'Requeued'), { kind: 'ending' });
});

t.test('what comes to a session that ends changes nothing, except that a script is refused', async (t) => {
  for (const input of ['Begun', 'Opened', 'ScriptLeft', 'Ended'] as const) {
    t.same(live('Ended', input), { kind: 'ending' });
  }
  t.throws(() => live('Ended', 'ScriptCame'), { code: 'SESSION_ENDED' });
  t.throws(() => live('Begun', 'ScriptCame'), { code: 'SESSION_ENDED' });
});

t.test('an input that cannot come is a fault', async (t) => {
  t.throws(() => live('Opened'), { code: 'INTERNAL' });
  t.throws(() => live('Begun', 'Begun'), { code: 'INTERNAL' });
  t.throws(() => live('Begun', 'ScriptLeft'), { code: 'INTERNAL' });
});
