// The journal's thread, which ends where the test wants it to: after a statement that begins with a word which it
// is told. It ends between two calls of the SQLite binding: a thread that is terminated within one takes the process with it,
// since the binding asserts that no exception is pending (https://github.com/markmhendrickson/neotoma/issues/2324).
import { getEnvironmentData } from 'node:worker_threads';
import Database from 'libsql';

const { words, at } = getEnvironmentData('troupe-test-journal-end');

const after = (sql, result) => {
  const end = words[Atomics.load(at, 0)];
  if (end !== undefined && sql.trimStart().toUpperCase().startsWith(end)) {
    Atomics.store(at, 0, -1);
    process.exit(1);
  }
  return result;
};

const { exec, prepare } = Database.prototype;
Database.prototype.exec = function (sql) {
  return after(sql, exec.call(this, sql));
};
Database.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  for (const name of ['run', 'all', 'get']) {
    const call = statement[name].bind(statement);
    statement[name] = (...values) => after(sql, call(...values));
  }
  return statement;
};
await import('#troupe/journal/journal.thread.js');
