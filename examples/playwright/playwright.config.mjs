// A Playwright suite whose browsers come from Troupe. Start `troupe dashboard` and the example shop (`npm run example`), then:
// npx playwright test --config examples/playwright
// TROUPE_URL names another service, SHOP_URL another shop.
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testMatch: '*.spec.mjs',
  outputDir: process.env.OUTPUT_DIR ?? '../../node_modules/.cache/troupe/playwright-example',
  fullyParallel: true,
  workers: 3,
  // In a project that has installed Troupe: ['troupe/playwright/reporter'].
  reporter: [['list'], [fileURLToPath(import.meta.resolve('troupe/playwright/reporter'))]],
  use: {
    baseURL: process.env.SHOP_URL ?? 'http://127.0.0.1:4500',
    troupe: { labels: { suite: 'shop' } },
    trace: 'retain-on-failure',
    // 'on' and 'retain-on-failure' need a service that runs its browsers in containers.
    video: process.env.VIDEO ?? 'off',
  },
});
