import { describe, expect, it } from 'vitest';
import { LIMITS, VIDEO_EXTENSIONS } from '../../src/protocol/limits.ts';

describe('the limits', () => {
  it('are those of the specification, written out', () => {
    expect(LIMITS).toMatchObject({
      concurrentTasks: 15,
      timestampSkewSeconds: 300,
      pageSize: { default: 20, min: 1, max: 50 },
      cursorLength: 1024,
      idempotencyKeyLength: 255,
      clientRequestIdLength: 128,
      clientReferenceLength: 128,
      videoSeconds: 900,
      videoBytes: 1_073_741_824,
      subtitleLines: 10_000,
      subtitleBytes: 10_485_760,
      retentionMs: 604_800_000,
      resultLinkMs: 86_400_000,
      webhookTimeoutMs: 5_000,
    });
  });

  it('are those of the contract if the specification does not state them', () => {
    expect(LIMITS).toMatchObject({
      nonceMemorySeconds: 601,
      nonceLength: { min: 16, max: 128 },
      jsonBytes: 12_582_912,
      uploadLinkMs: 3_600_000,
    });
  });

  it('include nonces that are remembered longer than any timestamp is accepted', () => {
    expect(LIMITS.nonceMemorySeconds).toBeGreaterThan(2 * LIMITS.timestampSkewSeconds);
  });

  it('include the six video formats', () => {
    expect(VIDEO_EXTENSIONS).toEqual(['.mp4', '.mov', '.avi', '.mpeg', '.mpg', '.m4v']);
  });
});
