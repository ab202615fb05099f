import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import type { ArtifactStore } from '#troupe/artifact-store/artifact-store.js';
import { FolderStore } from '#troupe/artifact-store/folder-store.js';
import { Journal } from '#troupe/journal/journal.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { SessionId, type SessionRecord } from '#troupe/protocol/session.js';
import { ReportPool } from '#troupe/report/report-pool.js';
import { ArtifactKeeper } from '#troupe/supervisor/artifacts/artifact-keeper.js';
import { BatchArtifacts } from '#troupe/supervisor/artifacts/batch-artifacts.js';
import { ManualClock } from '../actors/manual-clock.js';
import { sampleRecord } from '../report/sample-session.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace } from '../support/test-store.js';

guardLeaks(t);

const NAMES = [
  'report.html',
  'report.json',
  'report.junit.xml',
  'screenshots/001.png',
  'session.json',
  'transcript.jsonl',
];

/** A store that can fail: `refuses` says for which sessions. */
function faultyStore(folder: string) {
  const store = new FolderStore(folder);
  const state = { refuses: (_: string): boolean => false, puts: [] as string[], release: Promise.resolve() };
  const asked = async (session: string) => {
    if (state.refuses(session)) throw new TroupeError('UNAVAILABLE', 'the store does not answer');
  };
  const faulty: ArtifactStore = {
    description: store.description,
    async put(place, content, options) {
      try {
        await state.release;
        await asked(place.session);
      } catch (error) {
        content.destroy();
        throw error;
      }
      await store.put(place, content, options);
      state.puts.push(`${place.session}/${place.path}`);
    },
    list: async (session) => asked(session).then(() => store.list(session)),
    open: async (place) => asked(place.session).then(() => store.open(place)),
    remove: async (session) => asked(session).then(() => store.remove(session)),
    dropUnfinished: async (session) => asked(session).then(() => store.dropUnfinished(session)),
    check: () => store.check(),
  };
  return { store: faulty, state };
}

const journal = await Journal.open(await journalPlace(t, join(t.testdir({}), 'troupe.db')));
const pool = new ReportPool();
t.teardown(async () => {
  await pool.close();
  await journal.close();
});
let count = 0;

async function stage(t: Test) {
  const home = t.testdir({ store: {} });
  const sessionsDir = join(home, 'sessions');
  const folder = join(home, 'store');
  const clock = new ManualClock();
  const { store, state } = faultyStore(folder);
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const living = new Set<string>();
  const keepers: ArtifactKeeper[] = [];
  /** As after a start of the service; `isStarted: false` is one that does not upload yet. */
  const keeperOf = ({ isStarted = true, node }: { isStarted?: boolean; node?: string } = {}) => {
    const keeper = new ArtifactKeeper(journal, pool, sessionsDir, { upload: { store, clock, log }, node });
    if (isStarted) keeper.start((id) => living.has(id));
    keepers.push(keeper);
    return keeper;
  };
  t.teardown(async () => {
    for (const keeper of keepers) await keeper.close(0);
  });
  /** An ended session with a picture in its folder. */
  const add = async (changes: Partial<SessionRecord> = { artifacts: 'pending' }): Promise<SessionRecord> => {
    count += 1;
    const id = SessionId.parse(`s${String(count).padStart(11, '0')}`);
    const record = sampleRecord({ id, sessionId: id, ...changes });
    await journal.write({ records: [{ record, lease: null }] });
    mkdirSync(join(sessionsDir, id, 'screenshots'), { recursive: true });
    writeFileSync(join(sessionsDir, id, 'screenshots', '001.png'), `picture of ${id}`);
    return record;
  };
  const recordOf = async ({ id }: SessionRecord) => (await journal.get(id))?.record ?? null;
  const moved = async (record: SessionRecord) => {
    await eventually(`${record.id} is in the store`, async () => (await recordOf(record))?.artifacts === 'stored');
    await eventually('no folder is left', () => folders().every((name) => !name.includes(record.id)));
  };
  const folders = () => (existsSync(sessionsDir) ? readdirSync(sessionsDir) : []);
  /** All files of the store, also those that are being written. */
  const filesOf = ({ id }: SessionRecord) => {
    const dir = join(folder, 'sessions', id);
    if (!existsSync(dir)) return [];
    const found = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return found.map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1)).sort();
  };
  return {
    sessionsDir,
    folder,
    clock,
    journal,
    pool,
    state,
    lines,
    living,
    keeperOf,
    add,
    recordOf,
    moved,
    folders,
    filesOf,
  };
}

