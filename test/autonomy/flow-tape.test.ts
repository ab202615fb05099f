import t from 'tap';
import { FlowTape } from '#troupe/autonomy/flow-tape.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { HostCall } from '#troupe/script/host-module.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('A look on the tape is whole, and is found again when the sandbox has a newer list', async (t) => {
  const made: (readonly unknown[])[] = [];
  const fault = new TroupeError('LOCATOR_NOT_FOUND', 'No such element');
  const tape = new FlowTape();
  const call: HostCall = async (args) => {
    made.push(args);
    return { id: 7, elements: [] };
  };
  const act: HostCall = async () => {
    throw fault;
  };
  const { calls } = tape.wrap({ name: 'agent', prelude: '', calls: { look: call, in: call, act } });
  const site = { kind: 'flow', flow: 'buy', line: 1, column: 1, flowRun: 1 };
  const context = { site } as Parameters<HostCall>[1];
  const flow = async (id: number | null) => {
    await calls.look?.([{ full: true }, id], context);
    await calls.in?.(['ben', 'look', null, id], context);
    await calls.act?.(['{button}Pay', 'click'], context);
  };
  tape.begin();
  await t.rejects(flow(3), { code: 'LOCATOR_NOT_FOUND' });
  t.same(made, [[{ full: true }], ['ben', 'look', null]], 'what the sandbox has is not said');
  tape.stop();
  await calls.look?.([null, 7], { ...context, site: { ...context.site, kind: 'script' } });
  t.same(made.at(-1), [null, 7], 'outside of flows only what is new is sent');
  tape.continueWith({ code: fault.code, error: fault.message }, { kind: 'retry' }, () => undefined);
  await t.rejects(flow(7), { code: 'LOCATOR_NOT_FOUND' });
  t.equal(made.length, 3, 'the looks are answered from the tape');
});
