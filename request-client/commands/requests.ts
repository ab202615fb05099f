/** `troupe requests`: the window of the request client, or one of its commands. Parts are loaded when they are called. */
export async function runRequests(args: readonly string[]): Promise<number> {
  const [what, ...rest] = args;
  switch (what) {
    case 'import':
      return await (await import('./requests-import.js')).runRequestsImport(rest);
    case 'export':
      return await (await import('./requests-export.js')).runRequestsExport(rest);
    case 'run':
      return await (await import('./requests-run.js')).runRequestsRun(rest);
    default:
      return await (await import('./requests-window.js')).runRequestsWindow(args);
  }
}
