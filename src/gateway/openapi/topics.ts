import type { Route } from '../route.js';

/** A group of operations of the API: a tag of the OpenAPI document. */
export interface Topic {
  readonly name: string;
  readonly description: string;
  /** Method and path of its routes, in the order that a reader wants. A test compares them with the routes. */
  readonly routes: readonly string[];
}

/** Every route is in one of them. */
export const TOPICS: readonly Topic[] = [
  {
    name: 'Sessions',
    description: 'Browsers: create, list, and stop them, and the login states that they begin with.',
    routes: [
      'POST /api/sessions',
      'GET /api/sessions',
      'GET /api/sessions/{id}',
      'DELETE /api/sessions/{id}',
      'GET /api/sessions/{id}/value',
      'GET /api/states',
      'DELETE /api/states/{name}',
    ],
  },
  {
    name: 'Scripts',
    description: 'Run JavaScript in a session, and connect models and DevTools clients to it.',
    routes: [
      'POST /sessions/{id}/proxy',
      'GET /sessions/{id}/prompt',
      'GET /prompt',
      'GET /sessions/{id}/cdp/json/version',
      'GET /sessions/{id}/cdp/json/version/',
    ],
  },
  {
    name: 'Runs',
    description:
      'Run flows: one (a job) or many together (a batch). Machines of CI can share a run, and Playwright suites report theirs.',
    routes: [
      'POST /api/sessions/run',
      'POST /api/jobs',
      'GET /api/jobs',
      'GET /api/jobs/{id}',
      'GET /api/jobs/{id}/download',
      'POST /api/batches',
      'GET /api/batches',
      'GET /api/batches/{id}',
      'DELETE /api/batches/{id}',
      'POST /api/batches/{id}/rerun',
      'GET /api/batches/{id}/junit',
      'GET /api/batches/{id}/download',
      'GET /api/batches/{id}/flows/{path...}',
      'POST /api/batches/join',
      'POST /api/batches/{id}/claim',
      'POST /api/batches/{id}/claims/{token}/renew',
      'PUT /api/batches/{id}/claims/{token}/artifacts',
      'POST /api/batches/{id}/claims/{token}/result',
      'GET /api/batches/{id}/results',
      'GET /api/batches/{id}/results/{name}',
      'POST /api/batches/suite',
      'POST /api/batches/{id}/tests',
      'GET /api/batches/{id}/tests',
      'GET /api/batches/{id}/ctrf',
    ],
  },
  {
    name: 'Flows and statistics',
    description: 'Read and write the flows folder; how often flows pass, and how long they take.',
    routes: ['GET /api/flows', 'GET /api/flows/{path...}', 'PUT /api/flows/{path...}', 'GET /api/stats'],
  },
  {
    name: 'Files and artifacts',
    description: 'What a session leaves: report, pictures, trace, downloads; and files for it to upload.',
    routes: [
      'GET /api/sessions/{id}/artifacts',
      'GET /api/sessions/{id}/artifacts/{path...}',
      'GET /api/sessions/{id}/download',
      'GET /api/sessions/{id}/report',
      'GET /api/sessions/{id}/report.json',
      'GET /api/sessions/{id}/screenshots/{name}',
      'POST /api/sessions/{id}/baselines',
      'GET /api/sessions/{id}/trace',
      'POST /api/sessions/{id}/trace',
      'GET /api/sessions/{id}/files',
      'GET /api/sessions/{id}/files/{name}',
      'PUT /api/sessions/{id}/files/{name}',
    ],
  },
  {
    name: 'Events',
    description: 'What happens, as it happens: server-sent events that continue after a lost connection.',
    routes: ['GET /api/events', 'GET /api/sessions/{id}/events', 'GET /api/batches/{id}/events'],
  },
  {
    name: 'Webhooks',
    description: 'Deliveries to the addresses that a run was submitted with.',
    routes: [
      'GET /api/sessions/{id}/webhooks',
      'POST /api/sessions/{id}/webhooks',
      'GET /api/batches/{id}/webhooks',
      'POST /api/batches/{id}/webhooks',
    ],
  },
  {
    name: 'Control and links',
    description: 'Let a person take over a session, reply to what a script asks, or watch through a link.',
    routes: [
      'POST /api/sessions/{id}/control',
      'POST /api/sessions/{id}/handoff',
      'POST /api/sessions/{id}/links',
      'GET /shared/{link}',
    ],
  },
  {
    name: 'Access',
    description: 'Access tokens, and signing in with one.',
    routes: [
      'GET /api/tokens',
      'POST /api/tokens',
      'DELETE /api/tokens/{id}',
      'POST /api/login',
      'DELETE /api/login',
      'GET /api/proof',
    ],
  },
  {
    name: 'Nodes',
    description: 'The machines that share the work.',
    routes: ['GET /api/nodes', 'POST /api/nodes/{id}/drain', 'DELETE /api/nodes/{id}'],
  },
  {
    name: 'MCP',
    description: 'The endpoint of the Model Context Protocol, for agents.',
    routes: ['POST /mcp', 'GET /mcp', 'DELETE /mcp'],
  },
  {
    name: 'Service',
    description: 'Health, metrics, models, this description, and the dashboard.',
    routes: [
      'GET /api/health',
      'GET /metrics',
      'GET /api/models',
      'GET /api/openapi.json',
      'GET /',
      'GET /assets/{name}',
    ],
  },
];

const ORDER: readonly string[] = TOPICS.flatMap(({ routes }) => routes);

/** The names of the topics that a route is in. */
export function topicOf({ method, path }: Route): readonly string[] {
  return TOPICS.filter(({ routes }) => routes.includes(`${method} ${path}`)).map(({ name }) => name);
}

/** The routes in the order of the topics. */
export function byTopic(routes: readonly Route[]): readonly Route[] {
  const place = ({ method, path }: Route) => ORDER.indexOf(`${method} ${path}`);
  return routes.toSorted((a, b) => place(a) - place(b));
}
