import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

t.test('The curl lines in docs/mcp.md work as printed', { skip: skipWithout('bash', 'curl') }, async (t) => {
  const service = await startTestService(t, { maxSessions: 1, warmSessions: 0 });
  const document = await readFile(new URL('../../docs/mcp.md', import.meta.url), 'utf8');
  const [, printed = ''] = /\*\*curl\*\*\n\n```sh\n([\s\S]*?)```/.exec(document) ?? [];
  const page = 'data:text/html,<title>Shop</title><button>Buy</button>';
  const lines = printed.replace('http://127.0.0.1:4444', service.url).replace('http://127.0.0.1:4500/', page);
  t.not(lines, printed);
  const { stdout } = await promisify(execFile)('bash', ['-ec', lines], { timeout: 60_000 });
  const [answer = ''] = /\{"result.*/.exec(stdout) ?? [];
  t.match(JSON.parse(answer), { id: 2, result: { content: [{ text: /^Shop · data:.*\n\{button\}Buy$/ }] } });
  t.match((await service.call('GET', '/api/sessions')).body, [{ name: 'MCP: curl', status: 'stopped' }]);
});
