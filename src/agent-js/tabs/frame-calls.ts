import { formatLocator, parseLocator } from '../../page/locator.js';
import {
  isProblem,
  type MatchCounts,
  type Observation,
  type ObserveRequest,
  type PageCallName,
  type PageCalls,
  type PageProblem,
} from '../../page/page-calls.js';
import type { Bounds } from '../browser/bounds.js';
import type { Place } from '../locating/problem-error.js';
import type { Asker, ShownPlace } from '../locating/shown-numbers.js';
import type { Frames } from './frames.js';
import type { PageWorld } from './page-world.js';

/** Where no frame gives a sign, they are asked again after this. */
const AGAIN_MS = 250;
/** Matches that an error lists. */
const MAX_LISTED = 20;

type Located = PageCallName & ('ready' | 'dropPoint' | 'box' | 'spot' | 'text' | 'value' | 'waitFor' | 'observe');
type LocatedArgs = PageCalls[Located][0];
type Answer<N extends PageCallName> = { readonly title: string; readonly value: PageCalls[N][1] } | null;

/** Where the element is that a locator means, and what it is called there. */
interface Spot {
  readonly world: PageWorld;
  /** The frame, for one that is apart from the page. */
  readonly frame: string | null;
  readonly locator: string;
  /** The look whose number the locator has; without it, what it means now. */
  readonly look?: number;
  /** Neither clipped nor covered, as far as that was wanted. */
  readonly isOpen: boolean;
  /** A frame that it stands in can only be read. */
  readonly isInert: boolean;
}

/** All that a locator means. */
interface Spots {
  /** What its numbers mean: what can be used, or where nothing of it can, what can be read. */
  readonly meant: readonly Spot[];
  /** How many there are in all. */
  readonly total: number;
}

/**
 * Calls about one element on a page that has frames of other origins: the locator is counted through all of them in the
 * order of drawing, as look numbers them, and the call goes to the frame that has the element. Points come back in the
 * page's own coordinates.
 */
export class FrameCalls {
  readonly #frames: Frames;
  readonly #place: () => Place;
  readonly #asker: () => Asker;
  /** Where the action under way is. */
  #acting: Spot | null = null;
  /** Where the last one was. */
  #acted: PageWorld | null = null;
  /** Where the drag under way will end. */
  #dropping: Spot | null = null;

  /**
   * @param place where the page is: a frame would tell of itself
   * @param asker who makes the call that is under way
   */
  constructor(frames: Frames, place: () => Place, asker: () => Asker) {
    this.#frames = frames;
    this.#place = place;
    this.#asker = asker;
  }

