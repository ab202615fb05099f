import { hostActors, hosted } from '../actor-thread.js';
import { SessionActor } from './messages.js';
import { SessionBehaviour } from './session-actor.js';

hostActors([hosted(SessionActor, (args, context) => new SessionBehaviour(args, context))]);
