/** Says in a tag of a file what of it is machine-made, and reads it. A tag is no watermark: anyone can remove it. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import packageFile from '../../../package.json' with { type: 'json' };
import { languageName } from '../../protocol/language-tag.ts';
import { PROVENANCE_STEPS } from '../../protocol/provenance.ts';
import { keepTags } from '../encode/encoders.ts';
import { HEADER_BYTES, PROBE_LIMITS } from '../probe/facts.ts';
import {
  convertibleInput,
  ENCODER_LIMITS,
  fileAddress,
  QUIET,
  untrustedInput,
} from '../programs/arguments.ts';
import { ChildFailure, explainFailures } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun, EngineUse } from '../work.ts';

export const MarkSchema = v.object({
  /** False for a file that only has translated subtitles. */
  synthetic_speech: v.boolean(),
  /** BCP 47; null if unknown. */
  from: v.nullable(v.string()),
  to: v.array(v.string()),
  /** Null if the service does not say. */
  engines: v.nullable(v.array(v.object({ step: v.picklist(PROVENANCE_STEPS), engine: v.string() }))),
  /** The day on which it was made, in UTC. */
  date: v.string(),
  tool: v.string(),
});

/** What a tag says. */
export type Mark = v.InferOutput<typeof MarkSchema>;

/** What is known of a file that is made. */
export interface MarkFacts {
  readonly isSpoken: boolean;
  /** BCP 47; null if unknown. */
  readonly from: string | null;
  readonly to: readonly string[];
  /** Null if the service does not say. */
  readonly engines: readonly Pick<EngineUse, 'step' | 'engine'>[] | null;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/** This program, as files name it. */
export const TOOL = `vloc ${packageFile.version}`;

/** The tag that every container has and every player shows. */
const KEY = 'comment';

/** The line of a mark: a sentence for people, and the same for programs. */
const MARK_LINE = /^.*\[vloc-mark (\{.*\})\]$/m;

/** A program accepts arguments of 128 KiB. */
const MOST_CHARACTERS = 30_000;

/**
 * Arguments of ffmpeg, after those that keep the tags of the source. A mark is a line more in its comment, instead of that of an earlier
 * mark.
 * @param mark null to leave it out
 * @param comment of the source, see `readComment`
 */
export function commentTags(mark: MarkFacts | null, comment: string): readonly string[] {
  const kept = withoutMark(comment).slice(0, MOST_CHARACTERS);
  const lines = [kept, ...(mark === null ? [] : [formatMark(describeMark(mark))])];
  return ['-metadata', `${KEY}=${lines.filter((line) => line !== '').join('\n')}`];
}

function formatMark(mark: Mark): string {
  return `${sentenceOf(mark)} [vloc-mark ${JSON.stringify(mark)}]`;
}

function describeMark({ isSpoken, from, to, engines, atMs }: MarkFacts): Mark {
  return {
    synthetic_speech: isSpoken,
    ...{ from, to: [...to] },
    engines: engines?.map(({ step, engine }) => ({ step, engine: engine.replace(/\s+/g, ' ') })) ?? null,
    date: new Date(atMs).toISOString().slice(0, 'YYYY-MM-DD'.length),
    tool: TOOL,
  };
}

/** The comment of a file without its mark. */
function withoutMark(comment: string): string {
  return comment.replace(MARK_LINE, '').trim();
}

/** Null if there is none, or not one that vloc has written. */
export function readMark(comment: string): Mark | null {
  const [, json] = MARK_LINE.exec(comment) ?? [];
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), MarkSchema), json);
  return read.success ? read.output : null;
}

