/** What is run and interrupted, and what must be there in the end. */
import { expect } from 'vitest';
import { srtOf } from '../../ledger/scenes/plain.ts';
import type { Books } from '../books.ts';

/** A result whose bytes the service knows. */
export interface Wanted {
  readonly path: string;
  /** Path of the collection of its job. */
  readonly kind: string;
  /** The input that it is made of. */
  readonly input: string;
  /** Default: whatever the job has. */
  readonly language?: string;
  /** Name of the file in the result. */
  readonly file: string;
}

/** What a person does between two commands. */
export interface Edit {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

export interface Scene {
  readonly name: string;
  /** Paths of videos of three seconds, or of eight where they are long. */
  readonly inputs: readonly string[];
  readonly isLong?: true;
  /** A suite of its own has such a run killed at fixed moments, or it differs from another one in a flag: only in the long run. */
  readonly isVariant?: true;
  /** Subtitles and lists of terms, by their paths. */
  readonly texts?: Readonly<Record<string, string>>;
  /** How the service translates a line. */
  readonly translate?: (text: string) => string;
  /** Commands that are run one after another, each until it is done, and edits between them. */
  readonly commands: readonly (readonly string[] | Edit)[];
  /** Further words of the attempts that are interrupted. */
  readonly opening?: readonly string[];
  readonly results: readonly Wanted[];
  /** Results that are made on this machine, whose bytes nobody else knows. */
  readonly made?: readonly string[];
  /** Jobs that may be paid. */
  readonly jobs: number;
}

const video = (input: string, language: string, path: string): Wanted => ({
  ...{ path, input, language },
  kind: 'auto-localizations',
  file: 'video',
});

const sound = (input: string, file: string, path: string): Wanted => ({
  ...{ path, input, file },
  kind: 'audio-separations',
});

const TWO = ['localize', 'talk.mp4', '--to', 'es,ca'];
const TWO_RESULTS = [video('talk.mp4', 'es', 'talk.es.mp4'), video('talk.mp4', 'ca', 'talk.ca.mp4')];
const LESSONS = ['localize', 'lessons', '--from', 'en', '--to', 'es', '--out', 'out'];
const SOUND = ['localize', 'talk.mp4', '--from', 'en', '--to', 'es', '--sound-only'];
const STAGES = ['localize', 'talk.mp4', '--from', 'en', '--to', 'es'];

const NAMED = 'WEBVTT\n\n00:00.000 --> 00:00.900\n<v Anna>hello\n\n00:01.000 --> 00:01.900\n<v Ben>you\n';
const TERMS = 'term,es,note\nAcme,=,\n';
/** Loses the term of one line. */
const careless = (text: string) => (text.includes('two') ? 'dos' : `[es] ${text}`);
/** Three units of a dub. */
const [ONE = '', SECOND = '', THIRD = ''] = ['uno', 'dos', 'tres'].map((text) => text.padEnd(800, '.'));

export const SCENES: readonly Scene[] = [
  {
    name: 'two videos in two languages that may replace files',
    inputs: ['one.mp4', 'two.mp4'],
    commands: [['localize', 'one.mp4', 'two.mp4', '--to', 'es,ca', '--clobber']],
    results: ['one', 'two'].flatMap((stem) =>
      ['es', 'ca'].map((language) => video(`${stem}.mp4`, language, `${stem}.${language}.mp4`)),
    ),
    jobs: 4,
  },
  {
    name: 'a folder that is watched',
    isVariant: true,
    inputs: ['videos/one.mp4', 'videos/two.mp4'],
    commands: [['localize', 'videos', '--to', 'es', '--out', 'out']],
    opening: ['--watch'],
    results: ['one', 'two'].map((stem) => video(`videos/${stem}.mp4`, 'es', `out/${stem}.es.mp4`)),
    jobs: 2,
  },
  {
    name: 'separations, each with two results',
    isVariant: true,
    inputs: ['one.mp4', 'two.mp4'],
    commands: [['separate', 'one.mp4', 'two.mp4']],
    results: ['one', 'two'].flatMap((stem) => [
      sound(`${stem}.mp4`, 'vocal_audio', `${stem}.vocals.wav`),
      sound(`${stem}.mp4`, 'background_audio', `${stem}.background.wav`),
    ]),
    jobs: 2,
  },
  {
    name: 'videos in stages in two languages',
    isVariant: true,
    inputs: ['one.mp4', 'two.mp4'],
    commands: [['localize', 'one.mp4', 'two.mp4', '--from', 'en', '--to', 'es,ca', '--from-subtitles']],
    results: [],
    made: ['one', 'two'].flatMap((stem) =>
      ['ca.mp4', 'ca.srt', 'en.srt', 'es.mp4', 'es.srt'].map((ending) => `${stem}.${ending}`),
    ),
    jobs: 12,
  },
  {
    name: 'a folder that is edited, as docs/editing.md says',
    isVariant: true,
    inputs: ['lessons/talk.mp4'],
    commands: [
      [...LESSONS, '--sample'],
      [...LESSONS, '--stop-after', 'translate'],
      ['batch', 'report', 'out', '--attention', '--back'],
      { path: 'lessons/talk.es.srt', from: '[es] good morning', to: 'buenos días' },
      ['subtitles', 'fix', 'lessons', '--in-place'],
      [...LESSONS, '--from-subtitles'],
      { path: 'lessons/talk.es.srt', from: 'buenos días', to: 'buenas tardes' },
      [...LESSONS, '--from-subtitles'],
      ['batch', 'report', 'out', '--attention', '--listen'],
    ],
    results: [video('lessons/talk.mp4', 'es', 'out/talk.es.sample.mp4')],
    made: ['lessons/talk.en.srt', 'lessons/talk.es.srt', 'out/talk.es.mp4'],
    // The sample, a recognition, a translation, the same back, a separation, a dub before and after the last edit, and the
    // recognition of the video with it.
    jobs: 8,
  },
  {
    name: 'a long video in parts',
    isVariant: true,
    inputs: ['talk.mp4'],
    isLong: true,
    commands: [['localize', 'talk.mp4', '--to', 'es', '--split']],
    results: [],
    made: ['talk.es.mp4'],
    jobs: 3,
  },
  {
    name: 'a run that does not wait',
    isVariant: true,
    inputs: ['talk.mp4'],
    commands: [TWO],
    opening: ['--detach'],
    results: TWO_RESULTS,
    jobs: 2,
  },
  {
    name: 'a run that a limit of credits stops',
    inputs: ['talk.mp4'],
    commands: [TWO],
    opening: ['--jobs', '1', '--price', 'auto_localization=1', '--max-credits', '1'],
    results: TWO_RESULTS,
    jobs: 2,
  },
  {
    name: 'recognitions and dubs of their lines',
    isVariant: true,
    inputs: ['one.mp4', 'two.mp4'],
    commands: [
      ['recognize', 'one.mp4', 'two.mp4', '--from', 'en'],
      ['dub', 'one.en.srt', 'two.en.srt', '--to', 'en', '--out', 'out'],
    ],
    results: ['one', 'two'].map((stem) => ({
      ...{ path: `${stem}.en.srt`, kind: 'subtitle-recognitions', input: `${stem}.mp4`, file: 'subtitle' },
    })),
    made: ['out/one.en.wav', 'out/two.en.wav'],
    jobs: 4,
  },
  {
    name: 'a sample, and the whole in parts',
    isVariant: true,
    inputs: ['talk.mp4'],
    isLong: true,
    commands: [
      ['recognize', 'talk.mp4', '--from', 'en', '--sample', '5s'],
      ['recognize', 'talk.mp4', '--from', 'en', '--split'],
    ],
    results: [],
    made: ['talk.en.sample.srt', 'talk.en.srt'],
    jobs: 4,
  },
  {
    name: 'one file with two languages, and then with three',
    isVariant: true,
    inputs: ['talk.mp4'],
    commands: [
      [...TWO, '--one-file', '--default', 'original'],
      ['localize', 'talk.mp4', '--to', 'es,ca,fr', '--one-file'],
    ],
    results: [],
    made: ['talk.mul.mp4'],
    jobs: 3,
  },
  {
    name: 'two shards',
    isVariant: true,
    inputs: ['videos/a.mp4', 'videos/b.mp4', 'videos/c.mp4', 'videos/d.mp4'],
    commands: ['1/2', '2/2'].map((shard) => [
      ...['localize', 'videos', '--to', 'es', '--out', 'out', '--shard', shard],
    ]),
    results: ['a', 'b', 'c', 'd'].map((stem) => video(`videos/${stem}.mp4`, 'es', `out/${stem}.es.mp4`)),
    jobs: 4,
  },
  {
    name: 'translations with a memory',
    isVariant: true,
    inputs: [],
    texts: {
      'a.srt': srtOf('One.', 'Two.'),
      'b.srt': srtOf('Two.', 'Three.'),
      'c.srt': srtOf('One.', 'Three.'),
    },
    commands: ['a', 'b', 'c'].map((stem) => ['translate', `${stem}.srt`, '--from', 'en', '--to', 'es']),
    results: [],
    made: ['a.es.srt', 'b.es.srt', 'c.es.srt'],
    jobs: 2,
  },
  {
    name: 'long subtitles in parts',
    isVariant: true,
    inputs: [],
    texts: { 'talk.srt': srtOf('one', 'two', 'three', 'four', 'five', 'six') },
    commands: [['translate', 'talk.srt', '--from', 'en', '--to', 'es', '--split']],
    results: [],
    made: ['talk.es.srt'],
    jobs: 2,
  },
  {
    name: 'a dub after edits',
    isVariant: true,
    inputs: [],
    texts: { 'talk.es.srt': srtOf(ONE, SECOND, THIRD) },
    commands: [
      ['dub', 'talk.es.srt', '--to', 'es'],
      { path: 'talk.es.srt', from: SECOND, to: 'otra frase' },
      ['dub', 'talk.es.srt', '--to', 'es'],
      { path: 'talk.es.srt', from: ONE, to: 'una' },
      ['dub', 'talk.es.srt', '--to', 'es', '--whole'],
    ],
    results: [],
    made: ['talk.es.wav'],
    jobs: 3,
  },
  {
    name: 'stages of a given transcript with terms, a memory and an edit',
    inputs: ['talk.mp4'],
    texts: { 'terms.csv': TERMS, 'talk.en.srt': srtOf('One Acme.', 'two Acme.') },
    translate: careless,
    commands: [
      [...STAGES, '--from-subtitles', '--terms', 'terms.csv', '--mask-terms'],
      { path: 'talk.en.srt', from: 'One Acme.', to: 'Another.' },
      [...STAGES, '--from-subtitles', '--terms', 'terms.csv', '--mask-terms'],
    ],
    results: [],
    made: ['talk.es.mp4', 'talk.es.srt'],
    // A translation, the lost term again, a dub and a separation, then one line and a dub of both.
    jobs: 6,
  },
  {
    name: 'sound alone, and then louder with a mark',
    isVariant: true,
    inputs: ['talk.mp4'],
    commands: [
      [...SOUND, '--loudness', '-16', '--no-mark'],
      [...SOUND, '--loudness', '-23', '--mark', '--provenance', '--clobber'],
    ],
    results: [],
    made: ['talk.es.m4a', 'talk.es.provenance.json'],
    jobs: 1,
  },
  {
    name: 'stages with two speakers that keep the sound',
    isVariant: true,
    inputs: ['talk.mp4'],
    texts: { 'talk.es.vtt': NAMED },
    commands: [[...STAGES, '--from-subtitles', '--voices', 'anna=female,ben=male', '--keep-audio']],
    results: [],
    made: ['talk.es.mp4'],
    jobs: 3,
  },
];

/** The digest that a result must have. */
export function digestWanted(books: Books, inputs: Readonly<Record<string, string>>, wanted: Wanted): string {
  const { kind, language, file } = wanted;
  const input = inputs[wanted.input];
  const jobs = books.jobs.filter(
    (job) => job.kind === kind && job.input === input && (language ?? job.language) === job.language,
  );
  expect(
    jobs.map(({ status }) => status),
    `jobs for ${wanted.path}`,
  ).toEqual(['succeeded']);
  return jobs[0]?.files[file] ?? 'the job has no such file';
}
