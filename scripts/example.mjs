// Starts the example shop: `npm run example -- --port 4500`.
import { parseArgs } from 'node:util';
import { startShop } from '../examples/shop/shop.mjs';

const usage = 'Usage: npm run example -- [--port 4500] [--host 127.0.0.1]';

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4500' },
      host: { type: 'string', default: '127.0.0.1' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`${values.port} is not a port`);
  return { port, host: values.host, help: values.help };
}

async function main() {
  const { help, ...place } = readOptions();
  if (help) {
    console.log(usage);
    return;
  }
  const shop = await startShop(place);
  console.log(`The example shop is open at ${shop.url}`);
  console.log('Log in as ada with the password lovelace. Its orders as JSON: /api/orders. Another layout: /?layout=b');
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void shop.close());
}

main().catch((error) => {
  console.error(
    error.code === 'EADDRINUSE'
      ? `Port ${error.port} is taken. Another one: npm run example -- --port 0`
      : `${error.message}\n${usage}`,
  );
  process.exitCode = 2;
});
