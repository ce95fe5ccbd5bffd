import { expect, test } from 'vitest';
import { cutsOf, packSplit, unpackSplit } from '../../../src/media/split/split-long-video.ts';
import type { VideoSplit } from '../../../src/media/split/split-video.ts';

const part = (number: number) => ({
  path: `/old/talk.part${number}of2.mp4`,
  firstFrame: (number - 1) * 75,
  frames: 75,
  firstSample: (number - 1) * 144_000,
  samples: 144_000,
});
const SPLIT: VideoSplit = {
  stem: 'talk',
  frameRate: { num: 25, den: 1 },
  parts: [part(1), part(2)],
  picture: 'copied',
};

test('a split can be restored from a record, wherever its parts are then', () => {
  const back = unpackSplit(JSON.parse(JSON.stringify(packSplit(SPLIT))), '/new');
  expect(back?.parts.map(({ path }) => path)).toEqual(['/new/talk.part1of2.mp4', '/new/talk.part2of2.mp4']);
  expect({
    ...back,
    parts: back?.parts.map((each, at) => ({ ...each, path: SPLIT.parts[at]?.path })),
  }).toEqual(SPLIT);
  expect(cutsOf(SPLIT)).toMatchObject([{ frame: 75, seconds: 3, isClean: true }]);
});

test('no name leads outside the folder, and other data is not accepted as a record', () => {
  const packed = packSplit(SPLIT);
  const hostile = { ...packed, parts: packed.parts.map((each) => ({ ...each, name: '../../etc/passwd' })) };
  expect(unpackSplit(hostile, '/new')?.parts[0]?.path).toBe('/new/passwd');
  for (const record of [null, {}, { ...packed, parts: [] }, { ...packed, parts: [{ firstFrame: -1 }] }])
    expect(unpackSplit(record, '/new')).toBeNull();
});
