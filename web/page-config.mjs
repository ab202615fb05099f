// Builds the pages under web/ into dist/web/.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

/** @param page a folder beside this file @param outDir absolute */
export const pageConfig = (page, outDir) =>
  defineConfig({
    configFile: false,
    root: new URL(`./${page}/`, import.meta.url).pathname,
    // Links are relative: a proxy may serve the pages under a path of its own.
    base: './',
    plugins: [svelte({ configFile: false })],
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // Hides timings of slow plugins from people who start the service for the first time.
      rolldownOptions: { checks: { bundlerTimings: false } },
      // Files are loaded from this machine; the editor of the request client alone is 400 KB.
      chunkSizeWarningLimit: 1000,
    },
  });
