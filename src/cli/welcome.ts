import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Service } from '../service.js';

/** Where the example shop listens when nobody says otherwise. */
const SHOP_PORT = 4500;
/** Only a checkout has it. */
const EXAMPLE_SCRIPT = new URL('../../scripts/example.mjs', import.meta.url);
const SHOP = new URL('../../examples/shop/main.mjs', import.meta.url);

/** What a person reads when the service has started: where it is, and lines to paste that drive the example shop. */
export function welcome({
  url,
  description,
  server,
  asksForToken,
  reachesLocalhost,
}: Pick<Service, 'url' | 'description' | 'server' | 'asksForToken' | 'reachesLocalhost'>): string {
  const shop = existsSync(EXAMPLE_SCRIPT) ? 'npm run example' : `node "${fileURLToPath(SHOP)}"`;
  const curl = asksForToken ? 'curl -s -H "Authorization: Bearer $TOKEN"' : 'curl -s';
  const create = reachesLocalhost(SHOP_PORT) ? '-X POST' : `-d '{"forward": [${SHOP_PORT}]}'`;
  const script = (js: string) => `  ${curl} ${url}/sessions/$ID/proxy -d '${JSON.stringify({ js })}'`;
  return `Troupe listens on ${url}
  ${description}
  HTTP server: ${server}

Try it, in a second terminal (the example shop) and a third (the lines below it):

  ${shop}

${asksForToken ? '  TOKEN=...    # an access token that may run\n' : ''}  ID=$(${curl} ${create} ${url}/api/sessions | jq -r .id)
${script(`agent.go("http://127.0.0.1:${SHOP_PORT}/")`)}
${script('agent.look().elements.map(e => e.locator)')}
${script('agent.act("{a}Log in", "click")')}
${script('match(agent.look(), {url: "#regex .*/login", title: "#string"})')}
  ${curl} -X DELETE ${url}/api/sessions/$ID

Ctrl-C ends the service with all its browsers.
`;
}
