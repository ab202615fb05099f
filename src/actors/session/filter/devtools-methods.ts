/** Domains whose commands all act on the pages of the session, except those in {@link REFUSED}. */
const WHOLE_DOMAINS = words(`
  Accessibility Ads Animation Audits Autofill BackgroundService BluetoothEmulation CSS CacheStorage Console
  CrashReportContext DOM DOMDebugger DOMSnapshot DOMStorage Debugger DeviceAccess DeviceOrientation DigitalCredentials
  Emulation EventBreakpoints FedCm Fetch FileSystem FindInPage HeapProfiler IO IndexedDB Input Inspector LayerTree Log
  Media Network Overlay Performance PerformanceTimeline Preload Profiler Runtime Schema Security ServiceWorker
  SmartCardEmulation WebAudio WebAuthn WebMCP
`);

/** Domains of which only these commands are allowed: the others act on the browser, its host or the machine. */
const SINGLE_COMMANDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'Browser',
    words(`
      addMockCamera addPrivacySandboxCoordinatorKeyConfig addPrivacySandboxEnrollmentOverride cancelDownload close
      getGlobalPrivacyControl getHistogram getHistograms getVersion getWindowBounds getWindowForTarget grantPermissions
      resetPermissions setContentsSize setDockTile setDownloadBehavior setGlobalPrivacyControl setPermission
      setWindowBounds
    `),
  ],
  [
    'Memory',
    words(`
      getAllTimeSamplingProfile getDOMCounters getDOMCountersForLeakDetection getSamplingProfile prepareForLeakDetection
      startSampling stopSampling
    `),
  ],
  [
    'Page',
    words(`
      addScriptToEvaluateOnLoad addScriptToEvaluateOnNewDocument bringToFront captureScreenshot captureSnapshot
      clearCompilationCache clearDeviceMetricsOverride clearDeviceOrientationOverride clearGeolocationOverride close
      createIsolatedWorld deleteCookie disable enable generateTestReport getAdScriptAncestry getAdScriptId
      getAnnotatedPageContent getAppId getAppManifest getCookies getFrameTree getInstallabilityErrors getLayoutMetrics
      getManifestIcons getNavigationHistory getOriginTrials getPermissionsPolicyState getResourceContent getResourceTree
      getSiblingSubApps getSubApps handleJavaScriptDialog navigate navigateToHistoryEntry printToPDF
      produceCompilationCache reload removeScriptToEvaluateOnLoad removeScriptToEvaluateOnNewDocument
      resetNavigationHistory screencastFrameAck searchInResource setAdBlockingEnabled setBypassCSP
      setDeviceMetricsOverride setDeviceOrientationOverride setDocumentContent setDownloadBehavior setFontFamilies
      setFontSizes setGeolocationOverride setInterceptFileChooserDialog setLifecycleEventsEnabled setPrerenderingAllowed
      setRPHRegistrationMode setSPCTransactionMode setTouchEmulationEnabled setWebLifecycleState startScreenRecording
      startScreencast stopLoading stopScreenRecording stopScreencast waitForDebugger
    `),
  ],
  [
    'Storage',
    words(`
      clearCookies clearDataForOrigin clearDataForStorageKey clearPrivateVerificationTokens clearSharedStorageEntries
      clearTrustTokens deletePrivateVerificationToken deleteSharedStorageEntry deleteStorageBucket
      getAffectedUrlsForThirdPartyCookieMetadata getCookies getInterestGroupDetails getPrivateVerificationTokens
      getPrivateVerificationTokensIssuerConfigs getRelatedWebsiteSets getSharedStorageEntries getSharedStorageMetadata
      getStorageKey getStorageKeyForFrame getTrustTokens getUsageAndQuota overrideQuotaForOrigin
      resetSharedStorageBudget runBounceTrackingMitigations sendPendingAttributionReports
      setAttributionReportingLocalTestingMode setAttributionReportingTracking setCookies setInterestGroupAuctionTracking
      setInterestGroupTracking setPrivateVerificationTokensTracking setSharedStorageEntry setSharedStorageTracking
      setStorageBucketTracking trackCacheStorageForOrigin trackCacheStorageForStorageKey trackIndexedDBForOrigin
      trackIndexedDBForStorageKey untrackCacheStorageForOrigin untrackCacheStorageForStorageKey
      untrackIndexedDBForOrigin untrackIndexedDBForStorageKey
    `),
  ],
  ['SystemInfo', words('getFeatureState getProcessInfo')],
  [
    'Target',
    words(`
      activateTarget attachToBrowserTarget attachToTarget autoAttachRelated closeTarget createBrowserContext createTarget
      detachFromTarget disposeBrowserContext getBrowserContexts getTargetInfo getTargets setAutoAttach
      setDiscoverTargets
    `),
  ],
  ['Tracing', words('end getCategories getTrackEventDescriptor recordClockSyncMarker requestMemoryDump start')],
]);

