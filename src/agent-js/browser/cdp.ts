/**
 * The part of the Chrome DevTools Protocol that is used here, typed by hand from its specification
 * (https://chromedevtools.github.io/devtools-protocol/tot/). Members that nobody reads are left out.
 */

/** A frame as `Page.frameNavigated` and `Page.getFrameTree` describe it. */
export type CdpHeaders = { readonly [name: string]: string };

export interface CdpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: CdpHeaders;
}

export interface CdpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: CdpHeaders;
  readonly mimeType: string;
  readonly protocol?: string;
  readonly encodedDataLength: number;
}

export interface CdpFrame {
  readonly id: string;
  readonly parentId?: string;
  readonly loaderId: string;
  readonly url: string;
  readonly urlFragment?: string;
  /** Where the navigation wanted to go, when an error page stands there instead. */
  readonly unreachableUrl?: string;
  readonly securityOrigin?: string;
}

export interface CdpFrameTree {
  readonly frame: CdpFrame;
  readonly childFrames?: readonly CdpFrameTree[];
}

export interface CdpTargetInfo {
  readonly targetId: string;
  readonly type: string;
  readonly title: string;
  readonly url: string;
  readonly openerId?: string;
}

export interface CdpRemoteObject {
  readonly type: string;
  readonly objectId?: string;
  readonly value?: unknown;
  readonly description?: string;
  readonly unserializableValue?: string;
}

export interface CdpExceptionDetails {
  readonly text: string;
  readonly url?: string;
  readonly exception?: CdpRemoteObject;
}

interface Nothing {
  readonly [key: string]: never;
}

interface Modified {
  readonly modifiers?: number;
}

