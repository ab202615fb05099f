import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import t from 'tap';
import { HistoryFile } from '#request-client/window/history-file.js';
import { openFolder } from '../../../test/containers/driver-fixture.js';
import { guardLeaks } from '../../../test/support/leaks.js';
import { openWindow, startEcho } from './window-fixture.js';

guardLeaks(t);
const echo = await startEcho(t);
const historyPath = join(openFolder(t), 'history.jsonl');
const { call, act, press, holds, shows, folder, faults } = await openWindow(t, {
  history: await HistoryFile.open(historyPath),
});
const file = join(folder, 'shop.json');
const test = (name: string, script: string): object => ({
  listen: 'test',
  script: { exec: [`pm.test('${name}', () => { ${script} })`] },
});
writeFileSync(
  file,
  JSON.stringify({
    info: { name: 'Shop', schema: 'v2.1.0' },
    item: [
      {
        name: 'Orders',
        item: [
          { name: 'List', request: { method: 'GET', header: [], url: { raw: `${echo.origin}/{{where}}` } } },
          {
            name: 'Broken',
            event: [test('is 201', 'pm.response.to.have.status(201)')],
            request: { method: 'GET', header: [], url: { raw: `${echo.origin}/broken` } },
          },
          { name: 'Last', request: { method: 'GET', header: [], url: { raw: `${echo.origin}/last` } } },
        ],
      },
    ],
  }),
);
writeFileSync(
  join(folder, 'staging.postman_environment.json'),
  JSON.stringify({ name: 'Staging', values: [{ key: 'where', value: 'staging', enabled: true }] }),
);
const saved = (): unknown => JSON.parse(readFileSync(file, 'utf8'));
const menu = async (line: string, entry: string): Promise<void> => {
  await act(line, 'rightclick');
  await act(`{^menuitem}${entry}`, 'click');
};

t.test(
  'a folder gets authorization, scripts and variables, and its requests show where theirs come from',
  async (t) => {
    await call('page', axe.source);
    await press('Control+o');
    await act('[aria-label="File name or path"]', 'input', file);
    await act('dialog button.main', 'click');
    await menu('#row-i1', 'Authorization');
    await holds('document.querySelector("[aria-label=\\"Name of the folder\\"]")?.value === "Orders"');
    await act('{select}Type', 'select', 'Bearer token');
    await act('{input}Token', 'input', 'of-the-folder');
    await act('{tab}After', 'click');
    await act('[aria-label="After script"]', 'input', "pm.test('of the folder', () => pm.expect(1).to.equal(1))");
    await act('{^tab}Variables', 'click');
    await act('[aria-label="Variable 1 name"]', 'input', 'where');
    await act('[aria-label="Variable 1 value"]', 'input', 'folder');
    t.strictSame(await faults(), [[], []]);
    await act('#row-i2', 'click');
    await shows(`${echo.origin}/folder`);
    await act('{tab}Auth', 'click');
    await shows('Bearer token, from');
    await press('Control+Enter');
    await shows('1 test passed');
    t.match(echo.heard.at(-1), { url: '/folder', headers: { authorization: 'Bearer of-the-folder' } });
    await act('.part button.link', 'click');
    await holds('document.querySelector("[aria-label=\\"Name of the folder\\"]") !== null');
    await press('Control+s');
    await shows('Saved');
    t.match(saved(), {
      item: [
        {
          auth: { type: 'bearer', bearer: [{ key: 'token', value: 'of-the-folder' }] },
          event: [{ listen: 'test' }],
          variable: [{ key: 'where', value: 'folder' }],
        },
      ],
    });
  },
);

t.test('an environment beside the collection is chosen, edited and saved; another one is created', async (t) => {
  await act('#row-i2', 'click');
  await act('[aria-label=Environment]', 'select', 'Staging');
  await shows(`${echo.origin}/staging`);
  await press('Control+e');
  await act('[aria-label="Environment variable 1 value"]', 'input', 'edited');
  await act('[aria-label="Environment variable 1 is secret"]', 'click');
  await shows(`${echo.origin}/edited`);
  t.strictSame(await faults(), [[], []]);
  await act('{button}Save', 'click');
  await shows('staging.postman_environment.json');
  t.match(JSON.parse(readFileSync(join(folder, 'staging.postman_environment.json'), 'utf8')), {
    name: 'Staging',
    values: [{ key: 'where', value: 'edited', type: 'secret' }],
  });
  await act('[aria-label=Environment]', 'select', 'New environment…');
  await act('[aria-label="File name or path"]', 'input', 'mine');
  await act('dialog button.main', 'click');
  await holds('document.querySelector("[aria-label=Environment]").selectedOptions[0].innerText === "mine"');
  t.ok(existsSync(join(folder, 'mine.postman_environment.json')));
  await act('[aria-label=Environment]', 'select', 'New environment…');
  await act('[aria-label="File name or path"]', 'input', 'mine');
  await act('dialog button.main', 'click');
  await shows('mine.postman_environment.json exists already');
  await act('[aria-label=Environment]', 'select', 'No environment');
  await shows(`${echo.origin}/folder`);
});