  /** Null where the document went meanwhile. */
  async ask<N extends PageCallName>(name: N, given: PageCalls[N][0], bounds: Bounds): Promise<Answer<N>> {
    const { main, apart } = this.#frames;
    const { flowRun, numbers } = this.#asker();
    const args = isLocated(name, given) ? { ...given, flowRun } : given;
    const source = isLocated(name, args) ? args.locator : null;
    const shown = source === null ? null : (numbers?.find(source) ?? null);
    if (shown !== null && isLocated(name, args)) {
      // The answer is the one that the name stands for.
      return (await this.#askShown(name as Located, args, shown, bounds)) as Answer<N>;
    }
    if (apart.length === 0) {
      if (name === 'ready') this.#acting = this.#acted = null;
      const answer = main.tryCall(name, args, bounds);
      const waits = name === 'waitFor' || (isObserving(args) && args.since !== null && args.ms > 0);
      return waits ? this.#unlessFramesCome(name, args, answer, bounds) : answer;
    }
    // The answer is the one that the name stands for.
    if (isLocated(name, args)) return (await this.#askLocated(name as Located, args, bounds)) as Answer<N>;
    if (name === 'takesDrop' || name === 'turn' || name === 'dragShift') return this.acting.tryCall(name, args, bounds);
    if (name === 'giveUp') {
      const asked = apart.map((frame) => this.#frames.ask(frame, name, args, bounds));
      const [answer] = await Promise.all([main.tryCall(name, args, bounds), ...asked]);
      return answer;
    }
    if (name === 'late') return (this.#acted ?? main).tryCall(name, args, bounds);
    if (name !== 'finish' || this.#acting === null) return main.tryCall(name, args, bounds);
    return this.#finish(name, args, this.#acting, bounds);
  }

  /** About the element that a look showed. */
  async #askShown(name: Located, args: LocatedArgs, place: ShownPlace, bounds: Bounds): Promise<Answer<Located>> {
    const { frame, locator, look } = place;
    const world = this.#frames.world(frame);
    if (world === undefined) {
      return { title: this.#place().title, value: { problem: 'stale', reason: 'its frame has left the page' } };
    }
    const spot = { world, frame, locator, look, isOpen: true, isInert: false };
    const patience = performance.now() + ('ms' in args ? args.ms : 0);
    while (frame !== null && isUse(name) && (await this.#isBehind(frame, bounds))) {
      const left = patience - performance.now();
      if (left <= 0) return { title: this.#place().title, value: BEHIND };
      await this.#anyChange(Math.min(AGAIN_MS, left), bounds);
    }
    const left = Math.max(0, patience - performance.now());
    const answer = await this.#askAt(name, 'ms' in args ? { ...args, ms: left } : args, spot, bounds);
    return answer === 'again' ? null : answer;
  }

  /** Whether a frame, or one around it, can only be read. */
  async #isBehind(frame: string, bounds: Bounds): Promise<boolean> {
    for (const inner of this.#outward(frame)) {
      const answer = await this.#worldAround(inner)?.tryCall('inert', { frame: inner }, bounds);
      if (answer?.value.inert === true) return true;
    }
    return false;
  }

  /** What is waited for may come in a frame that is not there yet. */
  async #unlessFramesCome<N extends PageCallName>(
    name: N,
    args: PageCalls[N][0],
    answer: Promise<Answer<N>>,
    bounds: Bounds,
  ): Promise<Answer<N>> {
    const startedAt = performance.now();
    const come = this.#frames.untilApart(bounds);
    const done = answer.then((value) => ({ value }));
    done.catch(() => undefined);
    const first = async () => ((await come.settled.catch(() => false)) ? null : done);
    try {
      const outcome = await Promise.race([done, first()]);
      if (outcome !== null) return outcome.value;
      const waited = performance.now() - startedAt;
      const left = args !== null && 'ms' in args ? { ...args, ms: Math.max(0, args.ms - waited) } : args;
      return this.ask(name, left, bounds);
    } finally {
      come.stop();
    }
  }

  /** The world of the action under way. */
  get acting(): PageWorld {
    return this.#acting?.world ?? this.#frames.main;
  }

  async #askLocated(name: Located, args: LocatedArgs, bounds: Bounds): Promise<Answer<Located>> {
    const { locator: source } = args;
    if (source === null) {
      const again = name === 'dropPoint' && this.#dropping !== null ? this.#dropping : null;
      if (again === null) return this.#frames.main.tryCall(name, args, bounds);
      const answer = await this.#askAt(name, args, again, bounds);
      return answer === 'again' ? null : answer;
    }
    if (isObserving(args)) return this.#observe({ ...args, locator: source }, bounds);
    const asksAbsence = 'gone' in args && args.gone;
    // The page is given so long; the bounds leave time for its last word.
    const patience = performance.now() + ('ms' in args ? args.ms : 0);
    const titled = (value: PageCalls[Located][1]) => ({ title: this.#place().title, value });
    for (;;) {
      const spots = await this.#spots(source, name !== 'waitFor', bounds);
      if (spots === null) return null;
      if (isProblem(spots)) return titled(spots);
      const { meant, total } = numberedIn(spots, source);
      if (asksAbsence && total === 0) return titled({ found: true });
      if (name === 'waitFor' && !asksAbsence && meant.length > 0) return titled({ found: true });
      const [spot, second] = onlyOpen(meant);
      if (!asksAbsence && second !== undefined) return titled({ problem: 'ambiguous', matches: listed(meant) });
      let refused = false;
      if (spot !== undefined && !asksAbsence) {
        const left = Math.max(0, patience - performance.now());
        refused = spot.isInert && isUse(name);
        const answer = refused
          ? 'again'
          : await this.#askAt(name, 'ms' in args ? { ...args, ms: left } : args, spot, bounds);
        if (answer !== 'again') return answer;
      }
      const left = patience - performance.now();
      if (left <= 0 && name === 'waitFor') return titled({ found: false });
      if (left <= 0) return refused ? titled(BEHIND) : this.#lastWord(name, args, bounds);
      await this.#anyChange(Math.min(AGAIN_MS, left), bounds);
    }
  }

  /** Reads the one element that a locator means in all frames, or how many there are. */
  async #observe(request: ObserveRequest & { readonly locator: string }, bounds: Bounds): Promise<Answer<'observe'>> {
    const { locator, what, since } = request;
    const patience = performance.now() + request.ms;
    for (;;) {
      const spots = await this.#spots(locator, what !== 'count', bounds);
      if (spots === null) return null;
      const left = Math.max(0, patience - performance.now());
      const { meant, total } = isProblem(spots) ? NO_SPOTS : numberedIn(spots, locator);
      const [spot, second] = what === 'count' ? [] : onlyOpen(meant);
      let reading: Observation | null;
      if (!isProblem(spots) && (what === 'count' || second !== undefined)) {
        reading = readingOf(what, meant, total);
      } else if (spot === undefined && total > 0) {
        reading = { id: 'behind', observed: { kind: 'problem', problem: BEHIND_MISSING } };
      } else if (spot === undefined) {
        reading =
          (await this.#frames.main.tryCall('observe', { ...request, since: null, ms: 0 }, bounds))?.value ?? null;
      } else {
        // A change elsewhere may make the locator mean another element.
        const answer = await this.#observeAt({ ...request, ms: Math.min(AGAIN_MS, left) }, spot, bounds);
        if (answer === null) return null;
        reading = answer !== 'again' && 'observed' in answer.value ? answer.value : null;
      }
      if (reading === null) return null;
      if (reading.id !== since || left === 0) return { title: this.#place().title, value: reading };
      if (spot === undefined || second !== undefined) await this.#anyChange(Math.min(AGAIN_MS, left), bounds);
    }
  }

  /** Reads the element of a frame, which may leave the page meanwhile. */
  async #observeAt(request: ObserveRequest, spot: Spot, bounds: Bounds): Promise<Answer<Located> | 'again'> {
    const asked = this.#askAt('observe', request, spot, bounds);
    if (spot.frame === null) return asked;
    asked.catch(() => undefined);
    const gone = this.#frames.untilGone(spot.frame, spot.world.session, bounds);
    const left = async () => ((await gone.settled.catch(() => false)) ? ('again' as const) : asked);
    try {
      return await Promise.race([asked, left()]);
    } finally {
      gone.stop();
    }
  }

  /** What the page's own document says of an element that is nowhere. */
  #lastWord(name: Located, args: LocatedArgs, bounds: Bounds): Promise<Answer<Located>> {
    return this.#frames.main.tryCall(name, { ...args, ms: 0 }, bounds);
  }

  async #askAt(name: Located, args: LocatedArgs, spot: Spot, bounds: Bounds): Promise<Answer<Located> | 'again'> {
    const { locator, look } = spot;
    const own = args.locator === null ? args : { ...args, locator, ...(look === undefined ? {} : { look }) };
    const answer = await spot.world.tryCall(name, own, bounds);
    if (answer === null) return 'again';
    const { value } = answer;
    if (name === 'dropPoint') this.#dropping = spot;
    if (name === 'ready') this.#acting = isProblem(value) ? null : spot;
    if (spot.frame === null) return answer;
    const { title } = this.#place();
    if (name === 'box' || name === 'spot') return { title, value: OTHER_ORIGIN };
    if (isProblem(value) || !('x' in value)) return { title, value };
    const point = await this.#throughFrames(spot.frame, { x: value.x, y: value.y }, bounds);
    if (point === null) return 'again';
    if (isProblem(point)) return { title, value: point };
    return { title, value: { ...value, ...point } };
  }

  /** From a frame's coordinates outwards to the page's own. */
  async #throughFrames(
    frame: string,
    point: { readonly x: number; readonly y: number },
    bounds: Bounds,
  ): Promise<{ readonly x: number; readonly y: number } | PageProblem | null> {
    let at = point;
    for (const inner of this.#outward(frame)) {
      const around = this.#worldAround(inner);
      const answer = (await around?.tryCall('through', { frame: inner, ...at }, bounds)) ?? null;
      if (answer === null || isProblem(answer.value)) return answer?.value ?? null;
      at = answer.value;
    }
    return at;
  }

  async #finish<N extends PageCallName>(
    name: N,
    args: PageCalls[N][0],
    { world, frame }: Spot,
    bounds: Bounds,
  ): Promise<Answer<N>> {
    const answer = await world.tryCall(name, args, bounds);
    // Asked again when its input has arrived.
    if (answer !== null && 'heard' in answer.value && !answer.value.heard) return answer;
    this.#acting = null;
    this.#acted = world;
    if (frame === null) return answer;
    const released = this.#outward(frame).map((inner) => this.#worldAround(inner)?.tryCall('release', null, bounds));
    let missed: string | null = null;
    for (const one of await Promise.all(released)) missed = one?.value.missed ?? missed;
    if (answer === null) return null;
    const place = this.#place();
    const value = { ...answer.value, ...place, ...(missed === null ? {} : { missed }) };
    return { title: place.title, value };
  }

  /** The frame, and those around it that are apart from what is around them. */
  #outward(frame: string): string[] {
    const apart = new Set(this.#frames.apart);
    const frames: string[] = [];
    for (let at: string | null = frame; at !== null; at = this.#frames.parentOf(at)) if (apart.has(at)) frames.push(at);
    return frames;
  }

  /** The world that reaches the element of a frame. */
  #worldAround(frame: string): PageWorld | undefined {
    const [, outer] = this.#outward(frame);
    return this.#frames.world(outer ?? null);
  }

  async #anyChange(ms: number, bounds: Bounds): Promise<void> {
    const worlds = [this.#frames.main, ...this.#frames.apart.flatMap((frame) => this.#frames.world(frame) ?? [])];
    await Promise.race(worlds.map((world) => world.tryCall('change', { ms }, bounds).catch(() => null)));
  }

  /**
   * Everything that a locator means without its number, in the order of the document. Null where the document went.
   *
   * @param sifts which of several are neither clipped nor covered is wanted
   */
  async #spots(source: string, sifts: boolean, bounds: Bounds): Promise<Spots | PageProblem | null> {
    const locator = parseLocator(source);
    const count = { locator: unnumbered(source), sifts };
    const counted = await this.#count(count, bounds);
    if (counted === null || isProblem(counted)) return counted;
    const inner = new Map<string, MatchCounts>();
    const hasUnnamed = ({ frames }: MatchCounts): boolean => frames.some(({ frame }) => frame === null);
    let unnamed = hasUnnamed(counted);
    const countIn = async (frame: string): Promise<void> => {
      const counts = await this.#frames.ask(frame, 'count', count, bounds);
      if (counts === null || isProblem(counts)) return;
      inner.set(frame, counts);
      unnamed ||= hasUnnamed(counts);
    };
    await Promise.all(this.#frames.apart.map(countIn));
    if (unnamed) {
      await this.#frames.nameFrames(bounds);
      const again = await this.#count(count, bounds);
      if (again === null || isProblem(again)) return again;
      await Promise.all(this.#frames.apart.map(countIn));
      return this.#choose(locator, source, again, inner);
    }
    return this.#choose(locator, source, counted, inner);
  }

  #choose(
    locator: ReturnType<typeof parseLocator>,
    source: string,
    main: MatchCounts,
    inner: ReadonlyMap<string, MatchCounts>,
  ): Spots {
    const controls: Spot[] = [];
    const others: Spot[] = [];
    /** What can only be read. */
    const behind: Spot[] = [];
    let total = 0;
    const visit = (frame: string | null, found: MatchCounts, isOpen: boolean, isInert: boolean): void => {
      const world = this.#frames.world(frame);
      if (world === undefined) return;
      const { counts, frames, others: loose, inert, open } = found;
      const usable = counts.reduce((sum, count) => sum + count, 0);
      const at = (number: number, of: number): Spot => ({
        world,
        frame,
        locator: numbered(locator, source, number, of),
        isOpen: isOpen && open.includes(number),
        isInert,
      });
      const addAll = (to: Spot[], count: number): void => {
        for (let nth = 1; nth <= count; nth++) to.push(at(nth, count));
      };
      total += usable + loose + inert;
      // A frame numbers what it can use itself, or else what it can only read.
      if (usable + loose === 0) addAll(behind, inert);
      else if (isInert) addAll(behind, usable + loose);
      else addAll(others, loose);
      let number = 0;
      counts.forEach((count, index) => {
        for (let nth = 0; nth < count && !isInert; nth++) controls.push(at(++number, usable));
        const next = frames[index];
        const inside = next === undefined || next.frame === null ? undefined : inner.get(next.frame);
        if (next === undefined || inside === undefined) return;
        visit(next.frame, inside, isOpen && next.isOpen, isInert || next.isInert);
      });
      if (counts.length > 0) return;
      // CSS and XPath do not tell where between them a frame stands.
      for (const next of this.#childrenOf(frame)) {
        const isBehind = frames.some((one) => one.frame === next && one.isInert);
        visit(next, inner.get(next) ?? NO_MATCHES, isOpen, isInert || isBehind);
      }
    };
    visit(null, main, true, false);
    const usable = controls.length > 0 ? controls : others;
    return { meant: usable.length > 0 ? usable : behind, total };
  }

  #childrenOf(frame: string | null): string[] {
    return this.#frames.apart.filter((one) => (this.#outward(one)[1] ?? null) === frame);
  }

  async #count(count: PageCalls['count'][0], bounds: Bounds): Promise<MatchCounts | PageProblem | null> {
    const answer = await this.#frames.main.tryCall('count', count, bounds);
    return answer?.value ?? null;
  }
}

