import type { Protocol } from 'devtools-protocol/types/protocol.js';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';

// The names under which the protocol's own types are used here: https://chromedevtools.github.io/devtools-protocol/tot/.

export type CdpHeaders = Protocol.Network.Headers;
export type CdpRequest = Protocol.Network.Request;
export type CdpResponse = Protocol.Network.Response;
export type CdpLoadingFailed = Protocol.Network.LoadingFailedEvent;
export type CdpFrame = Protocol.Page.Frame;
export type CdpFrameTree = Protocol.Page.FrameTree;
export type CdpTargetInfo = Protocol.Target.TargetInfo;
export type CdpRemoteObject = Protocol.Runtime.RemoteObject;
/** A node with as much of what is in it as was asked for. */
export type CdpNode = Protocol.DOM.Node;
export type CdpDragData = Protocol.Input.DragData;
export type CdpTargetFilter = Protocol.Target.TargetFilter;

export type CdpMethod = keyof ProtocolMapping.Commands;
/** `{}` for a command that takes none. */
export type CdpParams<M extends CdpMethod> = ProtocolMapping.Commands[M]['paramsType'] extends readonly []
  ? { readonly [name: string]: never }
  : NonNullable<ProtocolMapping.Commands[M]['paramsType'][0]>;
export type CdpResult<M extends CdpMethod> = ProtocolMapping.Commands[M]['returnType'];

/** An event of the browser (`session` is undefined) or of an attached page, as a union that `method` narrows. */
export type CdpEvent = {
  [E in keyof ProtocolMapping.Events]: {
    readonly method: E;
    readonly params: ProtocolMapping.Events[E][0];
    readonly session: string | undefined;
  };
}[keyof ProtocolMapping.Events];
