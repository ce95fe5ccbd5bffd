/** Items as the plan makes them. */
import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { createItem } from '../../../../src/batch/inputs/items.ts';
import type { BatchItem } from '../../../../src/batch/item.ts';

/** Subtitles of one line, translated; the small engines finish it immediately. */
export function linesItem(
  number: number,
  fields: Readonly<Record<string, unknown>> = {},
  name = `talk-${number}.srt`,
): BatchItem {
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: `line ${number}` }];
  const sha256 = hash('sha256', JSON.stringify(lines));
  return createItem(
    'subtitle_translation',
    {
      type: 'lines',
      label: name,
      stem: basename(name, '.srt'),
      name,
      lines,
      sha256,
      file: null,
      parts: null,
    },
    { targetLanguage: 'es', fields: { source_language: 'en', target_language: 'es', ...fields } },
  );
}

/** A file, localized. */
export function videoItem(path: string, language: string): BatchItem {
  const { size: bytes, mtimeMs } = statSync(path);
  const name = basename(path);
  const stem = basename(path, extname(path));
  return createItem(
    'auto_localization',
    {
      type: 'file',
      label: name,
      stem,
      name,
      path,
      bytes,
      mtimeMs,
      contentType: 'video/mp4',
      seconds: null,
      preparation: null,
    },
    { targetLanguage: language, fields: { source_language: 'en', target_language: language } },
  );
}
