import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { filesModule } from '#troupe/agent-js/files/files.js';
import { flowModule } from '#troupe/agent-js/flows/flow.js';
import { openSandbox, type Testing } from '../script/open-sandbox.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

async function withFiles(t: Testing) {
  const root = await mkdtemp(join(tmpdir(), 'files-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const flowsDir = join(root, 'flows');
  await writeFile(join(root, 'secret.txt'), 'secret');
  const modules = [filesModule({ flowsDir }), flowModule({ flowsDir })];
  return { ...(await openSandbox(t, { modules })), root, flowsDir };
}

t.test('a file is written whole, with its folders, and read back', async (t) => {
  const { run, flowsDir } = await withFiles(t);
  t.same(await run('File.list()'), [], 'there is no folder yet');
  t.same(await run('File.write("shop/login.js", "args => args.user + \\"ä\\u0000\\"")'), {
    path: 'shop/login.js',
    bytes: 25,
  });
  t.equal(await readFile(join(flowsDir, 'shop/login.js'), 'utf8'), 'args => args.user + "ä\u0000"');
  t.equal(await run('File.read("shop/login.js")'), 'args => args.user + "ä\u0000"');
  await run(
    'File.write("shop/login.js", "args => args.user"); File.write("./shop//login.js", "args => args.user + 1")',
  );
  t.equal(await run('Flow.run("shop/login", { user: 1 })'), 2, 'the newest text counts');
  t.same(await readdir(join(flowsDir, 'shop')), ['login.js'], 'nothing else is left');
});

t.test('list takes a glob', async (t) => {
  const { run, fails } = await withFiles(t);
  await run(
    `for (const path of ['a.js', 'b.md', 'shop/a.js', 'shop/deep/c.js', 'shop/deep/x(1).js']) File.write(path, '')`,
  );
  for (const [glob, paths] of [
    ['', []],
    ['**', ['a.js', 'b.md', 'shop/a.js', 'shop/deep/c.js', 'shop/deep/x(1).js']],
    ['*.js', ['a.js', 'shop/a.js', 'shop/deep/c.js', 'shop/deep/x(1).js']],
    ['./*.js', ['a.js']],
    ['shop/*.js', ['shop/a.js']],
    ['shop/**', ['shop/a.js', 'shop/deep/c.js', 'shop/deep/x(1).js']],
    ['**/deep/?.js', ['shop/deep/c.js']],
    ['shop/**/c.js', ['shop/deep/c.js']],
    ['{a,b}.{js,md}', ['a.js', 'b.md', 'shop/a.js']],
    ['x(1).js', ['shop/deep/x(1).js']],
    ['**/eep/*', []],
    ['*a*a*a*a*a*a*a*a*a*a*a*a*b', []],
  ] as const) {
    t.same(await run(`File.list(${JSON.stringify(glob)})`), paths, glob);
  }
  t.equal((await fails('File.list("{a")')).code, 'SCRIPT_ERROR');
  t.equal((await fails('File.list("{a,b}".repeat(20))')).code, 'SCRIPT_ERROR');
});

t.test('nothing outside of the folder is written, read or listed', async (t) => {
  const { run, fails, root, flowsDir } = await withFiles(t);
  await mkdir(join(flowsDir, 'sub'), { recursive: true });
  await symlink(root, join(flowsDir, 'up'));
  await symlink(join(root, 'secret.txt'), join(flowsDir, 'secret.js'));
  await symlink(join(root, 'new.txt'), join(flowsDir, 'dangling'));
  await symlink(join(root, 'newdir'), join(flowsDir, 'dangling-dir'));
  for (const path of ['up/x', 'up/secret.txt', 'dangling-dir/x']) {
    for (const call of [`File.write("${path}", "x")`, `File.read("${path}")`]) {
      t.match(await fails(call), { code: 'SCRIPT_ERROR', message: /refused/ }, call);
    }
  }
  t.match(await fails('File.read("secret.js")'), { code: 'SCRIPT_ERROR', message: /leads out/ });
  t.match(await fails('File.read("missing.js")'), { code: 'SCRIPT_ERROR', message: /no such file/ });
  t.match(await fails('File.write("sub", "x")'), { code: 'SCRIPT_ERROR', message: /folder/ });
  t.match(await fails('File.write("x.js")'), { code: 'SCRIPT_ERROR', message: /text/ });
  t.match(await fails('File.write("sub/../x.js", "x")'), { code: 'SCRIPT_ERROR' });
  t.same(await run('File.list("**")'), [], 'links are not listed');
  await run('File.write("secret.js", "mine"); File.write("dangling", "mine")');
  t.equal(await readFile(join(root, 'secret.txt'), 'utf8'), 'secret', 'a link is replaced, and not written through');
  t.same((await readdir(root)).sort(), ['flows', 'secret.txt']);
  await run('File.write("plain", "x")');
  t.match(await fails('File.write("plain/below", "x")'), { code: 'SCRIPT_ERROR', message: /refused/ });
});

t.test('a file has at most 1 MiB', async (t) => {
  const { run, fails, flowsDir } = await withFiles(t);
  t.match(await run('File.write("big", "x".repeat(1024 * 1024))'), { bytes: 1024 * 1024 });
  t.match(await fails('File.write("bigger", "x".repeat(1024 * 1024 + 1))'), {
    code: 'SCRIPT_ERROR',
    message: /1048577 bytes/,
  });
  await writeFile(join(flowsDir, 'huge'), 'x'.repeat(1024 * 1024 + 1));
  t.match(await fails('File.read("huge")'), { code: 'SCRIPT_ERROR', message: /1048577 bytes/ });
});