/** `Synthetic speech in Spanish by espeak-ng, translated from English by apertium; made with vloc 0.1.0 on 2026-11-29.` */
export function sentenceOf({ synthetic_speech, from, to, engines, date, tool }: Mark): string {
  const by = (step: string) => {
    const names = (engines ?? []).filter((use) => use.step === step).map(({ engine }) => engine);
    return names.length === 0 ? '' : ` by ${[...new Set(names)].join(' and ')}`;
  };
  const what = synthetic_speech ? 'Synthetic speech' : 'Machine-translated subtitles';
  const speaker = synthetic_speech ? by('speak') : '';
  const source = from === null ? '' : ` from ${languageName(from)}`;
  const translated = synthetic_speech
    ? `, translated${source}${by('translate')}`
    : `${source}${by('translate')}`;
  const unknown = engines === null ? '; the service does not name its engines' : '';
  return `${what} in ${to.map(languageName).join(', ')}${speaker}${translated}${unknown}; made with ${tool} on ${date}.`;
}

const TagsSchema = v.optional(v.record(v.string(), v.string()), {});
const ProbeSchema = v.object({
  format: v.optional(v.object({ tags: TagsSchema }), {}),
  streams: v.optional(v.array(v.object({ tags: TagsSchema })), []),
});

/**
 * The comment of an untrusted file; empty if it has none. In Ogg, its sound has it.
 * @returns null for a file that is not media, or damaged
 */
export async function readComment(programs: Programs, file: string, run: EngineRun): Promise<string | null> {
  const asked = ['-v', 'error', '-show_entries', 'format_tags:stream_tags', '-of', 'json'];
  const options = { ...run, limits: PROBE_LIMITS, maxStdoutBytes: HEADER_BYTES };
  const json = await programs
    .run('ffprobe', [...asked, ...convertibleInput(file)], options)
    .catch((error: unknown) => {
      if (error instanceof ChildFailure) return null;
      throw error;
    });
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), ProbeSchema), json?.toString('utf8'));
  if (!read.success) return null;
  const { format, streams } = read.output;
  const found = [format.tags, ...streams.map(({ tags }) => tags)].flatMap((tags = {}) =>
    Object.entries(tags).flatMap(([key, value]) => (key.toLowerCase() === KEY ? [value] : [])),
  );
  return found.find((text) => MARK_LINE.test(text)) ?? format.tags?.[KEY] ?? '';
}

/** What is known of a file that is put together from others; null unless all of them have a mark. */
export function joinMarks(marks: readonly (Mark | null)[]): MarkFacts | null {
  const known = marks.filter((mark) => mark !== null);
  const [first] = known;
  if (first === undefined || known.length < marks.length) return null;
  const uses = known.flatMap(({ engines }) => engines ?? []);
  return {
    isSpoken: first.synthetic_speech,
    from: first.from,
    to: known.flatMap(({ to }) => to),
    engines:
      uses.length === 0 ? null : [...new Map(uses.map((use) => [`${use.step} ${use.engine}`, use])).values()],
    atMs: Math.max(...known.map(({ date }) => Date.parse(date))),
  };
}

/**
 * Writes a video with a mark into the work folder, or without one; nothing but its tag changes. A mark of the same
 * languages stays.
 * @param mark null to leave it out
 * @returns the path of the new video, or of the given one if there is nothing to do
 * @throws PreparationFailure
 */
export function markVideo(
  programs: Programs,
  video: string,
  mark: MarkFacts | null,
  work: EngineRun,
): Promise<string> {
  return explainFailures('the tags of the video cannot be written', async () => {
    const comment = (await readComment(programs, video, work)) ?? '';
    const has = readMark(comment);
    if (mark === null ? has === null : isDeepStrictEqual(has?.to, mark.to)) return video;
    const path = join(work.folder, 'marked.mp4');
    const args = [
      ...[...QUIET, ...untrustedInput(video), '-map', '0:v', '-map', '0:a?', '-map', '0:s?', '-c', 'copy'],
      ...['-map_chapters', '0', ...keepTags(), ...commentTags(mark, comment)],
      ...['-movflags', '+faststart', '-f', 'mp4', fileAddress(path)],
    ];
    await programs.run('ffmpeg', args, { ...work, limits: ENCODER_LIMITS });
    return path;
  });
}