const OTHER_ORIGIN: PageProblem = {
  problem: 'blocked',
  reason: 'is in a frame of another origin: take a screenshot of the whole page instead',
  final: true,
};
/** In a frame that is itself behind a dialog. */
const BEHIND: PageProblem = {
  problem: 'blocked',
  reason: 'is in a frame that is behind a modal dialog, or inert',
  final: false,
};
const BEHIND_MISSING: PageProblem = {
  problem: 'missing',
  message: 'Of so many, some are behind a modal dialog, or inert',
  near: [],
  alike: [],
  says: [],
  behind: true,
};
const NO_MATCHES: MatchCounts = { counts: [], frames: [], others: 0, inert: 0, open: [] };
const NO_SPOTS: Spots = { meant: [], total: 0 };

/** The one that the number of a locator means, if it has one, and whether there are so many. */
function numberedIn({ meant, total }: Spots, source: string): Spots {
  const locator = parseLocator(source);
  const index = locator?.kind === 'text' ? locator.index : undefined;
  return index === undefined
    ? { meant, total }
    : { meant: meant.slice(index - 1, index), total: total < index ? 0 : 1 };
}

/** Of several the only one that is neither clipped nor covered is meant. */
function onlyOpen(spots: readonly Spot[]): readonly Spot[] {
  const open = spots.filter(({ isOpen }) => isOpen);
  return open.length === 1 ? open : spots;
}