t.test('What a session leaves is moved to the store when it has ended, and is read there', async (t) => {
  const { keeperOf, add, moved, filesOf, recordOf, pool, folders } = await stage(t);
  const keeper = keeperOf();
  const ended = await add();
  await keeper.finish(ended);
  await moved(ended);
  t.same(filesOf(ended), NAMES);
  const record = (await recordOf(ended)) ?? ended;
  const listed = await keeper.artifacts(record, null);
  t.same(
    listed.map(({ path }) => path),
    ['session.json', 'transcript.jsonl', 'report.json', 'report.html', 'report.junit.xml', 'screenshots/001.png'],
  );
  const picture = await keeper.artifact(record, null, 'screenshots/001.png');
  t.equal(picture.bytes, `picture of ${ended.id}`.length);
  t.equal(await text(picture.open({ start: 0, end: 6 })), 'picture');
  t.equal(await text((await keeper.screenshot(record, '001.png')).stream), `picture of ${ended.id}`);
  const session = await keeper.artifact(record, null, 'session.json');
  t.notMatch(await text(session.open({ start: 0, end: session.bytes - 1 })), /"artifacts"/);
  t.ok((await buffer(await keeper.archive(record, null))).length > 500);
  await t.rejects(keeper.artifact(record, null, 'nothing.txt'), { code: 'NOT_FOUND' });
  const batch = new BatchArtifacts({ keeper, pool, now: async () => ({ record, files: null }) });
  t.match(await batch.junit('a run', [record], {}, 'http://troupe.test'), /<testsuite/);
  t.ok((await buffer(batch.archive([record]))).length > 500);
  const beforeTheEnd = { ...ended, status: 'running', state: 'running', endedAt: null } as const;
  t.equal((await keeper.artifacts(beforeTheEnd, null)).length, NAMES.length, 'a record of before the end');
  t.same(filesOf(ended), NAMES, 'reading added nothing');
  t.same(folders(), []);
  await keeper.add(record, async (dir) => {
    mkdirSync(join(dir, 'baselines'), { recursive: true });
    writeFileSync(join(dir, 'baselines', 'cart.png'), 'approved');
  });
  t.same(filesOf(ended), ['baselines/cart.png', ...NAMES]);
  t.same(folders(), []);
});

t.test('Wherever a kill stops an upload, the next start finishes it, and nothing is left twice', async (t) => {
  const { keeperOf, add, moved, filesOf, folders, sessionsDir, folder, state, recordOf } = await stage(t);
  const before = keeperOf({ isStarted: false });
  const made = async (changes?: Partial<SessionRecord>) => {
    const record = await add(changes);
    await before.write(record);
    return record;
  };
  const storeOf = ({ id }: SessionRecord) => join(folder, 'sessions', id);
  const dirOf = ({ id }: SessionRecord) => join(sessionsDir, id);
  const untouched = await made();
  const half = await made();
  mkdirSync(join(storeOf(half), 'screenshots'), { recursive: true });
  writeFileSync(join(storeOf(half), 'session.json'), 'of an earlier attempt');
  writeFileSync(join(storeOf(half), 'screenshots', '.1234.part'), 'half a pic');
  const unrecorded = await made();
  cpSync(dirOf(unrecorded), storeOf(unrecorded), { recursive: true });
  const unremoved = await made({ artifacts: 'stored' });
  cpSync(dirOf(unremoved), storeOf(unremoved), { recursive: true });
  const removing = await made({ artifacts: 'stored' });
  cpSync(dirOf(removing), storeOf(removing), { recursive: true });
  renameSync(dirOf(removing), join(sessionsDir, `.removing-${removing.id}`));
  const withoutFolder = await add();
  renameSync(dirOf(withoutFolder), join(folder, 'elsewhere'));
  const ofNoStore = await made({});

  const keeper = keeperOf();
  for (const record of [untouched, half, unrecorded, unremoved, removing, ofNoStore]) {
    await moved(record);
    t.same(filesOf(record), NAMES);
    t.match(readFileSync(join(storeOf(record), 'session.json'), 'utf8'), record.id);
  }
  t.notOk(state.puts.some((put) => put.startsWith(removing.id)));
  t.equal((await recordOf(withoutFolder))?.artifacts, 'pending');
  await keeper.artifacts(withoutFolder, null);
  await moved(withoutFolder);
  t.same(
    filesOf(withoutFolder),
    NAMES.filter((name) => !name.startsWith('screenshots/')),
  );
  t.same(folders(), []);
});

