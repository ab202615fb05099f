import { createRequire } from 'node:module';
import { readFile } from '../../files/thread-files.js';

// The part of the WebAssembly interface that is used here; TypeScript declares it only in the DOM library.
declare global {
  namespace WebAssembly {
    class Module {
      constructor(bytes: Uint8Array);
    }
    class Memory {
      constructor(descriptor: { initial: number; maximum?: number });
      readonly buffer: ArrayBuffer;
      grow(pages: number): number;
    }
    function compile(bytes: Uint8Array): Promise<Module>;
  }
}

let compiled: Promise<WebAssembly.Module> | null = null;

/** The engine's code, compiled once and shared by the threads of all sandboxes. */
export function engineWasm(): Promise<WebAssembly.Module> {
  compiled ??= compileEngine();
  return compiled;
}

async function compileEngine(): Promise<WebAssembly.Module> {
  try {
    const path = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
    return await WebAssembly.compile(await readFile(path));
  } catch (error) {
    // The next sandbox tries again.
    compiled = null;
    throw error;
  }
}
