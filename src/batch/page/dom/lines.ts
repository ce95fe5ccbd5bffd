/** Original and translated subtitles side by side, with the fit of each line. */

import { nameCue, type SubtitleLine } from '../../../protocol/subtitle-line.ts';
import { describeFit, type ItemCue } from '../../item-provenance.ts';
import type { EntryDetail, LineFit, ReportSubtitle } from '../../report/page-facts.ts';
import { rateFit } from '../../report/speech-fit.ts';
import type { ListedEntry } from '../choose.ts';
import type { Edits } from '../edits.ts';
import { type LinePair, lineAt, pairLines } from '../lines.ts';
import { formatCueTime, formatSeconds } from '../words.ts';
import { makeTextField } from './editor.ts';
import { languageAttribute, makeElement, makeStyled, setTabStop } from './element.ts';
import { isSpeechKnown } from './job-details.ts';

export interface Lines {
  readonly node: HTMLElement;
  readonly pairs: readonly LinePair[];
  /** Marks the line at a time, scrolls to it and returns it; null if there is none. */
  follow(ms: number): LinePair | null;
  /** Takes texts that were changed elsewhere, and those of the subtitles that are shown. */
  refresh(): void;
  /** The text of a line as it is now. */
  textOf(line: SubtitleLine | null | undefined): string;
}

/** What the player of an entry does for a line. */
export interface LinePlayer {
  seek(seconds: number): void;
  /** The tracks that can be heard for one line, by the words of their buttons. */
  readonly heard: readonly { readonly name: string; play(pair: LinePair): void }[];
}

export function makeLines(
  entry: ListedEntry,
  detail: EntryDetail,
  edits: Edits,
  { seek, heard }: LinePlayer,
): Lines {
  const { language } = entry;
  const of = (role: 'original' | 'translated') => detail.subtitles.find((found) => found.role === role);
  const original = of('original');
  const translated = of('translated');
  const pairs = pairLines(original?.lines ?? [], translated?.lines ?? []);
  const { fit } = detail;
  const fits = new Map(fit.measured_on === null ? [] : fit.lines.map((line) => [line.index, line]));
  const isFitOfTranslated = fit.measured_on !== 'voice';
  // Each part of a video counts its own cues.
  const whole = detail.cues.filter(({ part }) => part === undefined);
  const made = new Map(whole.flatMap((cue) => cue.cues.map((number) => [number, cue] as const)));
  const hasFit = fits.size + made.size > 0;
  // Cues of parts cannot be distinguished here, so nothing is known of a line without one.
  const unclear =
    isSpeechKnown(entry) && whole.length === detail.cues.length
      ? 'fits, says the service'
      : 'unclear: other sound is as loud';
  const fields: ReturnType<typeof makeTextField>[] = [];
  const cueOf = (subtitle: ReportSubtitle | undefined, line: SubtitleLine | null | undefined) => {
    const { edit = null, lines = [] } = subtitle ?? {};
    const place = line == null ? null : (edit?.places[lines.indexOf(line)] ?? null);
    return edit === null || place === null || line == null
      ? null
      : { file: edit.file, place, text: line.text };
  };
  const makeCell = (subtitle: ReportSubtitle, line: SubtitleLine | null, tag: string | null) => {
    const cue = cueOf(subtitle, line);
    if (cue === null || line === null) return makeText(line?.text, tag);
    const name = `Text of ${nameCue(subtitle.file?.name ?? '', line.index)}`;
    const id = `${subtitle.role}-${line.index}`;
    const made = makeTextField(edits, cue, { id, name, language: tag, attributes: { tabindex: -1 } });
    fields.push(made);
    return made.node;
  };
  const rows = pairs.map((pair) => {
    const measured = isFitOfTranslated ? pair.translated : pair.original;
    const clock = formatCueTime(pair.start_ms);
    const name = { 'aria-label': `Go to ${clock}` };
    const time = makeElement('button', { type: 'button', class: 'time', tabindex: -1, ...name }, clock);
    time.addEventListener('click', () => seek(pair.start_ms / 1000));
    const plays = heard.map(({ name: what, play }) => {
      const label = { 'aria-label': `Play ${what} from ${clock}` };
      const button = makeElement('button', { type: 'button', class: 'hear', tabindex: -1, ...label }, what);
      button.addEventListener('click', () => play(pair));
      return button;
    });
    const cells = [
      original && makeCell(original, pair.original, original.language),
      translated && makeCell(translated, pair.translated, translated.language ?? language),
      hasFit &&
        makeFit(
          measured === null ? undefined : fits.get(measured.index),
          pair.translated === null ? undefined : made.get(pair.translated.index),
          unclear,
        ),
    ];
    return makeElement('li', {}, makeElement('div', { class: 'times' }, time, ...plays), ...cells);
  });
  const heads = [
    original && `Original${nameLanguage(original.language)}`,
    translated && `Translation${nameLanguage(translated.language ?? language)}`,
    hasFit && 'Speech in its slot',
  ].filter((text) => typeof text === 'string');
  const columns = [original, translated].filter((found) => found !== undefined).length;
  // Without the role, Safari does not announce a list that has no markers.
  const list = makeElement('ol', { role: 'list', 'aria-label': 'Subtitle lines' }, ...rows);
  setRowStop(list, rows[0]);
  list.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element) setRowStop(list, target.closest('li'));
  });
  const head = makeElement(
    'p',
    { class: 'heads' },
    ...['Time', ...heads].map((text) => makeElement('span', {}, text)),
  );
  const shape = `lines columns-${columns}${hasFit ? ' with-fit' : ''}`;
  let current: Element | null = null;
  const follow = (ms: number) => {
    const place = lineAt(pairs, ms);
    const pair = pairs[place];
    const row = rows[place] ?? null;
    if (row !== current) {
      current?.removeAttribute('aria-current');
      row?.setAttribute('aria-current', 'true');
      if (row !== null) reveal(list, row);
      // Tab leads to the line that is heard, but does not leave the one that has the focus.
      if (row !== null && !list.contains(document.activeElement)) setRowStop(list, row);
      current = row;
    }
    return pair !== undefined && ms < pair.end_ms ? pair : null;
  };
  return {
    ...{ node: makeElement('div', { class: shape }, head, list), pairs, follow },
    refresh: () => {
      for (const field of fields) field.refresh();
    },
    textOf(line) {
      const cue = cueOf(original, line) ?? cueOf(translated, line);
      return cue === null ? (line?.text ?? '') : edits.textOf(cue);
    },
  };
}

