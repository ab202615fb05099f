import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-ports.js';
import { skipWithout } from '../../support/programs.js';

/** Where clients send their requests. */
export interface Balancer {
  readonly name: string;
  /** For the next request. */
  url(): string;
  stop(): Promise<void>;
}

/** HAProxy before the nodes, or, where it is not installed, one node after another. The caller stops it. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  return skipWithout('haproxy') === false ? startHaproxy(ports) : inTurn(ports);
}

function inTurn(ports: readonly number[]): Balancer {
  let turn = 0;
  return {
    name: 'clients that take turns',
    url() {
      turn += 1;
      return `http://127.0.0.1:${ports[turn % ports.length]}`;
    },
    stop: async () => undefined,
  };
}

async function startHaproxy(ports: readonly number[]): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), 'haproxy-'));
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  const servers = ports.map((to) => `  server n${to} 127.0.0.1:${to} check`);
  writeFileSync(file, [...SETTINGS(port), ...servers, ''].join('\n'));
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-10_000);
    });
  }
  const closed = once(child, 'close');
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill('SIGKILL');
    await closed;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually('HAProxy listens', async () => {
      if (child.exitCode !== null) throw new Error(`HAProxy ended: ${output}`);
      const answer = await fetch(`${url}/api/health`).catch(() => null);
      await answer?.arrayBuffer();
      return answer !== null;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { name: 'HAProxy', url: () => url, stop };
}

/** As `docs/deployment.md` has it, with a shorter interval between two checks. */
const SETTINGS = (port: number): readonly string[] => [
  'defaults',
  '  mode http',
  '  timeout connect 2s',
  '  timeout client 1h',
  '  timeout server 1h',
  '  timeout check 2s',
  '  retries 3',
  '  option redispatch',
  '  retry-on conn-failure',
  'frontend troupe',
  `  bind 127.0.0.1:${port}`,
  '  default_backend nodes',
  'backend nodes',
  '  balance roundrobin',
  '  option httpchk',
  '  http-check send meth GET uri /api/health ver HTTP/1.1 hdr Host localhost',
  `  http-check expect string '"status":"ok"'`,
  '  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
];
