import { execFile } from 'node:child_process';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

/** Runs `troupe eval <words>` with this on its standard input. */
function evaluate(home: string, input: string, ...words: string[]): Promise<Ended> {
  const env = { ...process.env, TROUPE_HOME: home };
  return new Promise((resolve) => {
    const command = ['dist/cli.js', 'eval', ...words];
    const { stdin } = execFile(process.execPath, command, { env }, (error, out, said) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, said }),
    );
    stdin?.end(input);
  });
}

t.test('A script from the shell prints its value, and its failure is told with its place', async (t) => {
  const service = await startTestService(t, { maxSessions: 2 });
  const { id } = await service.live();
  await service.run(id, "agent.go('data:text/html,<title>Here</title>'); let kept = 42");
  const at = (...words: string[]) =>
    evaluate(service.home, 'agent.go("about:blank").url', '--url', service.url, ...words);
  const [kept, read, unknown] = await Promise.all([
    at('--session', id, '({ kept, title: agent.look().title })'),
    at('-'),
    at('--session', 'nosuchsessio', '1'),
  ]);
  const failed = await at('--session', id, '\n  match(1, 2)');
  t.match(
    kept,
    { code: 0, out: '{\n  "kept": 42,\n  "title": "Here"\n}\n' },
    'in a session that is there, its scope too',
  );
  t.match(read, { code: 0, out: '"about:blank"\n' }, 'from standard input, in a session of its own');
  t.match(failed, { code: 1, out: '', said: /^troupe: MATCH_FAILED: .*\nat line 2, column 3\n/ });
  t.match(failed.said, /> 2 \| {3}match\(1, 2\)\n {4}\| {3}\^\n/, 'the line, and a caret below the call');
  t.match(
    failed.said,
    /Expected: 2\nReceived: 1\nStep \d+: match\(1, 2\)\nPage: .* \(Here\)\nScreenshot: http.*\.png\n/,
  );
  t.match(unknown, { code: 2, said: /^troupe: NOT_FOUND: / });
  const left = (await service.call('GET', '/api/sessions?state=running')).body;
  t.match(left, [{ id }], 'the session of its own has ended');
  t.equal(left.length, 1);
});
