import { isProof, proofOf, randomWord } from '../../auth/service-proof.js';
import { limitSignal } from '../../base/deadline.js';
import { errorCode } from '../../base/system-fault.js';
import { readServiceFile, type ServiceFile } from './service-file.js';

/** A service that does not prove itself in this time is taken for absent. */
const PROOF_MS = 3_000;

/**
 * The service that runs for a home and has proven that it wrote the home's file. Null if none runs: no file, a process
 * that has ended, or another program on its port. Nothing secret is sent.
 * @throws UNAVAILABLE if another user can read or write the file
 */
export async function findService(home: string): Promise<ServiceFile | null> {
  const file = await readServiceFile(home);
  if (file === null || !isRunning(file.pid)) return null;
  return (await proves(file)) ? file : null;
}

/** False if there is no such process, or it is another user's. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH' && errorCode(error) !== 'EPERM';
  }
}

async function proves({ url, secret }: ServiceFile): Promise<boolean> {
  const challenge = randomWord();
  const { port, protocol } = new URL(url);
  const expected = proofOf(secret, Number(port || (protocol === 'https:' ? 443 : 80)), challenge);
  try {
    const response = await fetch(`${url}/api/proof?challenge=${challenge}`, {
      redirect: 'error',
      signal: limitSignal(PROOF_MS),
    });
    const body: unknown = await response.json();
    return response.ok && isProof(Reflect.get(Object(body), 'proof'), expected);
  } catch {
    return false;
  }
}
