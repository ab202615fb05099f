import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { openSite } from './agent-fixture.js';
import type { TestService } from './service.js';

/** A board with messages, which knows its visitors by a cookie. */
export async function openBoard(t: Test) {
  const site = await openSite(t);
  const messages: string[] = [];
  const flows: unknown[] = [];
  let asked = 0;
  site.set('/', (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', site.origin);
    flows.push(request.headers['x-flow']);
    const name = searchParams.get('name') ?? /name=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? 'nobody';
    const said = searchParams.get('said');
    if (said !== null) messages.push(`${name}: ${said}`);
    response
      .writeHead(200, { 'content-type': 'text/html', 'set-cookie': `name=${name}` })
      .end(`<title>Board of ${name}</title><form><input name=said aria-label=Message><button>Send</button></form>
        <ul>${messages.map((one) => `<li>${one}</li>`).join('')}</ul><a href=/file download>Save</a>`);
  });
  site.set('/file', (_, response) => {
    response.writeHead(200, { 'content-disposition': 'attachment; filename=board.txt' }).end('board');
  });
  site.set('/asking', `<title>asks</title><script>setInterval(() => fetch('/api/asked'), 20)</script>`);
  site.set('/api/asked', (_, response) => {
    asked += 1;
    response.end();
  });
  return { ...site, messages, flows, asked: () => asked, port: Number(new URL(site.origin).port) };
}

/** Writes a flow file. @returns its name */
export function writeFlow(service: Pick<TestService, 'home'>, name: string, source: string): string {
  mkdirSync(join(service.home, 'flows'), { recursive: true });
  writeFileSync(join(service.home, 'flows', name), source);
  return name;
}
