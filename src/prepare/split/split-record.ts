/** Saves a split as a record without paths, because paths change from run to run. */
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

/** Returns the split as plain data. */
export function packSplit({ parts, ...split }: VideoSplit): v.InferOutput<typeof SplitSchema> {
  return { ...split, parts: parts.map(({ path, ...part }) => ({ ...part, name: basename(path) })) };
}

/** @param folder folder of the parts @returns null for an invalid record */
export function unpackSplit(record: unknown, folder: string): VideoSplit | null {
  const parsed = v.safeParse(SplitSchema, record);
  if (!parsed.success) return null;
  const { parts, ...split } = parsed.output;
  // vloc never writes names that point outside the folder.
  return {
    ...split,
    parts: parts.map(({ name, ...part }) => ({ ...part, path: join(folder, basename(name)) })),
  };
}

/** Returns the cuts of a split, to create the same parts again. */
export function cutsOf({ parts, frameRate, picture }: VideoSplit): Cut[] {
  return parts.slice(1).map(({ firstFrame }) => ({
    frame: firstFrame,
    seconds: (firstFrame * frameRate.den) / frameRate.num,
    in: 'border',
    isClean: picture === 'copied',
  }));
}
