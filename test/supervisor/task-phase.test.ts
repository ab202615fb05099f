import t from 'tap';
import type { JournalEvent, SessionEvent } from '#troupe/protocol/events.js';
import { TaskProgress } from '#troupe/supervisor/sessions/task/task-phase.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const FILES = ['login.js', 'shop/buy.js'];

const started: SessionEvent = { type: 'SessionStarted', data: { driver: 'process', browser: 'x', thread: 1 } };
const modelStarted: SessionEvent = {
  type: 'ModelStarted',
  data: { model: 'a/b', maxIterations: 5, maxTokens: null, system: '', task: '', page: null },
};
const attemptFailed: SessionEvent = {
  type: 'AttemptFailed',
  data: { attempt: 1, retriesLeft: 1, error: { code: 'WORKER_LOST', error: 'gone' } },
};
const error = { code: 'LOCATOR_NOT_FOUND', error: 'No button' } as const;

function passed(path: string, depth = 1): SessionEvent {
  return { type: 'FlowFinished', data: { path, depth, status: 'passed', durationMs: 1 } };
}

function failed(path: string, depth: number, flow: string, line: number): SessionEvent {
  return { type: 'FlowFinished', data: { path, depth, status: 'failed', durationMs: 1, error, flow, line, column: 1 } };
}

function phase(maxIterations: number, ...events: readonly SessionEvent[]) {
  const progress = new TaskProgress(FILES);
  for (const [index, event] of events.entries()) {
    progress.add({
      ...event,
      seq: index + 1,
      at: '2026-01-01T00:00:00.000Z',
      sessionId: 'a',
    } as unknown as JournalEvent);
  }
  return progress.phase(maxIterations);
}

t.test('a job that may be in a flow has no continuation; one past its last flow has', async (t) => {
  t.match(phase(0), { kind: 'flows' });
  t.match(phase(0, started), { kind: 'cut' }, 'what a flow does may be ahead of what it tells');
  t.match(phase(5, started, passed('login')), { kind: 'cut' });
  t.match(
    phase(5, started, passed('shop/buy', 2), passed('login')),
    { kind: 'cut' },
    'a flow called by another is none',
  );
  const both = [started, passed('login'), passed('shop/buy')] as const;
  t.match(phase(0, ...both), { kind: 'over', outcome: { status: 'passed', flows: 2 } });
  t.match(phase(5, ...both), { kind: 'model', failed: null, known: { start: null } });
});

t.test('a flow that failed is handed on with the place where it failed', async (t) => {
  const events = [started, failed('parts/field', 2, 'parts/field', 7), failed('login', 1, 'login', 3)] as const;
  const where = { flow: 'login.js', error: { code: error.code, details: { flow: 'parts/field', line: 7 } } };
  t.match(phase(5, ...events), { kind: 'model', failed: where });
  t.match(phase(5, ...events, modelStarted), { kind: 'model', failed: where, known: { start: { model: 'a/b' } } });
  t.match(phase(0, ...events), {
    kind: 'over',
    outcome: { status: 'failed', flow: 'login.js', error: { code: 'FLOW_FAILED', error: 'parts/field:7: No button' } },
  });
});

t.test('a flow that did nothing is not handed on, and one that was skipped has passed', async (t) => {
  const nothing = { code: 'FLOW_FAILED', error: 'The flow did nothing' } as const;
  const data = { path: 'login', depth: 1, status: 'failed', durationMs: 1, error: nothing } as const;
  t.match(phase(5, started, { type: 'FlowFinished', data }), { kind: 'over', outcome: { flow: 'login.js' } });
  const skipped = { ...data, status: 'skipped', error: undefined } as const;
  t.match(phase(0, started, { type: 'FlowFinished', data: skipped }, passed('shop/buy')), {
    kind: 'over',
    outcome: { status: 'passed', flows: 2, skipped: 1 },
  });
});

t.test('a failed attempt leaves nothing behind but what it spent', async (t) => {
  const tokens = { input: 10, cached: 0, output: 5 };
  const answer: SessionEvent = {
    type: 'ModelCallFinished',
    data: { call: 1, attempt: 1, model: 'a/b', durationMs: 1, text: 'x', toolCalls: [], finish: 'stop', tokens },
  };
  const first = [started, passed('login'), passed('shop/buy'), modelStarted, answer, attemptFailed] as const;
  t.match(phase(5, ...first), { kind: 'flows' });
  t.match(phase(5, ...first, started), { kind: 'cut' });
  t.match(phase(5, ...first, started, passed('login'), passed('shop/buy')), {
    kind: 'model',
    known: { start: null, turns: [], earlier: 1, tokens },
  });
});
