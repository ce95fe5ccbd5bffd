import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NOT_SENT, readGiven } from '../../../src/commands/stages/given-subtitle.ts';
import { writeSubtitle } from '../../../src/media/subtitles/write.ts';
import type { SubtitleFormat } from '../../../src/protocol/subtitle-line.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** Times between the hundredths of a second, a tag and signs that mean something to some of the formats. */
const LEFT = ['one {x}', '<i>two</i>', 'three & <four>', ' five\\N'].map((text, at) => ({
  ...{ index: at + 1, start_ms: at * 2000 + 4, end_ms: at * 2000 + 1997, text },
}));

test.each<SubtitleFormat>(['srt', 'vtt', 'ass'])(
  'of an edited %s file only the edits are reported, not what the format cannot store',
  async (format) => {
    const path = join(makeFolder(), `talk.es.${format}`);
    const change = async (from: string, to: string) => {
      writeFileSync(path, writeSubtitle(LEFT, format).replace(from, to));
      const use = { language: 'es', before: LEFT, seconds: null, examineLines: NOT_SENT };
      return (await readGiven(path, use, '/'))?.report.changes;
    };
    expect(await change('', '')).toEqual({ same: 4, changes: [] });
    const edited = await change('two', 'dos');
    expect([edited?.same, edited?.changes.length]).toEqual([3, 1]);
    expect(edited?.changes).toMatchObject([{ type: 'changed', text: true, startMoved: 0, endMoved: 0 }]);
  },
);
