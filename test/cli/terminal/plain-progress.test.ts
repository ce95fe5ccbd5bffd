import { describe, expect, it } from 'vitest';
import { createPlainProgress } from '../../../src/cli/terminal/plain-progress.ts';
import { createTestIo } from '../../support/test-io.ts';

function createClocked() {
  let now = 0;
  const { io, stderr } = createTestIo({ now: () => now });
  return {
    progress: createPlainProgress(io),
    rows: () => stderr().split('\n').slice(0, -1),
    wait: (ms: number) => (now += ms),
  };
}

describe('progress off a terminal', () => {
  it('writes a line for each change of phase and none in between', () => {
    const { progress, rows } = createClocked();
    progress.show('a.mp4', { phase: 'uploading', fraction: 0.1 });
    progress.show('a.mp4', { phase: 'uploading', fraction: 0.2 });
    progress.show('a.mp4', { phase: 'separating', fraction: 0 });
    expect(rows()).toEqual(['a.mp4: uploading 10 %', 'a.mp4: separating 0 %']);
  });

  it('gives a sign of life after 30 s in one phase', () => {
    const { progress, rows, wait } = createClocked();
    progress.show('a.mp4', { phase: 'dubbing', fraction: 0.5 });
    wait(29_999);
    progress.show('a.mp4', { phase: 'dubbing', fraction: 0.6 });
    expect(rows()).toHaveLength(1);
    wait(1);
    progress.show('a.mp4', { phase: 'dubbing', fraction: 0.7 });
    expect(rows()[1]).toBe('a.mp4: dubbing 70 %');
  });

  it('keeps several inputs apart', () => {
    const { progress, rows } = createClocked();
    progress.show('a', { phase: 'dubbing', fraction: null });
    progress.show('b', { phase: 'dubbing', fraction: null });
    progress.end('a', 'done', 'a.es.mp4');
    expect(rows()).toEqual(['a: dubbing', 'b: dubbing', 'a: a.es.mp4']);
  });
});
