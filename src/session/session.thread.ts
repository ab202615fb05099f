import { hostActors, hosted } from '../actors/actor-thread.js';
import { SessionActor } from './messages.js';
import { SessionBehaviour } from './session-actor.js';
import { VideoEncoderActor } from './video/messages.js';
import { VideoEncoderBehaviour } from './video/video-encoder.js';

hostActors([
  hosted(SessionActor, (args, context) => new SessionBehaviour(args, context)),
  hosted(VideoEncoderActor, (args, context) => new VideoEncoderBehaviour(args, context)),
]);
