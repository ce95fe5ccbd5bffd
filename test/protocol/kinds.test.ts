import { describe, expect, it } from 'vitest';
import { JOB_KIND_NAMES } from '../../src/protocol/kind-names.ts';
import { KINDS, type Kind } from '../../src/protocol/kinds.ts';

describe('the table of kinds', () => {
  it('takes a video if the field is a source, and subtitles if it is a subtitle', () => {
    for (const name of JOB_KIND_NAMES) {
      const kind: Kind = KINDS[name];
      const field = kind.input === 'video' ? 'source' : 'subtitle';
      expect(kind.fields[field]?.type).toBe(field);
    }
  });

  it('labels the files of one result differently, because file names consist of the labels', () => {
    for (const name of JOB_KIND_NAMES) {
      const kind: Kind = KINDS[name];
      const labels = Object.values(kind.result).flatMap((part) =>
        part.type === 'asset' ? [part.label] : [],
      );
      expect(new Set(labels).size).toBe(labels.length);
      expect(labels.length).toBeGreaterThan(0);
    }
  });
});
