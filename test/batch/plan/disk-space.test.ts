import { expect, it } from 'vitest';
import { createFolder, MP4, plan } from './support.ts';

const failureOf = (planned: Promise<unknown>) =>
  planned.then(
    () => null,
    ({ facts }) => facts,
  );
const withRoom = (bytes: number) => ({ freeBytes: async () => bytes });

it('results that would not fit on the disk are refused before anything is sent', async () => {
  const cwd = createFolder({ 'a.mp4': MP4 });
  const options = { to: ['es', 'fr'] };
  const facts = await failureOf(plan(cwd, ['a.mp4'], { options, io: withRoom(MP4.length * 2 - 1) }));
  expect(facts).toMatchObject({
    category: 'disk',
    code: 'DISK_FULL',
    message: expect.stringContaining('31 B free'),
  });
  expect(await failureOf(plan(cwd, ['a.mp4'], { options, io: withRoom(MP4.length * 2) }))).toBeNull();
});

it('the size of sound is estimated from its duration', async () => {
  const cwd = createFolder({ 'a.mp4': MP4 });
  const kind = 'audio_separation';
  const facts = await failureOf(plan(cwd, ['a.mp4'], { kind, io: withRoom(1_000_000) }));
  expect(facts).toMatchObject({ code: 'DISK_FULL' });
});

it('no size is predicted for a picture that is made smaller', async () => {
  const cwd = createFolder({ 'a.mp4': MP4 });
  expect(
    await failureOf(plan(cwd, ['a.mp4'], { options: { resolution: '480p' }, io: withRoom(0) })),
  ).toBeNull();
});

it('parts, and files that are made to be sent, need space in addition to the results', async () => {
  const cwd = createFolder({ 'a.mp4': MP4, 'b.mp4': MP4, 'c.mp4': MP4 });
  const preparation = { conversion: 'remuxed', reasons: [], track: 1, parts: 3, minutes: 42 } as const;
  const examineVideo = async () => ({ type: 'usable', seconds: 2400, preparation }) as const;
  const withVideos = (bytes: number) =>
    failureOf(plan(cwd, ['a.mp4', 'b.mp4', 'c.mp4'], { io: { ...withRoom(bytes), examineVideo } }));
  // Three results, two files at a time that are made to be sent, and the parts of the result that is joined.
  const needed = (3 + 2 + 1) * MP4.length;
  expect(await withVideos(needed - 1)).toMatchObject({ code: 'DISK_FULL' });
  expect(await withVideos(needed)).toBeNull();
});
