// Opens the example shop with its back office, for the suite: `node main.mjs 4600`. 0 takes a free port.
import { startShop } from '../../shop/shop.mjs';
import { brokenRoutes } from './broken.mjs';
import { officeRoutes } from './office.mjs';

const shop = await startShop({ port: Number(process.argv[2] ?? 4600), more: [...officeRoutes, ...brokenRoutes] });
console.log(`The example shop and its office are open at ${shop.url}`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void shop.close());