/** Parameters and result of each command. */
export interface CdpCommands {
  'Browser.cancelDownload': [{ guid: string }, Nothing];
  'Browser.getVersion': [Nothing, { readonly product: string; readonly userAgent: string }];
  'Browser.setDownloadBehavior': [{ behavior: 'allowAndName'; downloadPath: string; eventsEnabled: boolean }, Nothing];
  'DOM.describeNode': [{ objectId: string; depth: number; pierce: boolean }, { readonly node: CdpNode }];
  'DOM.disable': [Nothing, Nothing];
  'DOM.enable': [Nothing, Nothing];
  'DOM.getFrameOwner': [{ frameId: string }, { readonly backendNodeId: number }];
  'DOM.performSearch': [{ query: string }, { readonly resultCount: number }];
  'DOM.resolveNode': [{ backendNodeId: number; executionContextId: number }, { readonly object: CdpRemoteObject }];
  'DOM.setFileInputFiles': [{ files: readonly string[]; objectId?: string; backendNodeId?: number }, Nothing];
  'Emulation.setDeviceMetricsOverride': [
    { width: number; height: number; deviceScaleFactor: number; mobile: boolean },
    Nothing,
  ];
  'Emulation.setFocusEmulationEnabled': [{ enabled: boolean }, Nothing];
  'Emulation.setLocaleOverride': [{ locale: string }, Nothing];
  'Emulation.setScriptExecutionDisabled': [{ value: boolean }, Nothing];
  'Emulation.setTimezoneOverride': [{ timezoneId: string }, Nothing];
  'Emulation.setUserAgentOverride': [{ userAgent: string; acceptLanguage?: string }, Nothing];
  'Fetch.continueRequest': [{ requestId: string }, Nothing];
  'Fetch.continueWithAuth': [
    {
      requestId: string;
      authChallengeResponse: {
        response: 'Default' | 'CancelAuth' | 'ProvideCredentials';
        username?: string;
        password?: string;
      };
    },
    Nothing,
  ];
  'Fetch.disable': [Nothing, Nothing];
  'Fetch.enable': [{ handleAuthRequests?: boolean; patterns: readonly { urlPattern: string }[] }, Nothing];
  'Fetch.fulfillRequest': [
    { requestId: string; responseCode: number; responseHeaders: { name: string; value: string }[]; body: string },
    Nothing,
  ];
  'Input.dispatchDragEvent': [
    { type: 'dragEnter' | 'dragOver' | 'drop' | 'dragCancel'; x: number; y: number; data: unknown },
    Nothing,
  ];
  'Input.dispatchKeyEvent': [
    Modified & {
      type: 'keyDown' | 'rawKeyDown' | 'keyUp';
      key: string;
      code: string;
      windowsVirtualKeyCode: number;
      text?: string;
      unmodifiedText?: string;
      autoRepeat?: boolean;
    },
    Nothing,
  ];
  'Input.dispatchMouseEvent': [
    Modified & {
      type: 'mouseMoved' | 'mousePressed' | 'mouseReleased' | 'mouseWheel';
      x: number;
      y: number;
      button?: 'none' | 'left' | 'middle' | 'right' | 'back' | 'forward';
      buttons?: number;
      clickCount?: number;
      deltaX?: number;
      deltaY?: number;
    },
    Nothing,
  ];
  'Input.dispatchTouchEvent': [
    Modified & {
      type: 'touchStart' | 'touchMove' | 'touchEnd' | 'touchCancel';
      touchPoints: readonly { x: number; y: number; id: number }[];
    },
    Nothing,
  ];
  'Input.insertText': [{ text: string }, Nothing];
  'Input.setInterceptDrags': [{ enabled: boolean }, Nothing];
  'Network.enable': [{ maxTotalBufferSize?: number; maxResourceBufferSize?: number }, Nothing];
  'Network.setExtraHTTPHeaders': [{ headers: { readonly [name: string]: string } }, Nothing];
  'Page.addScriptToEvaluateOnNewDocument': [
    { source: string; worldName?: string; runImmediately?: boolean },
    { readonly identifier: string },
  ];
  'Page.captureScreenshot': [{ format: 'png'; optimizeForSpeed: boolean }, { readonly data: string }];
  'Page.bringToFront': [Nothing, Nothing];
  'Page.crash': [Nothing, Nothing];
  'Page.createIsolatedWorld': [{ frameId: string; worldName: string }, { readonly executionContextId: number }];
  'Page.enable': [Nothing, Nothing];
  'Page.getFrameTree': [Nothing, { readonly frameTree: CdpFrameTree }];
  'Page.getNavigationHistory': [
    Nothing,
    { readonly currentIndex: number; readonly entries: readonly { readonly id: number; readonly url: string }[] },
  ];
  'Page.handleJavaScriptDialog': [{ accept: boolean; promptText?: string }, Nothing];
  'Page.navigate': [
    { url: string },
    {
      readonly frameId: string;
      readonly loaderId?: string;
      readonly errorText?: string;
      readonly isDownload?: boolean;
    },
  ];
  'Page.navigateToHistoryEntry': [{ entryId: number }, Nothing];
  'Page.screencastFrameAck': [{ sessionId: number }, Nothing];
  'Page.setInterceptFileChooserDialog': [{ enabled: boolean }, Nothing];
  'Page.setLifecycleEventsEnabled': [{ enabled: boolean }, Nothing];
  'Page.startScreencast': [{ format: 'jpeg' | 'png'; quality?: number; maxWidth: number; maxHeight: number }, Nothing];
  'Page.stopLoading': [Nothing, Nothing];
  'Page.stopScreencast': [Nothing, Nothing];
  'Runtime.discardConsoleEntries': [Nothing, Nothing];
  'Runtime.callFunctionOn': [
    {
      functionDeclaration: string;
      arguments: readonly { readonly value: unknown }[];
      /** Either the object that it is called on, or where. */
      objectId?: string;
      executionContextId?: number;
      returnByValue?: boolean;
      awaitPromise?: boolean;
    },
    { readonly result: CdpRemoteObject; readonly exceptionDetails?: CdpExceptionDetails },
  ];
  'Runtime.addBinding': [{ name: string; executionContextName: string }, Nothing];
  'Runtime.enable': [Nothing, Nothing];
  'Runtime.evaluate': [
    {
      expression: string;
      contextId?: number;
      returnByValue?: boolean;
      awaitPromise?: boolean;
      userGesture?: boolean;
    },
    { readonly result: CdpRemoteObject; readonly exceptionDetails?: CdpExceptionDetails },
  ];
  'Runtime.releaseObject': [{ objectId: string }, Nothing];
  'Runtime.runIfWaitingForDebugger': [Nothing, Nothing];
  'Runtime.terminateExecution': [Nothing, Nothing];
  'Security.setIgnoreCertificateErrors': [{ ignore: boolean }, Nothing];
  'Storage.setCookies': [{ cookies: readonly { readonly [field: string]: unknown }[] }, Nothing];
  'Target.closeTarget': [{ targetId: string }, Nothing];
  'Target.createTarget': [{ url: string }, { readonly targetId: string }];
  'Target.setAutoAttach': [
    {
      autoAttach: boolean;
      waitForDebuggerOnStart: boolean;
      flatten: boolean;
      filter: readonly { type?: string; exclude?: boolean }[];
    },
    Nothing,
  ];
  'Target.setDiscoverTargets': [
    { discover: boolean; filter: readonly { type?: string; exclude?: boolean }[] },
    Nothing,
  ];
}

