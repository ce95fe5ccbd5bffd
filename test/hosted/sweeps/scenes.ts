/** What is run and interrupted, and what must be there in the end. */
import { expect } from 'vitest';
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
  /** Paths of videos of three seconds, or of eight where they are long, and of subtitles. */
  readonly inputs: readonly string[];
  readonly isLong?: true;
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
const STAGES = ['localize', 'talk.mp4', '--from', 'en', '--to', 'es'];

export const SCENES: readonly Scene[] = [
  {
    name: 'a video in two languages',
    inputs: ['talk.mp4'],
    commands: [TWO],
    results: TWO_RESULTS,
    jobs: 2,
  },
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
    name: 'a folder',
    inputs: ['videos/one.mp4', 'videos/two.mp4', 'videos/deep/three.mp4'],
    commands: [['localize', 'videos', '--to', 'es', '--out', 'out']],
    results: ['one', 'two', 'deep/three'].map((stem) =>
      video(`videos/${stem}.mp4`, 'es', `out/${stem}.es.mp4`),
    ),
    jobs: 3,
  },
  {
    name: 'a folder that is watched',
    inputs: ['videos/one.mp4', 'videos/two.mp4'],
    commands: [['localize', 'videos', '--to', 'es', '--out', 'out']],
    opening: ['--watch'],
    results: ['one', 'two'].map((stem) => video(`videos/${stem}.mp4`, 'es', `out/${stem}.es.mp4`)),
    jobs: 2,
  },
  {
    name: 'separations, each with two results',
    inputs: ['one.mp4', 'two.mp4'],
    commands: [['separate', 'one.mp4', 'two.mp4']],
    results: ['one', 'two'].flatMap((stem) => [
      sound(`${stem}.mp4`, 'vocal_audio', `${stem}.vocals.wav`),
      sound(`${stem}.mp4`, 'background_audio', `${stem}.background.wav`),
    ]),
    jobs: 2,
  },
  {
    name: 'a localization in stages',
    inputs: ['talk.mp4'],
    commands: [
      [...STAGES, '--stop-after', 'translate'],
      [...STAGES, '--from-subtitles'],
    ],
    results: [],
    made: ['talk.en.srt', 'talk.es.mp4', 'talk.es.srt'],
    jobs: 4,
  },
  {
    name: 'videos in stages in two languages',
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
    inputs: ['talk.mp4'],
    isLong: true,
    commands: [['localize', 'talk.mp4', '--to', 'es', '--split']],
    results: [],
    made: ['talk.es.mp4'],
    jobs: 3,
  },
  {
    name: 'a run that does not wait',
    inputs: ['talk.mp4'],
    commands: [TWO],
    opening: ['--detach'],
    results: TWO_RESULTS,
    jobs: 2,
  },
  {
    name: 'a run that waits for a second',
    inputs: ['talk.mp4'],
    commands: [TWO],
    opening: ['--timeout', '1s'],
    results: TWO_RESULTS,
    jobs: 2,
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
