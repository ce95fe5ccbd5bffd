import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { configurationFailure, Failure, usageFailure } from '../../base/failure.ts';
import { describeUnreadable } from '../../base/system-error.ts';
import { type ProvenanceDocument, ProvenanceFile, readProvenance } from '../../batch/provenance-file.ts';
import { hashInput } from '../../batch/run/known-uploads.ts';
import { type Mark, MarkSchema, readComment, readMark, sentenceOf } from '../../media/export/mark.ts';
import { createPrograms, type Programs } from '../../media/programs/programs.ts';
import { type Command, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import type { Table } from '../context/output/presentation.ts';
import { describeList } from '../context/output-schemas.ts';
import { printList, type RecordForm } from '../context/records.ts';

/** `changed`: it has other bytes than its provenance says. */
const STATUSES = ['verified', 'changed', 'incomplete'] as const;

const VERIFIED = v.object({
  file: v.string(),
  status: v.picklist(STATUSES),
  tag: v.nullable(MarkSchema),
  provenance: v.nullable(ProvenanceFile),
});

interface Verified {
  /** As it was named. */
  readonly file: string;
  readonly status: (typeof STATUSES)[number];
  readonly tag: Mark | null;
  readonly provenance: ProvenanceDocument | null;
}

const FILES: RecordForm<Verified> = {
  plural: 'files',
  idOf: ({ file }) => file,
  columns: (['file', 'status', 'tag', 'provenance'] as const).map((field) => ({ head: field, field })),
};

export const verify: Command = defineCommand({
  operands: { name: 'file', count: 'many', help: 'finished videos or sound' },
  options: {},
  examples: [
    {
      command: 'vloc verify talk.es.mp4',
      explains: 'what is machine-made in it, and whether it was changed since',
    },
  ],
  notes: [
    'Exit code 0: the tag and the file that --provenance wrote are there, and it was not changed since; 3: not so for some; 2: one cannot be read.',
    'A tag is no watermark: anyone can remove it, or write another one. This claims no compliance with the AI Act.',
  ],
  fields: () => ['file', 'status', 'tag', 'provenance'],
  prints: describeList(VERIFIED),
  run: async (context, operands) => {
    const programs = createPrograms(context.io.env.PATH ?? '');
    if (programs.locate('ffprobe') === null) throw ffprobeMissingFailure();
    const files: Verified[] = [];
    const unreadable: { pointer: string; detail: string }[] = [];
    for (const file of operands) {
      const found = await verifyFile(programs, file, context);
      if (typeof found === 'string') unreadable.push({ pointer: file, detail: found });
      else files.push(found);
    }
    await printList(context, FILES, { data: files }, { pages: () => files.map(describeFile) });
    if (unreadable.length > 0) throw unreadableFailure(unreadable);
    const others = files.filter(({ status }) => status !== 'verified');
    if (others.length > 0) throw notVerifiedFailure(others, files.length);
    return 0;
  },
});

/** Why it cannot be read, for a file that is no media. @throws the reason of the signal */
async function verifyFile(
  programs: Programs,
  file: string,
  { io, signal }: Context,
): Promise<Verified | string> {
  const path = resolve(io.cwd, file);
  try {
    if (!(await stat(path)).isFile()) return 'this is not a file';
    const comment = await readComment(programs, path, { signal, folder: tmpdir() });
    if (comment === null) return 'this is not a video or sound that vloc can read';
    const tag = readMark(comment);
    const provenance = await readProvenance(path);
    const isChanged = provenance !== null && (await hashInput(path, signal)) !== provenance.result.sha256;
    const status = isChanged ? 'changed' : tag === null || provenance === null ? 'incomplete' : 'verified';
    return { file, status, tag, provenance };
  } catch (error) {
    const why = describeUnreadable(error);
    if (why === null) throw error;
    return why;
  }
}

/** Cells, since texts from files are escaped in them. */
function describeFile({ file, status, tag, provenance }: Verified): Table {
  return {
    head: ['', { title: '', wraps: 30 }],
    rows: [
      [file, status],
      ['tag', tag === null ? 'none' : sentenceOf(tag)],
      ...(provenance === null ? [['provenance', 'none']] : describeProvenance(provenance)),
    ],
  };
}

const WORDS = { recognize: 'recognized', translate: 'translated', speak: 'spoken', separate: 'separated' };

function describeProvenance({ source, steps, edited, made_with, made_at }: ProvenanceDocument): string[][] {
  const made = steps.map(({ step, by, engine }) => {
    if (by === 'given file') return `${WORDS[step]} by a person or another program`;
    return `${WORDS[step]} by ${engine ?? 'an engine that the service does not name'}`;
  });
  const edits = edited.map(({ file, cues }) => [
    'edited',
    `${file}: ${cues === null ? 'which cues is not known' : `cues ${cues.join(', ')}`}`,
  ]);
  return [
    ['provenance', [...made, `${made_with}, ${made_at}`].join('; ')],
    ['source', `${source.name}, ${source.sha256 === null ? 'hash unknown' : `SHA-256 ${source.sha256}`}`],
    ...edits,
  ];
}

function unreadableFailure(errors: readonly { pointer: string; detail: string }[]): Failure {
  const what = errors.length === 1 ? '1 file' : `${errors.length} files`;
  return usageFailure('FILE_UNREADABLE', `${what} cannot be read`, 'Give the videos that vloc wrote.', {
    errors,
  });
}

function notVerifiedFailure(others: readonly Verified[], total: number): Failure {
  return new Failure({
    category: 'partial',
    code: 'NOT_VERIFIED',
    message:
      total === 1
        ? 'the file is not as vloc wrote it, or does not say how it was made'
        : `${others.length} of ${total} files are not as vloc wrote them, or do not say how they were made`,
    advice:
      'Localize with --provenance, and with --mark if a hosted service made them; the same command adds what is missing, and pays nothing again.',
    errors: others.map(({ file, status, tag, provenance }) => ({
      pointer: file,
      detail:
        status === 'changed'
          ? 'it was changed since its provenance was written'
          : `${[...(tag === null ? ['tag'] : []), ...(provenance === null ? ['provenance'] : [])].join(' and ')} missing`,
    })),
  });
}

function ffprobeMissingFailure(): Failure {
  const message = 'ffprobe is not installed, and it reads the tags of files';
  return configurationFailure('ENGINE_MISSING', message, 'vloc engines install');
}