t.test('An outage is tried by one session for all, and is over for all at once', async (t) => {
  const { keeperOf, add, moved, state, clock, lines, recordOf, filesOf } = await stage(t);
  const keeper = keeperOf();
  let tried = 0;
  state.refuses = () => {
    tried += 1;
    return true;
  };
  const records = [await add(), await add(), await add(), await add()];
  for (const record of records) await keeper.finish(record);
  await eventually('it is in the log', () => lines.length > 0);
  t.same(lines, ['artifacts are not uploaded: the store does not answer; it is tried again']);
  const first = records[0] ?? (await add());
  t.equal((await text((await keeper.report(first, 'report.json')).stream)).length > 100, true, 'the home has it');
  const before = tried;
  for (let minute = 0; minute < 12; minute += 1) {
    clock.advance(60_000);
    await eventually('attempts have ended', () => clock.pending > 0);
  }
  t.ok(tried - before <= 12, `${tried - before} attempts in 12 minutes`);
  t.equal(lines.length, 2);
  t.match(
    lines[1],
    /^artifacts are not uploaded: .*; the artifacts of 4 sessions are still in the home, .* every five minutes$/,
  );
  t.equal((await recordOf(first))?.artifacts, 'pending');
  state.refuses = () => false;
  clock.advance(5 * 60_000);
  for (const record of records) {
    await eventually('attempts go on', async () => {
      clock.advance(60_000);
      return (await recordOf(record))?.artifacts === 'stored';
    });
    await moved(record);
    t.same(filesOf(record), NAMES);
  }
  t.equal(lines.at(-1), 'artifacts are uploaded again');
});

t.test('A session that the store always refuses does not hold up the others', async (t) => {
  const { keeperOf, add, moved, state, clock, recordOf } = await stage(t);
  const keeper = keeperOf();
  const refused = await add();
  state.refuses = (session) => session === refused.id;
  await keeper.finish(refused);
  const others = [await add(), await add(), await add()];
  for (const record of others) await keeper.finish(record);
  for (const record of others) {
    await eventually('it is uploaded', async () => {
      clock.advance(1_000);
      return (await recordOf(record))?.artifacts === 'stored';
    });
    await moved(record);
  }
  t.equal((await recordOf(refused))?.artifacts, 'pending');
});

t.test('A reader that takes its time keeps its folder, and holds up no upload', async (t) => {
  const { keeperOf, add, moved, recordOf, folders } = await stage(t);
  const keeper = keeperOf({ isStarted: false });
  const read = [await add(), await add(), await add()];
  const sources = await Promise.all(read.map((record) => keeper.source(record, null)));
  for (const record of read) await keeper.finish(record);
  const other = await add();
  await keeper.finish(other);
  await moved(other);
  for (const record of read)
    await eventually('it is stored', async () => (await recordOf(record))?.artifacts === 'stored');
  t.same(folders().sort(), read.map(({ id }) => id).sort());
  for (const { release } of sources) release();
  for (const record of read) await moved(record);
});

t.test('A session that is removed leaves nothing, also in the middle of its upload', async (t) => {
  const { keeperOf, add, state, filesOf, folders, journal } = await stage(t);
  const keeper = keeperOf();
  const record = await add();
  let goOn = () => {};
  state.release = new Promise((resolve) => {
    goOn = resolve;
  });
  await keeper.finish(record);
  await eventually('it is being uploaded', () => folders().includes(record.id));
  const removed = keeper.remove(record.id);
  goOn();
  await removed;
  await journal.remove(record.id);
  t.same(filesOf(record), []);
  t.same(folders(), []);
});

t.test('What cannot be removed during an outage is uploaded after it, and can be removed then', async (t) => {
  const { keeperOf, add, moved, state, clock, filesOf, folders, journal, recordOf } = await stage(t);
  const keeper = keeperOf();
  state.refuses = () => true;
  const record = await add();
  await keeper.finish(record);
  await t.rejects(keeper.remove(record.id), { code: 'UNAVAILABLE' });
  t.same(folders(), [record.id]);
  const neverStarted = await add({ startedAt: null, endedAt: record.endedAt, status: 'stopped', state: 'stopped' });
  renameSync(join(keeper.dir(neverStarted.id)), join(keeper.dir(record.id), 'pdf'));
  await keeper.remove(neverStarted.id);
  state.refuses = () => false;
  await eventually('it is uploaded', async () => {
    clock.advance(60_000);
    return (await recordOf(record))?.artifacts === 'stored';
  });
  await moved(record);
  await keeper.remove(record.id);
  await journal.remove(record.id);
  t.same(filesOf(record), []);
});

