/** The jobs of an entry: options, credits, ids for support, and files. */

import { formatBytes } from '../../../base/amounts.ts';
import { isNoticed } from '../../../protocol/provenance.ts';
import { describeFit, describeUse } from '../../item-provenance.ts';
import { describeItemCosts } from '../../report/costs.ts';
import type { EntryDetail, ReportFile, ReportJob } from '../../report/page-facts.ts';
import type { ListedEntry } from '../choose.ts';
import { KIND_NAMES, STATE_NAMES, TRACK_NAMES } from '../words.ts';
import { makeElement } from './element.ts';

/** Failures and how to fix them, shown first. */
export function makeFailures({ jobs }: ListedEntry): HTMLElement[] {
  return jobs.flatMap((job) => {
    if (job.failure === null) return [];
    const { code, message, advice, retryable } = job.failure;
    const again = retryable ? 'A retry may succeed: vloc batch retry' : null;
    return [
      makeElement(
        'section',
        { class: 'failure', 'aria-label': `${KIND_NAMES[job.kind]} failed` },
        makeElement('h3', {}, `${KIND_NAMES[job.kind]} failed `, makeElement('code', {}, code)),
        makeElement('p', {}, message),
        advice !== null && makeElement('p', { class: 'advice' }, advice),
        again !== null && makeElement('p', { class: 'advice' }, again),
      ),
    ];
  });
}

/** A warning about cues whose end cannot be heard. */
export function makeCuts({ cuts }: ListedEntry, isActive: boolean): HTMLElement | null {
  if (cuts === null) return null;
  return makeElement(
    'section',
    { class: 'failure', 'aria-label': 'Cues are cut off' },
    makeElement('h3', {}, 'Cues are cut off'),
    makeElement('p', {}, `${cuts}.`),
    makeElement(
      'p',
      { class: 'advice' },
      `Shorten their text in the subtitles${isActive ? ', then run vloc localize with --from-subtitles --clobber' : ''}.`,
    ),
  );
}

/** A warning about terms that the translation has lost. */
export function makeLosses({ losses }: ListedEntry, isActive: boolean): HTMLElement | null {
  if (losses.length === 0) return null;
  return makeElement(
    'section',
    { class: 'failure', 'aria-label': 'Terms are lost' },
    makeElement('h3', {}, 'Terms are lost'),
    ...losses.map((loss) => makeElement('p', {}, loss)),
    makeElement(
      'p',
      { class: 'advice' },
      `Correct them in the subtitles${isActive ? ', then run the same command again' : ''}.`,
    ),
  );
}

/** Whether the service reported how the speech was made: then it fits unless it reports otherwise. */
export function isSpeechKnown({ jobs }: ListedEntry): boolean {
  return jobs.some(({ engines }) => engines.some(({ step }) => step === 'speak'));
}

/** How each cue was made to fit; null if it is not known. */
export function makeCues(entry: ListedEntry, { cues }: EntryDetail): HTMLElement | null {
  const heading = makeElement('h3', {}, 'Voice made to fit');
  if (cues.length === 0) {
    if (!isSpeechKnown(entry)) return null;
    const words = 'Each line fits its time as it was spoken.';
    return makeElement('section', { class: 'files cues' }, heading, makeElement('p', {}, words));
  }
  const rows = cues.map((cue) => {
    const numbers = cue.cues.join(', ');
    const what = cue.part === undefined ? `Cue ${numbers}` : `Part ${cue.part}, cue ${numbers}`;
    const row = makeElement('span', { class: isNoticed(cue) ? 'what over' : 'what' }, what);
    return makeElement('li', {}, row, makeElement('span', {}, describeFit(cue)));
  });
  const isOpen = cues.some(isNoticed);
  return makeElement(
    'section',
    { class: 'files cues' },
    heading,
    makeElement(
      'details',
      { open: isOpen },
      makeElement('summary', {}, cues.length === 1 ? '1 text' : `${cues.length} texts`),
      makeElement('ul', {}, ...rows),
    ),
  );
}

export function makeJobs({ jobs }: ListedEntry): HTMLElement {
  const cards = jobs.map((job) => {
    const state = makeElement('span', { class: `state ${job.state}` }, STATE_NAMES[job.state]);
    const title = makeElement('h4', {}, KIND_NAMES[job.kind], ' ', state);
    return makeElement('li', {}, title, makeElement('dl', {}, ...describe(job).flatMap(makePair)));
  });
  return makeElement(
    'section',
    { class: 'jobs' },
    makeElement('h3', {}, 'Jobs'),
    makeElement('ul', {}, ...cards),
  );
}

type Row = readonly [string, string | null, 'code'?];

function describe(job: ReportJob): Row[] {
  const options = Object.entries(job.options).map(([name, value]) => `${name} ${value}`);
  return [
    ['Waits for', job.waits_for],
    ['Cost', describeItemCosts([job])],
    ['Options', options.join(', ')],
    ['Engines', job.engines.map(describeUse).join('; ')],
    ['Job', job.job_id, 'code'],
    ['Requests', job.request_ids.join('\n'), 'code'],
    ['Reference', job.client_reference, 'code'],
    ['Created', job.created_at && formatMoment(job.created_at)],
    ['Finished', job.finished_at && formatMoment(job.finished_at)],
  ];
}

function makePair([name, value, form]: Row): HTMLElement[] {
  if (value === null || value === '') return [];
  const shown = form === 'code' ? makeElement('code', {}, value) : value;
  return [makeElement('div', {}, makeElement('dt', {}, name), makeElement('dd', {}, shown))];
}

/** In the time zone of the browser. */
export function formatMoment(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

export function makeFiles({ tracks, subtitles }: EntryDetail): HTMLElement | null {
  const rows = [
    ...tracks.map(({ role, file }) => makeFile(TRACK_NAMES[role], file)),
    ...subtitles.flatMap(({ role, file }) =>
      file === null ? [] : [makeFile(role === 'original' ? 'Subtitles' : 'Translation', file)],
    ),
  ];
  if (rows.length === 0) return null;
  return makeElement(
    'section',
    { class: 'files' },
    makeElement('h3', {}, 'Files'),
    makeElement('ul', {}, ...rows),
  );
}

function makeFile(what: string, file: ReportFile): HTMLElement {
  const name = file.present
    ? makeElement('a', { href: file.href }, file.name)
    : makeElement('span', {}, file.name);
  return makeElement(
    'li',
    {},
    makeElement('span', { class: 'what' }, what),
    name,
    makeElement('span', { class: 'size' }, file.bytes === null ? '' : formatBytes(file.bytes)),
    file.problem !== null && makeElement('p', { class: 'notice' }, file.problem),
    file.sha256 !== null && makeElement('code', { class: 'sum', title: 'SHA-256' }, file.sha256),
  );
}