t.test('a folder is run: each result is in a table, the run can be stopped, and an answer opened', async (t) => {
  await menu('#row-i1', 'Run');
  await press('Control+Enter');
  await shows('3 sent, 1 failed');
  await shows('is 201: AssertionError: expected response to have status code 201 but got 200');
  // The status is as good as the server says; the failed test has a place of its own.
  const ofBroken = 'document.querySelectorAll(".results tbody tr")[1]?.cells';
  t.match(await call('page', `[...${ofBroken}].slice(1).map(({ className }) => className)`), [/good/, /./, /bad/]);
  t.strictSame(await faults(), [[], []]);
  await act('{checkbox}Stop at the first failure', 'click');
  await press('Control+Enter');
  await shows('2 sent, 1 failed');
  // The result appears a moment before the run is over.
  await holds('document.querySelector(".head button.main")?.innerText === "Run"');
  echo.delayMs = 60_000;
  await press('Control+Enter');
  await holds('document.querySelector(".head button.main")?.innerText === "Stop"');
  await act('.head button.main', 'click');
  await shows('Stopped');
  echo.delayMs = 0;
  await act('{checkbox}Stop at the first failure', 'click');
  await press('Control+Enter');
  await shows('3 sent, 1 failed');
  await act('.results tr:nth-child(2) button', 'click');
  await shows('1 of 2 tests failed');
});

t.test('a running request is cancelled: that is what the window shows, and not the answer before', async () => {
  echo.delayMs = 60_000;
  await press('Control+Enter');
  await holds('document.querySelector(".line button.main")?.innerText === "Cancel"');
  await act('.line button.main', 'click');
  await holds('document.querySelector(".line button.main")?.innerText === "Send"');
  echo.delayMs = 0;
  await holds('document.querySelector(".status strong")?.innerText === "Cancelled"');
  await holds('document.querySelector("section[aria-label=Response] [role=tab]") === null');
  await press('Control+Enter');
  await holds('document.querySelector(".status strong")?.innerText.startsWith("200") === true');
});

t.test('the history is searched, a request copied from it, and it has no secret on disk', async (t) => {
  await press('Control+h');
  // The test of the last request failed, and its status is good.
  await holds('document.querySelector("aside li .good")?.innerText === "200"');
  await holds('document.querySelector("aside li .bad")?.innerText === "✗"');
  await act('[aria-label="Search the history"]', 'input', 'last');
  await holds('[...document.querySelectorAll("aside li .name")].every(({ innerText }) => innerText === "Last")');
  t.strictSame(await faults(), [[], []]);
  await act('aside li:first-child .link', 'click');
  await holds(`document.querySelector("input.url")?.value === "${echo.origin}/last"`);
  const disk = readFileSync(historyPath, 'utf8');
  t.match(disk, /"name":"List"/);
  t.notMatch(disk, /of-the-folder|edited/);
});

t.test('the beginning of a binary body is shown, and the client saves all of it', async (t) => {
  await act('input.url', 'input', `${echo.origin}/bytes`);
  await press('Control+Enter');
  await shows('00000000  41 00 41 00');
  t.ok(Number(await call('page', 'document.querySelector("pre").innerText.length')) < 30_000);
  await act('{button}Save body', 'click');
  await act('[aria-label="File name or path"]', 'input', 'body.bin');
  await act('dialog button.main', 'click');
  await shows('body.bin');
  await holds('document.querySelector("dialog") === null');
  const path = join(folder, 'body.bin');
  await holds('document.querySelector("footer").innerText.includes("Saved")');
  t.equal(statSync(path).size, 3_000_000);
});

t.test('the request is shown as a command for each shell, with values or with names', async () => {
  await act('#row-i2', 'click');
  await act('{button}Code', 'click');
  await holds('document.querySelector(".command")?.innerText.includes("/folder")');
  await holds('document.querySelector(".command")?.innerText.includes("Bearer of-the-folder")');
  await act('{checkbox}Replace variables by their values', 'click');
  await holds('document.querySelector(".command")?.innerText.includes("{where}")');
  await act('[aria-label=Language]', 'select', 'curl (cmd)');
  await holds('document.querySelector(".command")?.innerText.includes("curl.exe ^")');
  await act('[aria-label=Language]', 'select', 'Python (requests)');
  await holds('document.querySelector(".command")?.innerText.includes("import requests")');
});
