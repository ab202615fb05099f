import t from 'tap';
import { HostLimits, HostPlaces } from '#troupe/cluster/host-limits.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('A host falls under its own limit, or else under that of the longest domain that it is in', async (t) => {
  const limits = new HostLimits({
    'Staging.Example.com': 4,
    '*.example.com': 8,
    '*.eu.example.com': 2,
    'münchen.example': 1,
    '127.0.0.1': 3,
  });
  t.same(limits.limitsOf('staging.example.com'), ['staging.example.com']);
  t.same(limits.limitsOf('shop.example.com'), ['*.example.com']);
  t.same(limits.limitsOf('a.b.eu.example.com'), ['*.eu.example.com']);
  t.same(limits.limitsOf('xn--mnchen-3ya.example'), ['xn--mnchen-3ya.example']);
  t.same(limits.limitsOf('127.0.0.1'), ['127.0.0.1']);
  t.same(limits.limitsOf('example.com'), [], 'the domain itself is not in *.example.com');
  t.same(limits.limitsOf('other.test'), []);
  t.same(limits.limitsOf(''), []);
  t.same(
    limits.limitsOf('a.example.com b.example.com staging.example.com'),
    ['*.example.com', 'staging.example.com'],
    'once each',
  );
  t.equal(limits.most('*.eu.example.com'), 2);
  t.equal(new HostLimits({}).isEmpty, true);
});

t.test('Who must wait keeps a free place of its other hosts, and takes none', async (t) => {
  const limits = new HostLimits({ a: 2, b: 1 });
  const places = new HostPlaces(limits);
  places.take(['b']);
  const round = places.round();
  t.equal(round.mayTake(['a', 'b']), false);
  t.equal(round.mayTake(['a']), true, 'one of two is kept');
  places.take(['a']);
  t.equal(round.mayTake(['a']), false);
  t.equal(round.mayTake([]), true);
  places.release(['b']);
  t.equal(places.round().mayTake(['a', 'b']), true, 'a new round keeps nothing');
  places.take(['a', 'b'], 3);
  t.same([places.taken('a'), places.taken('b')], [4, 3], 'what runs already is counted, even beyond the limit');
});
