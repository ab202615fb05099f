// Opens the example shop: `npm run example -- --port 4500`; `node main.mjs` where Troupe is installed. With --docker on the
// Docker engine's own address of this machine, which pages in containers call host.docker.internal.
import { parseArgs } from 'node:util';
import { startShop } from './shop.mjs';

const usage = 'Usage: npm run example -- [--port 4500] [--host 127.0.0.1 | --docker]';

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4500' },
      host: { type: 'string', default: '127.0.0.1' },
      docker: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`${values.port} is not a port`);
  return { port, host: values.host, docker: values.docker, help: values.help };
}

/** The address of the engine's bridge. */
async function engineAddress() {
  const [{ readConfig }, { DockerEngine }, { bridgeAddress }] = await Promise.all([
    import('../../dist/config.js'),
    import('../../dist/containers/docker/docker-engine.js'),
    import('../../dist/service/choose-driver.js'),
  ]);
  const { dockerSocket } = readConfig({});
  const address = dockerSocket === null ? null : await bridgeAddress(new DockerEngine(dockerSocket));
  if (address === null) throw new Error('The Docker engine has no address on this machine');
  return address;
}

async function main() {
  const { help, docker, ...place } = readOptions();
  if (help) {
    console.log(usage);
    return;
  }
  const shop = await startShop(docker ? { ...place, host: await engineAddress() } : place);
  const url = docker ? `http://host.docker.internal:${new URL(shop.url).port}` : shop.url;
  console.log(`The example shop is open at ${url}${docker ? ' for pages in containers' : ''}`);
  console.log('Log in as ada with the password lovelace. Its orders as JSON: /api/orders. Another layout: /?layout=b');
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void shop.close());
}

main().catch((error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `Port ${error.port} is taken. Another one: --port 0` : `${error.message}\n${usage}`,
  );
  process.exitCode = 2;
});
