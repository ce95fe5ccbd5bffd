/** The open entry: built when it is opened, removed when another one is. */
import type { EntryDetail, TrackRole } from '../../report/page-facts.ts';
import type { ListedEntry } from '../choose.ts';
import type { Edits } from '../edits.ts';
import type { LinePair } from '../lines.ts';
import { formatClock, STATE_NAMES, speakClock } from '../words.ts';
import { makeElement } from './element.ts';
import { type Ensemble, makeEnsemble, makePlayers, type Player } from './ensemble.ts';
import { makeCues, makeCuts, makeFailures, makeFiles, makeJobs, makeLosses } from './job-details.ts';
import { type Lines, makeLines } from './lines.ts';
import { makeWaves } from './waves.ts';

export interface OpenEntry {
  readonly node: HTMLElement;
  /** Null if there is nothing to play. */
  readonly ensemble: Ensemble | null;
  stepLine(by: 1 | -1): void;
  listen(place: number): void;
  /** Stops players and timers. */
  close(): void;
}

/** @param isActive whether readers can run commands */
export function openEntry(
  entry: ListedEntry,
  detail: EntryDetail,
  edits: Edits,
  isActive: boolean,
): OpenEntry {
  const node = makeElement(
    'article',
    { class: 'entry', 'aria-labelledby': 'entry-title' },
    makeHead(entry),
    ...makeFailures(entry),
    makeCuts(entry, isActive),
    makeLosses(entry, isActive),
  );
  const deck = detail.tracks.some(({ file }) => file.present) ? makeDeck(entry, detail, edits) : null;
  const lines = deck?.lines ?? makeLines(entry, detail, edits, { seek: () => {}, heard: [] });
  const stopListening = edits.listen(() => lines.refresh());
  node.append(...(deck?.nodes ?? []));
  const isSpoken = detail.tracks.some(({ role }) => role === 'localized' || role === 'dub');
  if (lines.pairs.length > 0 || isSpoken) node.append(makeSubtitles(lines, detail));
  const more = [makeCues(entry, detail), makeJobs(entry), makeFiles(detail)];
  node.append(...more.filter((section) => section !== null));
  return {
    node,
    ensemble: deck?.ensemble ?? null,
    stepLine: (by) => deck?.stepLine(by),
    listen: (place) => deck?.listen(place),
    close() {
      stopListening();
      deck?.close();
    },
  };
}

function makeHead({ name, language, variant, state }: ListedEntry): HTMLElement {
  const title = makeElement('h2', { id: 'entry-title', dir: 'auto', tabindex: -1 }, name);
  const tags = makeElement(
    'p',
    { class: 'tags' },
    language !== null && makeElement('span', { class: 'tag' }, language),
    variant !== null && makeElement('span', { class: 'tag variant' }, variant),
    makeElement('span', { class: `state ${state}` }, STATE_NAMES[state]),
  );
  return makeElement('header', {}, title, tags);
}

function makeSubtitles(lines: Lines, { fit }: EntryDetail): HTMLElement {
  const heading = makeElement('h3', {}, 'Subtitles');
  const unknown =
    fit.measured_on === null &&
    makeElement('p', { class: 'notice' }, `How speech fits the lines is unknown: ${fit.reason}.`);
  return makeElement(
    'section',
    { class: 'subtitles' },
    heading,
    unknown,
    lines.pairs.length > 0 && lines.node,
  );
}

interface Deck {
  readonly nodes: readonly HTMLElement[];
  readonly lines: Lines;
  readonly ensemble: Ensemble;
  stepLine(by: 1 | -1): void;
  listen(place: number): void;
  close(): void;
}

