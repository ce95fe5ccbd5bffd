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
  it('writes a line at the start, one every 30 s, and one at the end', () => {
    const { progress, rows, wait } = createClocked();
    progress.show('a.mp4', { phase: 'uploading', fraction: 0.1 });
    progress.show('a.mp4', { phase: 'separating', fraction: 0 });
    wait(29_999);
    progress.show('a.mp4', { phase: 'dubbing', fraction: 0.6 });
    expect(rows()).toEqual(['a.mp4: uploading 10 %']);
    wait(1);
    progress.show('a.mp4', { phase: 'dubbing', fraction: 0.7 });
    progress.show('a.mp4', { phase: 'dubbing', fraction: 0.8 });
    progress.end('a.mp4', 'done', 'a.es.mp4');
    expect(rows()).toEqual(['a.mp4: uploading 10 %', 'a.mp4: dubbing 70 %', 'a.mp4: a.es.mp4']);
  });

  it('shows several inputs on one line', () => {
    const { progress, rows, wait } = createClocked();
    progress.show('a', { phase: 'dubbing', fraction: null });
    progress.show('b', { phase: 'queued', fraction: null });
    wait(30_000);
    progress.show('a', { phase: 'dubbing', fraction: null });
    expect(rows()).toEqual(['a: dubbing', 'a: dubbing · b: queued']);
  });

  it('of many inputs writes a line for each that fails, and none for those that are done', () => {
    const { progress, rows, wait } = createClocked();
    for (const key of ['a', 'b', 'c', 'd', 'e']) progress.show(key, { phase: 'queued', fraction: null });
    wait(30_000);
    progress.show('a', { phase: 'dubbing', fraction: null });
    progress.end('a', 'done', 'a.es.mp4');
    progress.end('b', 'failed', 'no speech');
    expect(rows()).toEqual(['a: queued', 'a: dubbing · b: queued · c: queued · and 2 more', 'b: no speech']);
  });
});
