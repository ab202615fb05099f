import { spawnSync } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';

/** Without a network npm tries for minutes. */
const DEADLINE_MS = 5_000;

/**
 * @throws Error with one sentence when the package registry that npm is configured for does not answer within 5 s. What it
 *   answers does not matter, and with `--offline` npm asks nobody.
 */
export async function assertRegistry(cwd, deadlineMs = DEADLINE_MS) {
  const { status, stdout } = spawnSync('npm', ['config', 'list', '--json'], { cwd, encoding: 'utf8' });
  // npm itself says better what is wrong with its settings.
  if (status !== 0) return;
  const { registry, proxy, 'https-proxy': httpsProxy, offline } = JSON.parse(stdout);
  if (offline === true) return;
  const through = registry.startsWith('https:') ? (httpsProxy ?? proxy) : proxy;
  const why = await (through ? connectionFault(through, deadlineMs) : answerFault(registry, deadlineMs));
  if (why === null) return;
  throw new Error(
    `The package registry ${new URL(registry).origin} cannot be reached${through ? ' through the proxy' : ''} (${why}). ` +
      'Connect to the network or correct npm’s "registry" and "proxy" settings, then run the same command again; ' +
      'with a full npm cache, add --offline.',
  );
}

function answerFault(registry, deadlineMs) {
  const request = registry.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const asked = request(new URL('-/ping', registry.replace(/\/?$/, '/')));
    const deadline = setTimeout(() => asked.destroy(new Error(`no answer within ${deadlineMs / 1000} s`)), deadlineMs);
    const settle = (why) => {
      clearTimeout(deadline);
      resolve(why);
      asked.destroy();
    };
    asked.once('response', () => settle(null));
    // Whoever shows a certificate is there; npm has settings of its own for which to trust.
    asked.once('error', (error) => settle(isOfCertificate(error) ? null : (error.code ?? error.message)));
    asked.end();
  });
}

function isOfCertificate({ code = '' }) {
  return /CERT|SIGNED|ISSUER|EPROTO|ERR_TLS|ERR_SSL/.test(code);
}

function connectionFault(proxy, deadlineMs) {
  const { hostname, port, protocol } = new URL(proxy);
  return new Promise((resolve) => {
    const socket = connect(Number(port) || (protocol === 'https:' ? 443 : 80), hostname.replace(/^\[|\]$/g, ''));
    const settle = (why) => {
      socket.destroy();
      resolve(why);
    };
    socket.setTimeout(deadlineMs, () => settle(`no answer within ${deadlineMs / 1000} s`));
    socket.once('connect', () => settle(null));
    socket.once('error', (error) => settle(error.code ?? error.message));
  });
}
