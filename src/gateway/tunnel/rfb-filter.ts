import { TroupeError } from '../../protocol/errors.js';

/** The longest message that is taken: a text of 1 MiB for the clipboard. */
const MAX_MESSAGE_BYTES = 1024 * 1024 + 8;
const VERSION_BYTES = 12;

/** Types of client messages: RFC 6143, section 7.5, and the community's protocol document (rfbproto) for the others. */
const TYPE = {
  SetPixelFormat: 0,
  SetEncodings: 2,
  FramebufferUpdateRequest: 3,
  KeyEvent: 4,
  PointerEvent: 5,
  ClientCutText: 6,
  EnableContinuousUpdates: 150,
  ClientFence: 248,
  Xvp: 250,
  SetDesktopSize: 251,
  Qemu: 255,
} as const;

/** With it a PointerEvent may have a seventh byte, which only the server's answer would tell. */
const EXTENDED_MOUSE_BUTTONS = -316;
/** Actions of an extended ClientCutText that put something into the clipboard: notify and provide. */
const CLIPBOARD_WRITES = (1 << 27) | (1 << 28);

/** What becomes of a message: who only looks may not act, and nobody may change the desktop itself. */
type Verdict = 'pass' | 'act' | 'drop';

/**
 * What a client of a desktop says to it, with everything taken out that it may not do. It follows the messages of RFB 3.7
 * and 3.8 in whatever pieces they come.
 *
 *     version --> security --> init --> messages
 */
export class RfbFilter {
  #phase: 'version' | 'security' | 'init' | 'messages' = 'version';
  #rest: Buffer = Buffer.alloc(0);

  /**
   * @param mayAct asked for each key, press and text of the clipboard
   * @returns what goes on to the desktop
   * @throws INVALID_REQUEST for what is no RFB, or longer than 1 MiB
   */
  push(chunk: Buffer, mayAct: () => boolean): Buffer {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const passed: Buffer[] = [];
    for (let length = this.#lengthOf(rest); length !== null && length <= rest.length; length = this.#lengthOf(rest)) {
      const message = this.#pass(rest.subarray(0, length), mayAct);
      if (message !== null) passed.push(message);
      rest = rest.subarray(length);
    }
    // A copy: what is left must not hold on to all that came with it.
    this.#rest = Buffer.from(rest);
    return Buffer.concat(passed);
  }

  /** Null while too little of the message is there to tell. */
  #lengthOf(bytes: Buffer): number | null {
    switch (this.#phase) {
      case 'version':
        return VERSION_BYTES;
      case 'security':
      case 'init':
        return 1;
      case 'messages': {
        const length = messageLength(bytes);
        if (length !== null && length > MAX_MESSAGE_BYTES) throw notRfb('a message is longer than 1 MiB');
        return length;
      }
    }
  }

  #pass(message: Buffer, mayAct: () => boolean): Buffer | null {
    switch (this.#phase) {
      case 'version':
        // In 3.3 the client says less, and nobody has spoken it for twenty years.
        if (!/^RFB 003\.00[78]\n$/.test(message.toString('latin1'))) throw notRfb('the version is not 3.7 or 3.8');
        this.#phase = 'security';
        return message;
      case 'security':
        this.#phase = 'init';
        return message;
      case 'init':
        this.#phase = 'messages';
        // Shared: an exclusive client would send everybody else away.
        return Buffer.of(1);
      case 'messages': {
        const verdict = verdictOn(message);
        if (verdict === 'drop' || (verdict === 'act' && !mayAct())) return null;
        return message[0] === TYPE.SetEncodings ? knownEncodings(message) : message;
      }
    }
  }
}

function messageLength(bytes: Buffer): number | null {
  const needs = (count: number, length: () => number) => (bytes.length < count ? null : length());
  switch (bytes[0]) {
    case undefined:
      return null;
    case TYPE.SetPixelFormat:
      return 20;
    case TYPE.SetEncodings:
      return needs(4, () => 4 + 4 * bytes.readUInt16BE(2));
    case TYPE.FramebufferUpdateRequest:
    case TYPE.EnableContinuousUpdates:
      return 10;
    case TYPE.KeyEvent:
      return 8;
    case TYPE.PointerEvent:
      return 6;
    case TYPE.ClientCutText:
      // A negative length is that of the extended form.
      return needs(8, () => 8 + Math.abs(bytes.readInt32BE(4)));
    case TYPE.ClientFence:
      return needs(9, () => 9 + bytes.readUInt8(8));
    case TYPE.Xvp:
      return 4;
    case TYPE.SetDesktopSize:
      return needs(8, () => 8 + 16 * bytes.readUInt8(6));
    case TYPE.Qemu:
      return needs(2, () => {
        if (bytes[1] !== 0) throw notRfb(`a message of type 255 and ${bytes[1]}`);
        return 12;
      });
    default:
      throw notRfb(`a message of type ${bytes[0]}`);
  }
}

function verdictOn(message: Buffer): Verdict {
  switch (message[0]) {
    case TYPE.KeyEvent:
    case TYPE.PointerEvent:
    case TYPE.Qemu:
      return 'act';
    case TYPE.ClientCutText: {
      const isExtended = message.readInt32BE(4) < 0;
      // Without its flags it says nothing.
      if (isExtended && message.length < 12) return 'drop';
      return isExtended && (message.readUInt32BE(8) & CLIPBOARD_WRITES) === 0 ? 'pass' : 'act';
    }
    case TYPE.Xvp:
    case TYPE.SetDesktopSize:
      return 'drop';
    default:
      return 'pass';
  }
}

function knownEncodings(message: Buffer): Buffer {
  const encodings: Buffer[] = [];
  for (let at = 4; at < message.length; at += 4) {
    if (message.readInt32BE(at) !== EXTENDED_MOUSE_BUTTONS) encodings.push(message.subarray(at, at + 4));
  }
  const head = Buffer.from(message.subarray(0, 4));
  head.writeUInt16BE(encodings.length, 2);
  return Buffer.concat([head, ...encodings]);
}

function notRfb(what: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', `The client does not speak RFB as a desktop does: ${what}`);
}
