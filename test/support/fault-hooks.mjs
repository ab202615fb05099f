// Loaded into a service before anything of it (`node --import`): in all of its threads, a call that writes, renames, syncs,
// opens, connects, listens, starts a program or runs SQL can fail once with an error of the system. The test chooses the
// call over the process's channel:
//   {order: {mode: 'count'}}                    writes down each call, in the file that TROUPE_FAULT_LOG names
//   {order: {mode: 'fail', site, nth, code}}    fails the nth call of that kind, from that line or any, and writes that down
//   {order: null}                               neither
import childProcess from 'node:child_process';
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import workerThreads from 'node:worker_threads';

const { getEnvironmentData, isMainThread, setEnvironmentData, Worker, workerData } = workerThreads;
const real = { ...fs };

// What all threads share: the number of the order, how many calls are left until it strikes, and its text.
const [VERSION, LEFT, LENGTH] = [0, 1, 2];
const HEAD_BYTES = 12;
const ORDER_BYTES = 4_096;
if (isMainThread) {
  const shared = new SharedArrayBuffer(HEAD_BYTES + ORDER_BYTES);
  setEnvironmentData('troupe faults', { shared, log: process.env.TROUPE_FAULT_LOG });
}
const { shared, log } = getEnvironmentData('troupe faults');
const head = new Int32Array(shared, 0, HEAD_BYTES / 4);
const orderText = new Uint8Array(shared, HEAD_BYTES);
let known = { version: 0, order: null };

function order() {
  const version = Atomics.load(head, VERSION);
  if (version !== known.version) {
    const bytes = Buffer.from(orderText.slice(0, Atomics.load(head, LENGTH)));
    known = { version, order: JSON.parse(bytes.toString('utf8')) };
  }
  return known.order;
}

function give(next) {
  const bytes = Buffer.from(JSON.stringify(next));
  orderText.set(bytes);
  Atomics.store(head, LENGTH, bytes.length);
  Atomics.store(head, LEFT, next?.nth ?? 0);
  Atomics.add(head, VERSION, 1);
}

/** A call of these hooks, or one that is part of another that was seen. */
let inside = false;

function quietly(work) {
  const before = inside;
  inside = true;
  try {
    return work();
  } finally {
    inside = before;
  }
}

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const FRAME = new RegExp(`^\\s+at (?:(.*) \\()?(?:async )?(?:file://)?${DIST}(.+?):(\\d+):\\d+\\)?$`);
/** What these files do, they do for others: the call is counted as theirs. */
const HELPERS = /^files\//;

/** The line of the service that calls; null for a call of Node's own or of a library's. */
function placeNow() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const frames = String(new Error().stack).split('\n');
  Error.stackTraceLimit = stackTraceLimit;
  let helper = null;
  for (const frame of frames) {
    // Node reads the programs that it loads.
    if (frame.includes('node:internal/modules/')) return helper;
    const [, , file, line] = FRAME.exec(frame) ?? [];
    if (file === undefined) continue;
    if (!HELPERS.test(file)) return `${file}:${line}`;
    helper ??= `${file}:${line}`;
  }
  return helper;
}

/** The code that this call is to fail with, or null. */
function faultOf(kind, place = placeNow) {
  if (inside || Atomics.load(head, VERSION) === 0) return null;
  const now = order();
  const at = now === null ? null : place();
  if (at === null) return null;
  const site = `${kind} ${at}`;
  const isStruck = now.mode === 'fail' && (now.site === site || now.site === kind) && Atomics.sub(head, LEFT, 1) === 1;
  if (now.mode === 'count') quietly(() => real.appendFileSync(log, `${JSON.stringify({ site })}\n`));
  if (isStruck) quietly(() => real.appendFileSync(log, `${JSON.stringify({ failed: site, code: now.code })}\n`));
  return isStruck ? now.code : null;
}

const TEXTS = {
  ENOSPC: 'no space left on device',
  EIO: 'i/o error',
  EMFILE: 'too many open files',
  ECONNRESET: 'connection reset by peer',
};

function systemError(code, syscall, path) {
  const where = typeof path === 'string' ? ` '${path}'` : '';
  const error = new Error(`${code}: ${TEXTS[code]}, ${syscall}${where}`);
  return Object.assign(error, { errno: -constants.errno[code], code, syscall, ...(where === '' ? {} : { path }) });
}

/** The same arguments with half of the data, which stands at a position: what fails for want of room has often begun. */
function halved(args, at) {
  const copy = [...args];
  const data = copy[at];
  if (typeof data === 'string') copy[at] = data.slice(0, data.length / 2);
  else if (!ArrayBuffer.isView(data)) return null;
  else if (typeof copy[at + 2] === 'number') copy[at + 2] = Math.floor(copy[at + 2] / 2);
  else copy[at] = data.subarray(0, data.byteLength / 2);
  return copy;
}

/** Calls of `node:fs` by the kind that they count as. */
const CALLS = {
  open: ['open'],
  read: ['opendir', 'readdir', 'readFile'],
  write: ['write', 'writev'],
  store: ['writeFile', 'appendFile', 'copyFile'],
  make: ['mkdir', 'mkdtemp', 'link', 'symlink'],
  rename: ['rename'],
  change: ['truncate', 'ftruncate', 'chmod', 'chown'],
  sync: ['fsync', 'fdatasync'],
  remove: ['rm', 'rmdir', 'unlink'],
};
const WRITERS = new Set(['write', 'writeFile', 'appendFile']);

