/** A split as a record keeps it: without places on the disk, which change from run to run. */
import { basename, join } from 'node:path';
import * as v from 'valibot';
import type { Cut } from './plan-cuts.ts';
import type { VideoSplit } from './split-video.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const SplitSchema = v.object({
  stem: v.string(),
  frameRate: v.object({ num: count, den: count }),
  picture: v.picklist(['copied', 'encoded']),
  parts: v.pipe(
    v.array(
      v.object({
        name: v.string(),
        firstFrame: count,
        frames: count,
        firstSample: count,
        samples: count,
      }),
    ),
    v.minLength(2),
  ),
});

/** The split as plain data. */
export function packSplit({ parts, ...split }: VideoSplit): v.InferOutput<typeof SplitSchema> {
  return { ...split, parts: parts.map(({ path, ...part }) => ({ ...part, name: basename(path) })) };
}

/** @param folder where the parts lie  @returns null for what is no such record */
export function unpackSplit(record: unknown, folder: string): VideoSplit | null {
  const parsed = v.safeParse(SplitSchema, record);
  if (!parsed.success) return null;
  const { parts, ...split } = parsed.output;
  // A name that leads out of the folder is none that was written here.
  return {
    ...split,
    parts: parts.map(({ name, ...part }) => ({ ...part, path: join(folder, basename(name)) })),
  };
}

/** The cuts that a split was made with, for the same parts once more. */
export function cutsOf({ parts, frameRate, picture }: VideoSplit): Cut[] {
  return parts.slice(1).map(({ firstFrame }) => ({
    frame: firstFrame,
    seconds: (firstFrame * frameRate.den) / frameRate.num,
    in: 'border',
    isClean: picture === 'copied',
  }));
}
