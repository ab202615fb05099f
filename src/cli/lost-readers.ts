/** A reader that has enough, as in `troupe setup | head -1`; a terminal that is gone. */
const GONE = ['EPIPE', 'EIO'];

let isService = false;
let listens = false;

/**
 * Keeps output that nobody reads any more from ending the process: what is left to say goes unsaid. For a service that holds
 * for every fault of its output, such as a full disk under its log: its sessions are worth more than its words. May be
 * called again.
 */
export function outliveReaders(command: string | undefined): void {
  isService = command === 'dashboard';
  if (listens) return;
  listens = true;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!isService && !GONE.includes(error.code ?? '')) throw error;
    });
  }
}