/** A node as the protocol describes it, with as much of what is in it as was asked for. */
export interface CdpNode {
  readonly backendNodeId: number;
  readonly children?: readonly CdpNode[];
  readonly shadowRoots?: readonly CdpNode[];
  readonly shadowRootType?: 'open' | 'closed' | 'user-agent';
  /** Of a frame. */
  readonly frameId?: string;
  readonly contentDocument?: CdpNode;
}

/** Parameters of each event. */
export interface CdpEvents {
  'Browser.downloadProgress': {
    guid: string;
    receivedBytes: number;
    state: 'inProgress' | 'completed' | 'canceled';
  };
  'Browser.downloadWillBegin': { frameId: string; guid: string; url: string; suggestedFilename: string };
  'Fetch.authRequired': { requestId: string; request: { url: string }; authChallenge: { source?: 'Server' | 'Proxy' } };
  'Fetch.requestPaused': { requestId: string; request: { url: string } };
  'Input.dragIntercepted': { data: unknown };
  'Inspector.targetCrashed': Nothing;
  'Network.loadingFailed': { requestId: string; timestamp: number; errorText: string };
  'Network.loadingFinished': { requestId: string; timestamp: number };
  'Network.requestWillBeSent': {
    requestId: string;
    loaderId: string;
    request: CdpRequest;
    /** Seconds since 1970. */
    wallTime: number;
    /** Seconds of the browser's own clock. */
    timestamp: number;
    redirectResponse?: CdpResponse;
    type?: string;
    frameId?: string;
  };
  'Network.responseReceived': { requestId: string; timestamp: number; type: string; response: CdpResponse };
  'Page.fileChooserOpened': { backendNodeId?: number; mode: string };
  'Page.frameAttached': { frameId: string; parentFrameId: string };
  'Page.frameClearedScheduledNavigation': { frameId: string };
  'Page.frameDetached': { frameId: string; reason: 'remove' | 'swap' };
  'Page.frameNavigated': { frame: CdpFrame };
  'Page.frameRequestedNavigation': { frameId: string; url: string; disposition: string };
  'Page.frameScheduledNavigation': { frameId: string; url: string; delay: number };
  'Page.frameStartedNavigating': { frameId: string; loaderId: string; url: string; navigationType: string };
  'Page.frameStoppedLoading': { frameId: string };
  'Page.javascriptDialogClosed': { result: boolean };
  'Page.javascriptDialogOpening': { type: string; message: string; defaultPrompt?: string };
  'Page.lifecycleEvent': { frameId: string; loaderId: string; name: string };
  'Page.navigatedWithinDocument': { frameId: string; url: string };
  'Page.screencastFrame': {
    data: string;
    metadata: { deviceWidth: number; deviceHeight: number };
    sessionId: number;
  };
  'Page.windowOpen': { url: string };
  'Runtime.bindingCalled': { name: string; payload: string; executionContextId: number };
  'Runtime.consoleAPICalled': { type: string; args: readonly CdpRemoteObject[] };
  'Runtime.exceptionThrown': { exceptionDetails: CdpExceptionDetails };
  'Runtime.executionContextCreated': {
    context: { id: number; name: string; auxData?: { frameId?: string; isDefault?: boolean } };
  };
  'Runtime.executionContextDestroyed': { executionContextId: number };
  'Runtime.executionContextsCleared': Nothing;
  'Target.attachedToTarget': { sessionId: string; targetInfo: CdpTargetInfo; waitingForDebugger: boolean };
  'Target.detachedFromTarget': { sessionId: string };
  'Target.targetInfoChanged': { targetInfo: CdpTargetInfo };
}

export type CdpMethod = keyof CdpCommands;
export type CdpParams<M extends CdpMethod> = CdpCommands[M][0];
export type CdpResult<M extends CdpMethod> = CdpCommands[M][1];

/** An event of the browser (`session` is undefined) or of an attached page, as a union that `method` narrows. */
export type CdpEvent = {
  [E in keyof CdpEvents]: {
    readonly method: E;
    readonly params: CdpEvents[E];
    readonly session: string | undefined;
  };
}[keyof CdpEvents];
