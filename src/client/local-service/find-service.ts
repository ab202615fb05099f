import { type Clock, systemClock } from '../../base/clock.js';
import { limitSignal } from '../../base/deadline.js';
import { errorCode } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';
import { readServiceFile, type ServiceFile } from './service-file.js';
import { isProof, PROOF_FORM, proofOf, randomWord } from './service-proof.js';
import { hostOf, isThisMachine } from './this-machine.js';

/** A service that has proven that it wrote the file of a home. */
export interface LocalService extends ServiceFile {
  readonly home: string;
}

/** What answers where a service might be, and has not proven that it is one of this user's. */
export interface Stranger {
  readonly url: string;
  /**
   * `starting`: it says in Troupe's words that it serves nothing yet, or no more; a service has no file then. `running`: it
   * gives a proof, which is not of a file that was looked at.
   */
  readonly says: 'starting' | 'running' | 'other';
}

/** What was found in some homes. */
export interface Found {
  /** In the order of the homes. */
  readonly services: readonly LocalService[];
  /** Null if a service was found, or nothing answers. */
  readonly stranger: Stranger | null;
  /** The secrets of the files whose services were asked. */
  readonly asked: ReadonlySet<string>;
}

/** What answers at an address: nothing, or the proof for a challenge or something else. */
type Answer = { readonly challenge: string; readonly proof: unknown; readonly says: Stranger['says'] } | null;

/** A service that does not prove itself in this time is taken for another program. */
const PROOF_MS = 3_000;
/** One that has proven itself before may be busy. */
const AGAIN_MS = 30_000;
/** A proof holds for so long: after that, another program may have the port. */
const PROVEN_MS = 1_000;
const MAX_ANSWER_BYTES = 4096;
/** No connection was made, so nothing listens. */
const NOTHING = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EADDRNOTAVAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/**
 * The services that run for these homes, as far as they prove that they wrote the home's file. Each address is asked once, and
 * nothing secret is sent.
 * @param options.port an address that is asked, too, if no service is found: what answers there is a stranger
 * @param options.skip secrets of files that are passed over
 * @throws UNAVAILABLE if another user can read or write a file
 */
export async function findServices(
  homes: readonly string[],
  { port, skip }: { readonly port?: string | undefined; readonly skip?: ReadonlySet<string> } = {},
): Promise<Found> {
  const files: LocalService[] = [];
  for (const home of new Set(homes)) {
    const file = await readServiceFile(home);
    if (file === null || !isRunning(file.pid) || skip?.has(file.secret) === true) continue;
    // A folder that came from elsewhere may name a service that is elsewhere.
    if (isThisMachine(hostOf(file.url))) files.push({ ...file, home });
  }
  const asked = new Set(files.map(({ secret }) => secret));
  const answers = new Map<string, Promise<Answer>>();
  const answerOf = (url: string): Promise<Answer> => {
    const answer = answers.get(url) ?? ask(url);
    answers.set(url, answer);
    return answer;
  };
  const services: LocalService[] = [];
  for (const file of files) if (isProven(await answerOf(file.url), file)) services.push(file);
  if (services.length > 0) return { services, stranger: null, asked };
  if (port !== undefined) void answerOf(port);
  const strangers: Stranger[] = [];
  for (const [url, answer] of answers) {
    const given = await answer;
    if (given !== null) strangers.push({ url, says: given.says });
  }
  return { services, stranger: strangers.find(({ says }) => says === 'starting') ?? strangers[0] ?? null, asked };
}

/** For people. @param trust how a user says that it is to be trusted: `add --url URL` */
export function strangerSentence({ url }: Stranger, trust: string): string {
  return `What answers at ${url} cannot prove that it is your service, and was sent nothing; if you trust it, ${trust}`;
}

/** The service of one home; null if none runs: no file, a process that has ended, or another program on its port. */
export async function findService(home: string): Promise<LocalService | null> {
  return (await findServices([home])).services[0] ?? null;
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

/**
 * `fetch` for requests to a service that was found. The service proves itself again when its last proof is old, so that a
 * program which takes its port when it ends gets nothing; one that was restarted is known by its home's file.
 * The call rejects with UNAVAILABLE if something else answers there.
 */
export function provenFetch(service: LocalService, clock: Clock = systemClock): typeof globalThis.fetch {
  let known: ServiceFile = service;
  let provenAt = clock.now().getTime();
  const prove = async () => {
    const age = clock.now().getTime() - provenAt;
    if (age >= 0 && age < PROVEN_MS) return;
    if (!isProven(await ask(known.url, AGAIN_MS), known)) {
      const now = await findService(service.home);
      if (now?.url !== service.url) {
        throw new TroupeError('UNAVAILABLE', `The service of ${service.home} no longer answers at ${service.url}`);
      }
      known = now;
    }
    provenAt = clock.now().getTime();
  };
  return async (input, init) => {
    await prove();
    try {
      return await fetch(input, init);
    } catch (error) {
      provenAt = Number.NEGATIVE_INFINITY;
      throw error;
    }
  };
}

/** Asks what listens at an address for its proof, and sends nothing else; null if nothing listens. */
async function ask(url: string, ms = PROOF_MS): Promise<Answer> {
  const challenge = randomWord();
  try {
    const response = await fetch(`${url}/api/proof?challenge=${challenge}`, {
      redirect: 'error',
      signal: limitSignal(ms),
    });
    const { proof, code, details }: { readonly [name: string]: unknown } = Object(
      JSON.parse(await shortText(response)),
    );
    if (response.status === 503 && code === 'UNAVAILABLE' && details === undefined) {
      return { challenge, proof: null, says: 'starting' };
    }
    const isWord = response.ok && typeof proof === 'string' && PROOF_FORM.test(proof);
    return { challenge, proof: isWord ? proof : null, says: isWord ? 'running' : 'other' };
  } catch (error) {
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    return NOTHING.includes(errorCode(cause) ?? '') ? null : { challenge, proof: null, says: 'other' };
  }
}

/** @throws Error if it is long */
async function shortText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('No proof is this long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isProven(answer: Answer, { url, secret }: ServiceFile): boolean {
  if (answer === null) return false;
  const { port, protocol } = new URL(url);
  return isProof(answer.proof, proofOf(secret, Number(port || (protocol === 'https:' ? 443 : 80)), answer.challenge));
}
