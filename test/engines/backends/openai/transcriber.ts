/** What tests of recognition share: a server for transcriptions, the forms it gets, and sound to recognize. */
import { expect, onTestFinished } from 'vitest';
import type { RecognitionTask, Recognizer } from '../../../../src/engines/backend.ts';
import { createOpenAiRecognizer } from '../../../../src/engines/backends/openai/recognizer.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { type LoopbackServer, type Received, recordedParts, startServer } from '../loopback-server.ts';
import { findDeviations } from '../published-api.ts';
import { soundFile } from '../user-program.ts';

type Entry = Parameters<typeof createOpenAiRecognizer>[0];

interface Form {
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly file: Buffer;
  readonly filename: string;
}

/** Reads a form as servers do. */
export function formIn(request: Received | undefined): Form {
  const { headers, body } = request ?? { headers: {}, body: Buffer.alloc(0) };
  const boundary = /boundary=(.+)$/.exec(headers['content-type'] ?? '')?.[1] ?? '';
  const fields: Record<string, string[]> = {};
  let file = Buffer.alloc(0);
  let filename = '';
  const text = body.toString('latin1');
  expect(text.endsWith(`--${boundary}--\r\n`)).toBe(true);
  for (const part of text.split(`--${boundary}`).slice(1, -1)) {
    const at = part.indexOf('\r\n\r\n');
    const content = part.slice(at + 4, -2);
    const name = / name="([^"]*)"/.exec(part.slice(0, at))?.[1] ?? '';
    const named = /filename="([^"]*)"/.exec(part.slice(0, at))?.[1];
    if (named === undefined) fields[name] = [...(fields[name] ?? []), content];
    else {
      filename = named;
      file = Buffer.from(content, 'latin1');
    }
  }
  return { fields, file, filename };
}

/** The form as the document describes it: one value per name, lists for names that end with brackets. */
function described({ fields }: Form): object {
  const entries = Object.entries(fields).map(([name, values]) =>
    name.endsWith('[]') ? [name.slice(0, -2), values] : [name, values[0]],
  );
  return { ...Object.fromEntries(entries), file: '' };
}

/** Length of a received FLAC in seconds: the number of its samples is in its header. */
export function secondsOf(file: Buffer): number {
  expect(file.subarray(0, 4).toString()).toBe('fLaC');
  return file.readUInt32BE(22) / 16_000;
}

/** A server for transcriptions; each of its requests must be as published. */
export async function startTranscriber(
  behave: (form: Form, number: number) => ReturnType<Parameters<typeof startServer>[0]>,
): Promise<LoopbackServer> {
  const server = await startServer((request, number) => behave(formIn(request), number));
  onTestFinished(() => {
    for (const request of server.received) {
      const form = described(formIn(request));
      expect(findDeviations('openai', '/audio/transcriptions', 'request', form)).toEqual([]);
    }
  });
  return server;
}

export function recognizer(url: string, entry: Partial<Entry> = {}, parts = recordedParts()): Recognizer {
  const made = createOpenAiRecognizer({ type: 'openai', url, model: 'large-v3', ...entry }, parts);
  onTestFinished(() => made.close());
  return made;
}

/** Half a minute with speech from 2 to 8 s, 12 to 18 s and 22 to 28 s: short enough for one request. */
export const SPEECH = [
  [2, 8],
  [12, 18],
  [22, 28],
] as const;

export async function halfMinute(
  changes: Partial<RecognitionTask> = {},
): Promise<{ task: RecognitionTask; folder: string }> {
  const folder = makeFolder();
  const voice = await soundFile(folder, 30, SPEECH);
  const segments = SPEECH.map(([start, end]) => ({ start, end }));
  return { task: { voice, segments, language: 'en', ...changes }, folder };
}

export const verbose = (words: readonly (readonly [string, number, number])[], more: object = {}) => ({
  body: {
    task: 'transcribe',
    language: 'english',
    duration: 60,
    text: words.map(([word]) => word).join(' '),
    words: words.map(([word, start, end]) => ({ word, start, end })),
    usage: { type: 'duration', seconds: 60 },
    ...more,
  },
});

export const segment = (text: string, start: number, end: number, more: object = {}) => ({
  id: 0,
  seek: 0,
  start,
  end,
  text,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 1,
  no_speech_prob: 0,
  ...more,
});
