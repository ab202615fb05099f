import type { Site } from '../support/agent-fixture.js';
import { done, evaluate, type ModelRequest, type Turn } from '../support/model-server.js';

/** A page on which an order is one click, counted by its server, which knows what was ordered. */
export function openShop(site: Site, orders: Map<string, number>): string {
  const page = (ordered: boolean, job: string) =>
    ordered
      ? '<title>Thanks</title><button>Again</button>'
      : `<title>Shop</title><form action=/order><input type=hidden name=job value="${job}"><button>Order</button></form>`;
  const jobOf = (url: string | undefined) => new URL(url ?? '/', site.origin).searchParams.get('job') ?? '';
  site.set('/order', (request, response) => {
    const job = jobOf(request.url);
    orders.set(job, (orders.get(job) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'text/html' }).end(page(true, job));
  });
  const path = site.set('/shop', (request, response) => {
    const job = jobOf(request.url);
    response.writeHead(200, { 'content-type': 'text/html' }).end(page(orders.has(job), job));
  });
  return path.replace('127.0.0.1', 'localhost');
}

/** A careful buyer: if an outcome is unknown, it waits until the page is quiet, and looks before the next step. */
export function buyer({ body: { messages } }: ModelRequest, shop: string): Turn {
  const job = /job-\d+/.exec(messages[1]?.content ?? '')?.[0] ?? '';
  const last = messages.at(-1)?.content ?? '';
  const made = messages.findLast(({ role }) => role === 'assistant')?.tool_calls?.[0]?.function.arguments ?? '';
  if (made === '' || /new one: it shows an empty page/.test(last)) return evaluate(`agent.go('${shop}?job=${job}')`);
  if (/not known|<error>/.test(last)) return evaluate(`agent.wait('idle'); agent.look({full: true})`);
  if (last.includes('{button}Again')) return done(true, 'Ordered');
  if (last.includes('{button}Order')) return evaluate(`agent.act('{button}Order', 'click')`);
  return evaluate(`agent.go('${shop}?job=${job}')`);
}
