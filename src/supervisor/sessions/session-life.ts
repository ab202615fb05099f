import { assertNever } from '../../base/assert-never.js';
import { TroupeError } from '../../protocol/errors.js';

/**
 * The life of a session from its owner's side.
 *
 *   waiting --Begun--> starting --Opened--> running --Ended--> ending
 *      ^------------------^------------------Requeued-----'
 *      `------------------`-------------------Ended------------^
 *
 * `scripts` counts those that run or wait in it. `ending` is for good.
 */
export type SessionLife =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly scripts: number }
  | { readonly kind: 'ending' };

export type LifeInput = 'Begun' | 'Opened' | 'Requeued' | 'ScriptCame' | 'ScriptLeft' | 'Ended';

/**
 * The next state. What comes once the session ends changes nothing.
 * @throws SESSION_ENDED when a script comes to a session that does not run
 * @throws INTERNAL when an input cannot come in that state
 */
export function advanceLife(life: SessionLife, input: LifeInput): SessionLife {
  switch (input) {
    case 'Begun':
      if (life.kind === 'waiting') return { kind: 'starting' };
      break;
    case 'Opened':
      if (life.kind === 'starting') return { kind: 'running', scripts: 0 };
      break;
    case 'Requeued':
      if (life.kind !== 'ending') return { kind: 'waiting' };
      break;
    case 'ScriptCame':
      if (life.kind === 'running') return { kind: 'running', scripts: life.scripts + 1 };
      throw new TroupeError('SESSION_ENDED', 'The session does not run');
    case 'ScriptLeft':
      if (life.kind === 'running') return { kind: 'running', scripts: life.scripts - 1 };
      // It was cut when the session was laid by.
      if (life.kind === 'waiting') return life;
      break;
    case 'Ended':
      return { kind: 'ending' };
    default:
      return assertNever(input);
  }
  if (life.kind === 'ending') return life;
  throw new TroupeError('INTERNAL', `A session that is ${life.kind} cannot take ${input}`);
}
