import { expect, it } from 'vitest';
import { describeEncodings, describePreparations } from '../../../src/batch/plan/describe-preparations.ts';
import { createFolder, MP4, plan } from './support.ts';

const remuxed = {
  conversion: 'remuxed',
  reasons: ['the service does not take MKV'],
  track: 1,
  parts: 3,
  minutes: 42,
} as const;

it('a preparation is described once for all its files and languages', async () => {
  const names = ['a.mp4', 'b.mp4', 'c.mp4', 'd.mp4'];
  const cwd = createFolder(Object.fromEntries(names.map((name) => [name, MP4])));
  const examineVideo = async () => ({ type: 'usable', seconds: 2400, preparation: remuxed }) as const;
  const { planned, notes } = await plan(cwd, names, { options: { to: ['es', 'fr'] }, io: { examineVideo } });
  expect(notes).toEqual([
    'a.mp4, b.mp4, c.mp4 and 1 more: remuxed to MP4 without re-encoding, since the service does not take MKV.',
    'a.mp4, b.mp4, c.mp4 and 1 more: cut at silences into about 3 parts; each is a separate job, and the results are joined.',
  ]);
  expect(planned[0]?.item.units).toEqual({ unit: 'started_minute', quantity: 42 });
  const done = { step: 'done', before: 'downloaded', jobId: null, files: [] } as const;
  expect(describePreparations(planned.map((each) => ({ ...each, decision: done })))).toEqual([]);
});

it('a picture that cannot be copied into an MP4, and sound of more than two channels, are named before they are changed', async () => {
  const examineVideo = async () =>
    ({ type: 'usable', seconds: 61, preparation: null, uncopiedCodec: 'mpeg2video', channels: 6 }) as const;
  const { planned } = await plan(createFolder({ 'a.mp4': MP4 }), ['a.mp4'], { io: { examineVideo } });
  expect(describeEncodings(planned)).toEqual([
    'a.mp4: the picture (mpeg2video) is encoded again, because it cannot be copied into an MP4.',
    'a.mp4: its 6 channels of sound are mixed to two; --keep-audio keeps them as a second track.',
  ]);
});
