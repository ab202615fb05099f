const FLOW = /(?<!\.d)\.(js|ts)$/;

/** Whether a path names a flow: JavaScript (`.js`) or TypeScript (`.ts`), but not types alone (`.d.ts`). */
export function isFlowFile(path: string): boolean {
  return FLOW.test(path);
}

/** A flow's path as Flow.run takes it and events name it: without its extension. */
export function flowOfFile(file: string): string {
  return file.replace(FLOW, '');
}

/** What a flow is for its folder: it runs once before all flows, or once after them; null for an ordinary flow. */
export function hookOf(path: string): 'setup' | 'teardown' | null {
  const [, hook] = /(?:^|\/)_(setup|teardown)\.(?:js|ts)$/.exec(path) ?? [];
  return hook === 'setup' || hook === 'teardown' ? hook : null;
}
