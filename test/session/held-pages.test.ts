import t from 'tap';
import { HeldPages } from '#troupe/session/connection/held-pages.js';
import { ManualClock } from '../actors/manual-clock.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** Users by their letter, of which a, b and c hold new pages; the session of b with page p is `bp`. */
function pages() {
  const clock = new ManualClock();
  const held = new HeldPages<string>(clock);
  for (const user of ['a', 'b', 'c']) held.setHolds(user, true);
  const sent: string[] = [];
  const told = (session: string, waiting = true) =>
    held.attached(session[0] ?? '', session, { targetId: session.slice(1), waiting });
  const resume = (session: string) => held.resume(session[0] ?? '', session, () => sent.push(session));
  const took = () => sent.splice(0).join(' ');
  return { clock, held, told, resume, took };
}

t.test('A page starts when the last user lets it, even if it learned of it last', async (t) => {
  const { told, resume, took } = pages();
  told('ap');
  resume('ap');
  told('bp');
  told('cp');
  resume('cp');
  t.equal(took(), '');
  resume('bp');
  t.equal(took(), 'ap cp bp', 'in their order');
  resume('bp');
  t.equal(took(), 'bp', 'there is nothing to wait for any more');
});

t.test('Whoever leaves, is not to hold it, or has lost it, is not waited for', async (t) => {
  const { held, told, resume, took } = pages();
  for (const session of ['ap', 'bp', 'cp', 'aq', 'bq']) told(session);
  resume('ap');
  resume('aq');
  held.leave('b');
  t.equal(took(), '');
  told('cq', false);
  t.equal(took(), 'aq', 'the page does not wait for c');
  held.detached('c', 'cp');
  t.equal(took(), 'ap');
  told('ar');
  resume('ar');
  held.setHolds('c', false);
  t.equal(took(), 'ar');
});

t.test('A page starts after five seconds at most', async (t) => {
  const { clock, held, told, resume, took } = pages();
  for (const session of ['ap', 'bp', 'cp']) told(session);
  resume('ap');
  resume('bp');
  clock.advance(4_999);
  t.equal(took(), '');
  clock.advance(1);
  t.equal(took(), 'ap bp');
  resume('cp');
  t.equal(took(), 'cp');
  t.equal(clock.pending, 0);
  told('aq');
  held.close();
  t.equal(clock.pending, 0);
});

t.test('The commands of users that hold no page go on at once', async (t) => {
  const { told, resume, took } = pages();
  told('dp');
  resume('dp');
  t.equal(took(), 'dp');
});
