import { describe, expect, it } from 'vitest';
import { readProvenances, writeProvenance } from '../../src/batch/provenance-record.ts';
import type { Provenance } from '../../src/protocol/provenance.ts';

const PROVENANCE: Provenance = {
  engines: [
    { step: 'recognize', engine: 'openai large-v3', skipped: [] },
    { step: 'separate', engine: 'vloc', skipped: [], silent: true },
    { step: 'speak', engine: 'espeak-ng', skipped: ['openai kokoro'] },
  ],
  cues: [
    { cues: [1], fit: 'speed', speed: 1.2, tempo: 1, cut_seconds: 0 },
    { cues: [2, 3], fit: 'cut', speed: 1.4, tempo: 4, cut_seconds: 0.5 },
  ],
};

describe('the record of how a result was made', () => {
  it('is read as it was written, also through a file', () => {
    const records = JSON.parse(JSON.stringify(writeProvenance('k', PROVENANCE)));
    expect(readProvenances(records)).toEqual(new Map([['k', PROVENANCE]]));
  });

  it('omits default values, because a batch has thousands of cues', () => {
    expect(writeProvenance('k', PROVENANCE)).toEqual([
      {
        type: 'made',
        key: 'k',
        engines: [
          { step: 'recognize', engine: 'openai large-v3' },
          { step: 'separate', engine: 'vloc', silent: true },
          { step: 'speak', engine: 'espeak-ng', skipped: ['openai kokoro'] },
        ],
        cues: [
          { cues: [1], fit: 'speed', speed: 1.2 },
          { cues: [2, 3], fit: 'cut', speed: 1.4, tempo: 4, cut_seconds: 0.5 },
        ],
      },
    ]);
  });

  it('is not written if the service does not describe it', () => {
    expect(writeProvenance('k', null)).toEqual([]);
  });

  it('is the newest one of its request, whatever other records there are', () => {
    const [first] = writeProvenance('k', { ...PROVENANCE, cues: [] });
    const [second] = writeProvenance('k', PROVENANCE);
    if (first === undefined || second === undefined) throw new Error('no record was written');
    const others = [
      { type: 'finished', key: 'k' },
      { type: 'made', key: 'k', engines: 'none' },
    ];
    expect(readProvenances([first, second, ...others]).get('k')).toEqual(PROVENANCE);
  });
});