/** Whether something is done to the element, rather than read of it. */
function isUse(name: Located): boolean {
  return name === 'ready' || name === 'dropPoint';
}

function isObserving(args: PageCalls[PageCallName][0]): args is ObserveRequest {
  return args !== null && 'what' in args;
}

/** A reading of several elements, or of their number. */
function readingOf(what: ObserveRequest['what'], spots: readonly Spot[], total: number): Observation {
  const id = `${total} elements`;
  if (what === 'count') return { id, observed: { kind: 'value', value: total } };
  return { id, observed: { kind: 'problem', problem: { problem: 'ambiguous', matches: listed(spots) } } };
}

function isLocated(name: PageCallName, args: PageCalls[PageCallName][0]): args is LocatedArgs {
  return name !== 'count' && args !== null && 'locator' in args;
}

function unnumbered(source: string): string {
  const locator = parseLocator(source);
  return locator?.kind === 'text' ? formatLocator({ ...locator, index: undefined }) : source;
}

function numbered(locator: ReturnType<typeof parseLocator>, source: string, number: number, of: number): string {
  if (locator?.kind !== 'text') return source;
  return formatLocator({ ...locator, index: of > 1 ? number : undefined });
}

function listed(spots: readonly Spot[]): string[] {
  return spots.slice(0, MAX_LISTED).map(({ locator }, index) => {
    const parsed = parseLocator(locator);
    return parsed?.kind === 'text' ? formatLocator({ ...parsed, index: index + 1 }) : locator;
  });
}
