import type { SessionEvent } from '../protocol/events.js';

/** Gives events the name of the browser that they are of, and their calls: `agent.session("bob").go("/")`. */
export function namedEvents(session: string): (event: SessionEvent) => SessionEvent {
  const called = (js: string): string => js.replace(/^agent\./, () => `agent.session(${JSON.stringify(session)}).`);
  return (event) => {
    switch (event.type) {
      case 'StepFinished':
        return { type: event.type, data: { ...event.data, js: called(event.data.js), session } };
      case 'AssertionChecked': {
        const { js } = event.data;
        return { type: event.type, data: { ...event.data, ...(js === undefined ? {} : { js: called(js) }), session } };
      }
      case 'PageErrorLogged':
        return { type: event.type, data: { ...event.data, session } };
      case 'ScreenshotTaken':
        return { type: event.type, data: { ...event.data, session } };
      case 'DialogOpened':
        return { type: event.type, data: { ...event.data, session } };
      case 'DownloadFinished':
        return { type: event.type, data: { ...event.data, session } };
      default:
        return event;
    }
  };
}