/** Players, controls, waveforms and lines with a common position. */
function makeDeck(entry: ListedEntry, detail: EntryDetail, edits: Edits): Deck {
  const durationMs = entry.duration_ms ?? 0;
  const players = makePlayers(detail.tracks, () => toggle());
  const placeOf = (...roles: readonly TrackRole[]) =>
    roles.map((role) => players.findIndex(({ track }) => track.role === role)).find((place) => place >= 0);
  // People come for the result.
  const first = placeOf('localized', 'dub') ?? 0;
  const ensemble = makeEnsemble(
    players.map(({ media }) => media),
    { first, durationSeconds: durationMs / 1000 },
    () => show(),
  );
  /** Where the line ends that is played alone, in milliseconds; null for none. */
  let endMs: number | null = null;
  const seek = (seconds: number) => {
    endMs = null;
    ensemble.seek(seconds);
  };
  const listen = (place: number) => {
    const [choice, player] = [waves.choices[place], players[place]];
    if (choice === undefined || player === undefined) return;
    choice.checked = true;
    ensemble.listen(player.media);
  };
  const toggle = () => {
    endMs = null;
    ensemble.toggle();
  };
  const heard = [
    { name: 'source', place: placeOf('original', 'voice') },
    { name: 'dub', place: placeOf('localized', 'dub') },
  ].flatMap(({ name, place }) => {
    if (place === undefined) return [];
    const play = (pair: LinePair) => {
      listen(place);
      seek(pair.start_ms / 1000);
      endMs = pair.end_ms;
      if (!ensemble.isPlaying) ensemble.toggle();
    };
    return [{ name, play }];
  });
  const tracks = players.map(({ track }) => track);
  const waves = makeWaves({ tracks, first, fit: detail.fit, durationMs, onListen: listen, onSeek: seek });
  const transport = makeTransport(durationMs / 1000, {
    onToggle: () => toggle(),
    onSeek: seek,
    onRate: (rate) => ensemble.setRate(rate),
  });
  const lines = makeLines(entry, detail, edits, { seek, heard });
  let frame = 0;
  function show(): void {
    cancelAnimationFrame(frame);
    const { time, isPlaying } = ensemble;
    if (isPlaying && endMs !== null && time * 1000 >= endMs) {
      toggle();
      return;
    }
    transport.show(time, isPlaying);
    waves.moveTo(durationMs > 0 ? Math.min(1, (time * 1000) / durationMs) : 0);
    showCaptions(players, lines, time * 1000);
    if (isPlaying) frame = requestAnimationFrame(show);
  }
  show();
  const figures = players.flatMap(({ figure }) => (figure === null ? [] : [figure]));
  const screens =
    figures.length > 0
      ? [makeElement('div', { class: `screens screens-${figures.length}` }, ...figures)]
      : [];
  return {
    nodes: [...screens, transport.node, waves.node],
    lines,
    ensemble,
    stepLine(by) {
      const now = ensemble.time * 1000;
      // Slightly ahead, since a seek may end just before the start of the line.
      const target =
        by > 0
          ? lines.pairs.find((pair) => pair.start_ms > now + 50)
          : lines.pairs.findLast((pair) => pair.start_ms < now - 500);
      if (target !== undefined) seek(target.start_ms / 1000);
    },
    listen,
    close() {
      ensemble.pause();
      cancelAnimationFrame(frame);
      // Closes the files.
      for (const { media } of players) media.removeAttribute('src');
    },
  };
}

function showCaptions(players: readonly Player[], lines: Lines, ms: number): void {
  const pair = lines.follow(ms);
  for (const { track, caption } of players) {
    if (caption === null) continue;
    const line = track.role === 'localized' ? pair?.translated : pair?.original;
    caption.show(lines.textOf(line));
  }
}

interface Transport {
  readonly node: HTMLElement;
  show(seconds: number, isPlaying: boolean): void;
}

interface Handlers {
  readonly onToggle: () => void;
  readonly onSeek: (seconds: number) => void;
  readonly onRate: (rate: number) => void;
}

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 2];

function makeTransport(durationSeconds: number, { onToggle, onSeek, onRate }: Handlers): Transport {
  const play = makeElement('button', { type: 'button', class: 'play' }, 'Play');
  play.addEventListener('click', onToggle);
  const slider = makeElement('input', {
    type: 'range',
    min: 0,
    max: durationSeconds,
    step: 0.1,
    value: 0,
    'aria-label': 'Position',
  });
  slider.addEventListener('input', () => onSeek(Number(slider.value)));
  const clock = makeElement('span', { class: 'clock' });
  const rate = makeElement(
    'select',
    { 'aria-label': 'Speed' },
    ...RATES.map((value) => makeElement('option', { value, selected: value === 1 }, `${value}×`)),
  );
  rate.addEventListener('change', () => onRate(Number(rate.value)));
  const total = formatClock(durationSeconds * 1000);
  return {
    node: makeElement('div', { class: 'transport' }, play, slider, clock, rate),
    show(seconds, isPlaying) {
      const ms = seconds * 1000;
      play.textContent = isPlaying ? 'Pause' : 'Play';
      slider.value = String(seconds);
      slider.setAttribute('aria-valuetext', speakClock(ms));
      clock.textContent = `${formatClock(ms)} / ${total}`;
    },
  };
}
