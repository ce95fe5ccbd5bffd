/** The waveforms of an entry, stacked on one timeline. */
import type { ReportFit, ReportTrack } from '../../report/page-facts.ts';
import { rateFit } from '../../report/speech-fit.ts';
import { decodePeaks, drawWave, WAVE_HALF } from '../playback.ts';
import { TRACK_NAMES } from '../words.ts';
import { drawElement, makeElement } from './element.ts';

interface Waves {
  readonly node: HTMLElement;
  /** Buttons in the order of the tracks; each makes its track audible. */
  readonly choices: readonly HTMLInputElement[];
  /** 0 to 1. */
  moveTo(share: number): void;
}

interface WaveTask {
  readonly tracks: readonly ReportTrack[];
  /** The one that is heard at first. */
  readonly first: number;
  readonly fit: ReportFit;
  readonly durationMs: number;
  readonly onListen: (place: number) => void;
  /** Seconds. */
  readonly onSeek: (seconds: number) => void;
}

export function makeWaves({ tracks, first, fit, durationMs, onListen, onSeek }: WaveTask): Waves {
  const choices = tracks.map((_, place) => {
    const radio = makeElement('input', { type: 'radio', name: 'heard', checked: place === first });
    radio.addEventListener('change', () => onListen(place));
    return radio;
  });
  const peaks = tracks.map(({ sound }) => (sound === null ? null : decodePeaks(sound.peaks)));
  // One scale for all tracks, so that their loudness can be compared.
  const loudest = Math.max(1, ...peaks.map((own) => own?.reduce(larger, 0) ?? 0));
  const rows = tracks.map((track, place) => {
    const wave = makeWave(track, peaks[place] ?? null, loudest, durationMs);
    const marks = fit.measured_on === track.role ? makeMarks(fit, durationMs) : [];
    const lane = makeElement('div', { class: `lane ${track.role}` }, wave, ...marks);
    lane.append(makeElement('div', { class: 'playhead' }));
    lane.addEventListener('click', (event) => {
      const box = lane.getBoundingClientRect();
      onSeek(((event.clientX - box.left) / box.width) * (durationMs / 1000));
    });
    const label = makeElement('label', {}, choices[place], makeElement('span', {}, TRACK_NAMES[track.role]));
    return makeElement('div', { class: 'wave' }, label, lane);
  });
  const legend = makeElement('legend', {}, 'Listen to');
  const node = makeElement('fieldset', { class: 'waves' }, legend, ...rows);
  return { node, choices, moveTo: (share) => node.style.setProperty('--at', String(share)) };
}

const larger = (left: number, right: number) => Math.max(left, right);

/** A shorter track is drawn shorter. */
function makeWave(
  { sound }: ReportTrack,
  peaks: Uint8Array | null,
  loudest: number,
  durationMs: number,
): Element {
  if (sound === null || peaks === null || peaks.length === 0) {
    return makeElement('p', { class: 'unknown' }, 'no waveform: its sound could not be read');
  }
  const width = durationMs > 0 ? (peaks.length * durationMs) / Math.max(1, sound.duration_ms) : peaks.length;
  return drawElement(
    'svg',
    { viewBox: `0 0 ${width} ${2 * WAVE_HALF}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    drawElement('path', { d: drawWave(peaks, loudest) }),
  );
}

/** Marks where speech is too long or missing. */
function makeMarks(fit: Extract<ReportFit, { lines: unknown }>, durationMs: number): HTMLElement[] {
  return fit.lines.flatMap((line) => {
    const { grade } = rateFit(line);
    if (grade === 'fits' || grade === 'unclear' || line.speech === 'unclear') return [];
    const from = grade === 'over' ? line.slot_end_ms : line.slot_start_ms;
    const to = grade === 'over' ? (line.speech?.end_ms ?? line.slot_end_ms) : line.slot_end_ms;
    const mark = makeElement('div', { class: `mark ${grade}` });
    mark.style.left = `${(from / durationMs) * 100}%`;
    mark.style.width = `${((to - from) / durationMs) * 100}%`;
    return [mark];
  });
}