t.test('A store that has nothing of a session, and a service without its store, say so', async (t) => {
  const { keeperOf, add, journal, pool, sessionsDir } = await stage(t);
  const keeper = keeperOf();
  const record = await add({ artifacts: 'stored' });
  renameSync(join(sessionsDir, record.id), join(sessionsDir, 'elsewhere'));
  const without = new ArtifactKeeper(journal, pool, sessionsDir);
  const reads: readonly ((one: ArtifactKeeper) => Promise<unknown>)[] = [
    (one) => one.artifacts(record, null),
    (one) => one.report(record, 'report.json'),
    (one) => one.artifact(record, null, 'session.json'),
    (one) => one.screenshot(record, '001.png'),
    async (one) => buffer(await one.archive(record, null)),
  ];
  for (const read of reads) {
    await t.rejects(read(keeper), { code: 'UNAVAILABLE', message: /Nothing of the session is in the folder / });
    await t.rejects(read(without), { code: 'UNAVAILABLE', message: /set "artifacts" in troupe.json as it was/ });
  }
  t.notOk(existsSync(join(sessionsDir, record.id)), 'no report is made anew in place of what is elsewhere');
});

t.test('What a lost node leaves is stored without its files, which are added when it is back', async (t) => {
  const { keeperOf, add, moved, filesOf, sessionsDir, folder, recordOf } = await stage(t);
  const record = await add({ artifacts: 'pending', node: 'a' });
  const home = join(sessionsDir, '..', 'home-of-a');
  renameSync(sessionsDir, home);
  const read = async (keeper: ArtifactKeeper) =>
    (await keeper.artifacts((await recordOf(record)) ?? record, null)).map(({ path }) => path);
  const MADE = NAMES.filter((name) => !name.startsWith('screenshots/'));

  const b = keeperOf({ node: 'b' });
  t.same((await read(b)).sort(), ['artifacts-missing.txt', ...MADE], 'any node makes what it can of the journal');
  t.match(
    await text((await b.artifact(record, null, 'artifacts-missing.txt')).open({ start: 0, end: 10_000 })),
    /The node a, which ran /,
  );
  await keeperOf({ node: 'b' }).close(1_000);
  t.same(filesOf(record), [], 'reading does not store it in place of what the node has');
  t.equal((await recordOf(record))?.artifacts, 'pending');

  await b.finish(record);
  await moved(record);
  t.same(filesOf(record), ['artifacts-missing.txt', ...MADE], 'who ends the session stores it');

  renameSync(home, sessionsDir);
  keeperOf({ node: 'a' });
  await moved(record);
  t.same(filesOf(record), ['artifacts-missing.txt', ...NAMES], 'the node that comes back adds its files');
  const report = JSON.parse(readFileSync(join(folder, 'sessions', record.id, 'report.json'), 'utf8'));
  t.ok(
    report.artifacts.some(({ path }: { path: string }) => path === 'screenshots/001.png'),
    'and a report that lists them',
  );
});

t.test('A session that ran before its service became a node belongs to the node that has its folder', async (t) => {
  const { keeperOf, add, moved, filesOf, sessionsDir, recordOf } = await stage(t);
  const record = await add({ artifacts: 'pending' });
  const idle = await add({ artifacts: 'pending', startedAt: null });
  const home = join(sessionsDir, '..', 'home-of-a');
  renameSync(sessionsDir, home);
  const MADE = NAMES.filter((name) => !name.startsWith('screenshots/'));
  const b = keeperOf({ node: 'b' });
  const read = async (of: SessionRecord) => (await b.artifacts(of, null)).map(({ path }) => path).sort();
  t.same(await read(record), ['artifacts-missing.txt', ...MADE]);
  t.same(await read(record), ['artifacts-missing.txt', ...MADE], 'what was made is not taken for its folder');
  t.match(
    await text((await b.artifact(record, null, 'artifacts-missing.txt')).open({ start: 0, end: 10_000 })),
    /ran before its service became a node/,
  );
  b.uploadLeft(record);
  await b.close(1_000);
  await keeperOf({ node: 'b' }).close(1_000);
  t.same(filesOf(record), [], 'it is not stored without its files');
  t.equal((await recordOf(record))?.artifacts, 'pending');

  t.same(await read(idle), MADE, 'one that never started misses nothing');

  rmSync(sessionsDir, { recursive: true });
  renameSync(home, sessionsDir);
  keeperOf({ node: 'a' });
  await moved(record);
  t.same(filesOf(record), NAMES, 'the node that has them stores them');
  await moved(idle);
});