const NESTED = 'nested commands are not checked; attach with "flatten": true and send commands with the "sessionId"';
const NO_CRASH = 'the browser of a session must not be crashed; DELETE /api/sessions/{id} ends the session';
const NO_DEVTOOLS_WINDOW = 'a DevTools window reaches files of the machine; send the commands of its panels yourself';
const HOST_FLAGS = 'it names paths and ports of the machine; Browser.getVersion says which browser it is';
const EXTENSIONS = 'extensions run outside of pages; use Page.addScriptToEvaluateOnNewDocument';
const APPS = 'web apps are installed outside of the session; open their pages with Page.navigate';

/** Commands and domains that people look for: why they are refused, and what to use instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['Browser.crash', NO_CRASH],
  ['Browser.crashGpuProcess', NO_CRASH],
  ['Browser.executeBrowserCommand', 'commands of the browser window are not available; act on its pages'],
  ['Browser.getBrowserCommandLine', HOST_FLAGS],
  ['Cast', 'pages are not sent to other devices; use Page.startScreencast'],
  ['DOM.getFileInfo', 'it names paths of the machine; read name and content of the file with Runtime.callFunctionOn'],
  ['Extensions', EXTENSIONS],
  ['HeadlessExperimental', 'the browser itself schedules frames; use Page.captureScreenshot'],
  ['Memory.forciblyPurgeJavaScriptMemory', 'it breaks the page; use HeapProfiler.collectGarbage'],
  ['Memory.setPressureNotificationsSuppressed', 'it acts on the whole browser; use HeapProfiler.collectGarbage'],
  ['Memory.simulatePressureNotification', 'it acts on the whole browser; use HeapProfiler.collectGarbage'],
  ['PWA', APPS],
  ['Page.addCompilationCache', 'the browser would run the cache unchecked; let it compile the scripts'],
  ['Page.crash', NO_CRASH],
  ['Page.handleFileChooser', 'use DOM.setFileInputFiles with the "backendNodeId" of Page.fileChooserOpened'],
  ['SystemInfo.getInfo', HOST_FLAGS],
  ['Target.exposeDevToolsProtocol', 'pages must not get the protocol; use Runtime.addBinding'],
  ['Target.getDevToolsTarget', NO_DEVTOOLS_WINDOW],
  ['Target.openDevTools', NO_DEVTOOLS_WINDOW],
  ['Target.sendMessageToTarget', NESTED],
  ['Target.setRemoteLocations', 'other machines are not searched for browsers; create a session on them'],
  ['Tethering', 'ports of the machine are not opened; use Fetch.enable to answer requests of pages'],
]);

/**
 * Null for a command that may go to a session's browser; else the reason for the refusal, as the end of a sentence, and
 * what to use instead. Names are compared exactly, as Chromium compares them.
 */
export function refusalOf(method: string): string | null {
  const dot = method.indexOf('.');
  const domain = method.slice(0, Math.max(0, dot));
  const reason = REFUSED.get(method) ?? REFUSED.get(domain);
  if (reason !== undefined) return reason;
  if (WHOLE_DOMAINS.has(domain) && /^[A-Za-z0-9]+$/.test(method.slice(dot + 1))) return null;
  if (SINGLE_COMMANDS.get(domain)?.has(method.slice(dot + 1)) === true) return null;
  return 'it is not a command for the pages of a session; docs/http-api.md lists those that are';
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