/** Tab reaches the buttons and fields of this row, and none of the others. */
function setRowStop(list: Element, row: Element | null | undefined): void {
  setTabStop(list, row?.querySelectorAll<HTMLElement>('button, textarea') ?? []);
}

function nameLanguage(tag: string | null): string {
  return tag === null ? '' : ` (${tag})`;
}

function makeText(text: string | undefined, language: string | null): HTMLElement {
  const attributes = { class: 'text', dir: 'auto', lang: languageAttribute(language) };
  return makeElement('p', attributes, ...(text === undefined ? ['–'] : makeStyled(text)));
}

/**
 * Shows slot and speech as bars and as text, and what was done to make the speech fit.
 * @param unclear text for speech that could not be measured
 */
function makeFit(line: LineFit | undefined, cue: ItemCue | undefined, unclear: string): HTMLElement {
  const done = cue !== undefined && makeElement('span', { class: `made ${cue.fit}` }, describeFit(cue));
  if (line === undefined) return makeElement('p', { class: 'fit' }, done);
  const { grade, slotMs, speechMs, overMs } = rateFit(line);
  if (grade === 'unclear')
    return makeElement('p', { class: 'fit' }, done || makeElement('span', { class: 'words' }, unclear));
  const words = {
    fits: `${formatSeconds(speechMs)} of ${formatSeconds(slotMs)}`,
    over: `${formatSeconds(overMs)} over ${formatSeconds(slotMs)}`,
    silent: `silent for ${formatSeconds(slotMs)}`,
  }[grade];
  const whole = slotMs + overMs;
  const share = (ms: number) => `${(ms / whole) * 100}%`;
  const slot = makeElement('span', { class: 'slot' });
  slot.style.width = share(slotMs);
  const speech = makeElement('span', { class: 'speech' });
  if (line.speech !== null && line.speech !== 'unclear') {
    speech.style.left = share(line.speech.start_ms - line.slot_start_ms);
    speech.style.width = share(speechMs);
  }
  const bar = makeElement('span', { class: 'bar', 'aria-hidden': 'true' }, slot, speech);
  return makeElement(
    'p',
    { class: `fit ${grade}` },
    bar,
    makeElement('span', { class: 'words' }, words),
    done,
  );
}

/** Scrolls the list only, not the page. */
function reveal(list: HTMLElement, row: HTMLElement): void {
  const above = row.offsetTop;
  const isSeen = above >= list.scrollTop && above + row.offsetHeight <= list.scrollTop + list.clientHeight;
  if (!isSeen) list.scrollTo({ top: above - list.clientHeight / 3 });
}
