// Writes into a journal (its file is the first argument) and prints for each write whether it was taken: `{id, error}`.
import { Journal } from '../../dist/journal/journal.js';

const WRITES = 30;
/** Together more than the log of changes holds before it is brought into the file. */
const CHARACTERS = 300_000;

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
let journal;
try {
  journal = await Journal.open({ file: process.argv[2], log: (line) => say({ log: line }) });
  for (let number = 1; number <= WRITES; number += 1) {
    const id = `w${String(number).padStart(2, '0')}`;
    const error = await journal.write({ keyValues: [{ kind: 'batch', id, data: id + 'x'.repeat(CHARACTERS) }] }).then(
      () => null,
      ({ code, message }) => ({ code, message }),
    );
    say({ id, error });
  }
} catch ({ code, message }) {
  say({ id: null, error: { code, message } });
}
await journal?.close();
