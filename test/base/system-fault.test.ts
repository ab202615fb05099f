import t from 'tap';
import { asAbsent, sentenceOf, systemFault } from '#troupe/base/system-fault.js';
import { encodeError } from '#troupe/protocol/errors.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const thrown = (code: string, syscall: string) =>
  Object.assign(new Error(`${code}: as the system says it, ${syscall}`), { code, syscall });

t.test('what the system refuses is UNAVAILABLE, with its remedy and its code', (t) => {
  const remedies: readonly [string, string, RegExp][] = [
    ['ENOSPC', 'write', /disk is full; free disk space/],
    ['EDQUOT', 'write', /quota is used up; free disk space/],
    ['EROFS', 'open', /mount it for writing/],
    ['EIO', 'fsync', /check the disk/],
    ['EMFILE', 'open', /raise the limit of open files/],
    ['EMFILE', 'spawn sh', /raise the limit of open files/],
    ['ENFILE', 'open', /fs\.file-max/],
    ['EAGAIN', 'spawn sh', /raise the limit of processes/],
    ['ENOMEM', 'spawn sh', /free memory/],
  ];
  for (const [code, syscall, remedy] of remedies) {
    const body = { code: 'UNAVAILABLE', error: remedy, details: { cause: code } };
    t.match(encodeError(thrown(code, syscall)), body, `${code} of ${syscall}`);
    t.throws(() => asAbsent(thrown(code, syscall)), { code }, 'it does not say that a file is not there');
  }
  t.end();
});

t.test('what says only that something is not there is no fault of the system', (t) => {
  for (const [code, syscall] of [
    ['ENOENT', 'open'],
    ['EACCES', 'open'],
    ['EAGAIN', 'read'],
  ] as const) {
    t.equal(systemFault(thrown(code, syscall)), null);
    t.equal(asAbsent(thrown(code, syscall)), null);
    t.match(sentenceOf(thrown(code, syscall)), /as the system says it/);
  }
  t.equal(sentenceOf('a text'), 'a text');
  t.end();
});