function promiseCall(owner, name, kind, dataAt) {
  const original = owner[name];
  if (original === undefined) return;
  owner[name] = async function failsOnce(...args) {
    const code = faultOf(kind);
    if (code === null) return original.apply(this, args);
    const part = WRITERS.has(name) ? halved(args, dataAt) : null;
    if (part !== null) await original.apply(this, part).catch(() => undefined);
    throw systemError(code, name, args[0]);
  };
}

function syncCall(name, kind) {
  const original = real[`${name}Sync`];
  if (original === undefined) return;
  fs[`${name}Sync`] = (...args) => {
    const code = faultOf(kind);
    if (code === null) return quietly(() => original(...args));
    const part = WRITERS.has(name) ? halved(args, 1) : null;
    if (part !== null) quietly(() => original(...part));
    throw systemError(code, name, args[0]);
  };
}

function callbackCall(name, kind, place) {
  const original = real[name];
  const failsOnce = (...args) => {
    const code = faultOf(kind, place);
    if (code === null) return quietly(() => original(...args));
    const failed = () => args.at(-1)(systemError(code, name, args[0]));
    const part = WRITERS.has(name) ? halved(args.slice(0, -1), 1) : null;
    if (part === null) process.nextTick(failed);
    else quietly(() => original(...part, failed));
  };
  // What `promisify` looks for.
  for (const key of Object.getOwnPropertySymbols(original)) failsOnce[key] = original[key];
  return failsOnce;
}

for (const [kind, names] of Object.entries(CALLS)) {
  for (const name of names) {
    promiseCall(fsPromises, name, kind, 1);
    syncCall(name, kind);
    if (real[name] !== undefined) fs[name] = callbackCall(name, kind);
  }
}

const file = await fsPromises.open(fileURLToPath(import.meta.url));
const handleCalls = Object.getPrototypeOf(file);
await file.close();
for (const name of ['write', 'writev', 'writeFile', 'appendFile']) promiseCall(handleCalls, name, 'write', 0);
for (const name of ['sync', 'datasync']) promiseCall(handleCalls, name, 'sync');
promiseCall(handleCalls, 'truncate', 'change');

// A stream opens and writes when the line that made it is not on the stack any more.
fs.createWriteStream = (path, options) => {
  const at = placeNow();
  const place = () => at;
  const calls = { open: callbackCall('open', 'open', place), write: callbackCall('write', 'write', place) };
  return real.createWriteStream(path, { ...options, fs: { ...calls, close: real.close } });
};

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function failsOnce(...args) {
  const code = faultOf('connect');
  if (code === null) return connect.apply(this, args);
  this.connecting = true;
  process.nextTick(() => this.destroy(systemError(code, 'connect')));
  return this;
};

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function failsOnce(...args) {
  const code = faultOf('listen');
  if (code === null) return listen.apply(this, args);
  process.nextTick(() => this.emit('error', systemError(code, 'listen')));
  return this;
};

const { spawn } = childProcess.ChildProcess.prototype;
childProcess.ChildProcess.prototype.spawn = function failsOnce(...args) {
  const code = faultOf('spawn');
  // Node itself does what it does when the system refuses, and has pipes to nobody where it had opened them already.
  const handle = this._handle;
  const start = handle.spawn;
  if (code === 'EMFILE') handle.spawn = () => -constants.errno[code];
  else if (code !== null) {
    handle.spawn = (options) => {
      start.call(handle, { ...options, file: '/nonexistent' });
      return -constants.errno[code];
    };
  }
  return spawn.apply(this, args);
};

// The journal's thread is given the name of its file.
if (!isMainThread && typeof workerData === 'string') {
  const Database = createRequire(import.meta.url)('libsql');
  const { prototype } = Database;
  const { exec, prepare } = prototype;
  const sqliteError = (code) => new Database.SqliteError(`fault of the test: ${code}`, code, 0);
  /** Some faults end the transaction, others leave it open: https://www.sqlite.org/lang_transaction.html */
  const endsTransaction = (code) => code === 'SQLITE_FULL';
  const statementOf = (sql) => () => {
    const at = placeNow();
    return at === null ? null : `${at} ${/\w+(?: \w+)?/.exec(sql)?.[0].toUpperCase()}`;
  };
  prototype.exec = function failsOnce(sql) {
    const code = faultOf('sql', statementOf(sql));
    if (code === null) return exec.call(this, sql);
    if (endsTransaction(code) && this.inTransaction) exec.call(this, 'ROLLBACK');
    throw sqliteError(code);
  };
  prototype.prepare = function hooked(sql) {
    const statement = prepare.call(this, sql);
    for (const name of ['run', 'get', 'all', 'iterate']) {
      const original = statement[name];
      statement[name] = (...values) => {
        const code = faultOf('sql', statementOf(sql));
        if (code === null) return quietly(() => original.apply(statement, values));
        if (endsTransaction(code) && this.inTransaction) exec.call(this, 'ROLLBACK');
        throw sqliteError(code);
      };
    }
    return statement;
  };
}

// Threads start without what the process was started with; these hooks go with them.
workerThreads.Worker = class extends Worker {
  constructor(entry, options) {
    super(entry, { ...options, execArgv: [...(options?.execArgv ?? []), `--import=${import.meta.url}`] });
  }
};
syncBuiltinESMExports();

if (isMainThread) {
  process.on('message', ({ order: next }) => {
    give(next);
    process.send({ given: true });
  });
  process.channel?.unref();
  // A start is a scenario too.
  if (process.env.TROUPE_FAULT_ORDER !== undefined) give(JSON.parse(process.env.TROUPE_FAULT_ORDER));
}
