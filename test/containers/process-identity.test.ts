import t from 'tap';
import { leaseNamed, processesOf } from '#troupe/containers/process/process-identity.js';
import type { ProcessEntry } from '#troupe/containers/process/process-table.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const ROOT = '/srv/troupe/tmp/browsers';
const FOLDER = `${ROOT}/b-one`;
const BINARY = '/usr/lib/chromium/chromium';
const NOTE = { leaseId: 'one', pid: 100, startTicks: 5_000, binary: BINARY };

function entry(pid: number, more: Partial<ProcessEntry>): ProcessEntry {
  return { pid, group: pid, session: pid, startTicks: 6_000, commandLine: 'sh\0', ...more };
}

t.test('A command line names a lease only where Chromium is told its profile', async (t) => {
  const cases: [string, string | null][] = [
    [`${BINARY}\0--user-data-dir=${FOLDER}/profile\0about:blank\0`, 'b-one'],
    [`${BINARY} --type=renderer --user-data-dir=${FOLDER}/profile --lang=en`, 'b-one'],
    [`crashpad\0--database=${FOLDER}/profile/Crash Reports\0`, 'b-one'],
    [`crashpad\0--monitor-self\0--database=${FOLDER}/home/.config/chromium/Crash Reports\0`, 'b-one'],
    [`${BINARY}\0--user-data-dir=${ROOT}-2/b-one/profile\0`, null],
    [`${BINARY}\0--user-data-dir=${FOLDER}/profile-of-mine\0`, null],
    [`${BINARY}\0--user-data-dir=/elsewhere${FOLDER}/profile\0`, null],
    [`tail\0-f\0${FOLDER}/profile/log\0`, null],
    ['', null],
  ];
  for (const [commandLine, name] of cases) t.equal(leaseNamed(commandLine, ROOT), name, commandLine);
});

t.test('The processes of a lease are its group, its session and whoever names its profile', async (t) => {
  const table = [
    entry(1, {}),
    entry(100, { startTicks: 5_000, commandLine: `${BINARY}\0--user-data-dir=${FOLDER}/profile\0` }),
    entry(101, { group: 100, session: 100 }),
    entry(102, { group: 102, session: 100 }),
    entry(103, { commandLine: `crashpad\0--database=${FOLDER}/profile\0` }),
    entry(104, { commandLine: `${BINARY}\0--user-data-dir=${ROOT}/b-one2/profile\0` }),
  ];
  t.same(
    processesOf(table, FOLDER, NOTE).map((one) => one.pid),
    [100, 101, 102, 103],
  );
});

t.test('A group whose number was reused is spared, and one without a leader only gives up our program', async (t) => {
  const reused = [entry(100, { startTicks: 9_000 }), entry(101, { group: 100, session: 100, commandLine: BINARY })];
  t.same(processesOf(reused, FOLDER, NOTE), []);
  const headless = [
    entry(101, { group: 100, session: 100, commandLine: `${BINARY} --type=zygote` }),
    entry(102, { group: 100, session: 100 }),
    entry(103, { group: 100, session: 100, commandLine: BINARY, startTicks: 4_000 }),
    entry(104, { group: 100, session: 100, commandLine: '' }),
    entry(105, { group: 100, session: 100, commandLine: '', startTicks: 4_000 }),
    entry(106, { group: 100, session: 100, commandLine: '/proc/self/exe\0--type=utility\0' }),
    entry(107, { group: 100, session: 100, commandLine: '/proc/self/exe --type=utility', startTicks: 4_000 }),
    entry(108, { group: 108, session: 108, commandLine: '/proc/self/exe\0--type=utility\0' }),
  ];
  t.same(
    processesOf(headless, FOLDER, NOTE).map((one) => one.pid),
    [101, 104, 106],
    'one that is just becoming another program has no command line, or no name of its own, and is looked at again',
  );
});
