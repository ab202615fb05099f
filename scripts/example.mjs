// `npm run example`: the example shop, as ../examples/shop/main.mjs opens it. Nothing is installed or built for it, except
// where it is to ask the Docker engine.
import { prepare } from './prepare.mjs';

if (process.argv.includes('--docker')) await prepare();
await import('../examples/shop/main.mjs');
