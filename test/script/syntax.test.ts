import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import t from 'tap';
import { engineWasm } from '#troupe/script/engine/engine-wasm.js';
import { QuickJs } from '#troupe/script/engine/quickjs.js';
import { DEFAULT_LIMITS } from '#troupe/script/limits.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** Programs of test262 by their names. A property of a number with a leading zero; `continue` with the first of several labels. */
const WRONGLY_REFUSED = ['7c6d13458e08e1f4', '1f3808cbdfab97e4', '7a405ea1fdb6a26e'];
/** What an author would not write: `class eval {}`, a parameter declared again, `catch ([a] = [])`, and the like. */
const WRONGLY_TAKEN =
  `0d5e450f1da8a92a 0f5f47108da5c34e 12a74c60f52a60de 14c149e612ab4111 1aff49273f3e3a98 4286a88aed2001ee
  58bb4a3a2d717d4f 627ae2300901a0b1 647e21f8f157c338 6bb272e52a903c4c 748656edbfb2d0bb 79f882da06f88c9f
  7a916ef0ccd4ea9c 7b876ca5139f1ca8 831b4a1caf3c5a06 84ef3bbaa772075f 8af69d8f15295ed2 92b6af54adef3624
  93b1547f64fd0370 98204d734f8c72b3 987442878ab414e7 9ef7cc46ec36bb51 b01e3a73a92863c5 be7329119eaa3d47
  cc23480bdd763207 d1779a4749085a10 d412cecc75edd30d e1831477442a7ebf e3fbcf63d7e43ead ec31fa5e521c5df4
  ef2d369cccc5386c ef81b93cf9bdb4ec f1de9fc3ec4637cc`.split(/\s+/);

t.test('the engine takes and refuses the programs that test262 says', async (t) => {
  const require = createRequire(import.meta.url);
  const root = dirname(require.resolve('test262-parser-tests/package.json'));
  const wasm = await engineWasm();
  const wrong: { readonly [folder: string]: string[] } = { pass: [], fail: [], early: [] };
  let programs = 0;
  for (const [folder, names] of Object.entries(wrong)) {
    for (const file of await readdir(join(root, folder))) {
      // A module is no script.
      if (file.includes('.module')) continue;
      programs += 1;
      const isTaken = await takes(wasm, await readFile(join(root, folder, file), 'utf8'));
      if (isTaken !== (folder === 'pass')) names.push(file.replace('.js', ''));
    }
  }
  t.ok(programs > 3000, `${programs} programs`);
  t.same(wrong.pass, WRONGLY_REFUSED.toSorted());
  t.same([...(wrong.fail ?? []), ...(wrong.early ?? [])].sort(), WRONGLY_TAKEN.toSorted());
});

/** What the program does is of no interest: it is stopped as soon as it can be. */
async function takes(wasm: WebAssembly.Module, source: string): Promise<boolean> {
  const js = await QuickJs.create(wasm, DEFAULT_LIMITS, () => true);
  const completion = js.evaluate(source, 'program');
  if (completion.ok) return true;
  return js.member(completion.error, 'name').consume((name) => js.readText(name)) !== 'SyntaxError';
}
