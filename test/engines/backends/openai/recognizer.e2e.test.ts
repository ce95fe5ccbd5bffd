import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../support/make-folder.ts';
import { createWork } from '../../workspace.ts';
import { recordedParts } from '../loopback-server.ts';
import { findDeviations } from '../published-api.ts';
import { soundFile } from '../user-program.ts';
import {
  formIn,
  halfMinute,
  recognizer,
  SPEECH,
  secondsOf,
  segment,
  startTranscriber,
  verbose,
} from './transcriber.ts';

describe('recognition with the API of OpenAI', () => {
  it('sends FLAC and requests the times of words, as OpenAI documents it', async () => {
    const answer = verbose([
      ['Good', 2.1, 2.4],
      ['morning.', 2.4, 3],
      ['Yes?', 22, 23],
    ]);
    expect(findDeviations('openai', '/audio/transcriptions', 'response', answer.body)).toEqual([]);
    const server = await startTranscriber(() => answer);
    const { task, folder } = await halfMinute({ language: 'en-GB' });
    const work = createWork(folder);
    await expect(recognizer(server.url).recognize(task, work)).resolves.toEqual({
      language: 'en-GB',
      punctuated: true,
      words: [
        { text: 'Good', start: 2.1, end: 2.4, segment: 0 },
        { text: 'morning.', start: 2.4, end: 3, segment: 0 },
        { text: 'Yes?', start: 22, end: 23, segment: 2 },
      ],
    });
    const [request] = server.received;
    expect(request?.path).toBe('/v1/audio/transcriptions');
    const form = formIn(request);
    expect(form.fields).toEqual({
      model: ['large-v3'],
      response_format: ['verbose_json'],
      'timestamp_granularities[]': ['word', 'segment'],
      language: ['en'],
    });
    expect(form.filename).toBe('speech.flac');
    expect(secondsOf(form.file)).toBeCloseTo(30, 2);
    expect(work.reports.at(-1)?.fraction).toBe(1);
    expect(readdirSync(folder)).toEqual(['voice-16k.wav']);
  });

  it('tells the model the terms of the file that the entry names, as many as it reads', async () => {
    const server = await startTranscriber(() => verbose([['Hm', 2, 3]]));
    const { task, folder } = await halfMinute();
    const terms = join(folder, 'terms.csv');
    const parts = recordedParts();
    const hear = async (content: string) => {
      writeFileSync(terms, content);
      await recognizer(server.url, { terms }, parts).recognize(task, createWork(folder));
      const { fields } = formIn(server.received.at(-1));
      return fields.prompt?.map((text) => Buffer.from(text, 'latin1').toString());
    };
    expect(await hear('Term;es;say\nAcme*;=;Ekmi\nDr. Müller;;\n')).toEqual(['Acme, Dr. Müller']);
    const many = Array.from({ length: 500 }, (_, at) => `Name${at}\n`).join('');
    const [prompt = ''] = (await hear(`term\n${many}`)) ?? [];
    expect(prompt).toMatch(/^Name0, Name1, .*, Name\d+$/);
    expect(prompt.length).toBeLessThanOrEqual(600);
    expect(parts.warnings.at(-1)).toContain('of 500 terms are sent');
    await expect(hear('es\nAcme\n')).rejects.toMatchObject({
      ...{ code: 'ENGINE_ERROR', permanent: true },
      message: expect.stringContaining('"terms" in engines.json has no column "term"'),
    });
    rmSync(terms);
    await expect(recognizer(server.url, { terms }).recognize(task, createWork(folder))).rejects.toMatchObject(
      {
        message: expect.stringContaining('"terms" in engines.json'),
      },
    );
  });

  it('leaves the language to the model and reads its name, or calls it by the code of Whisper', async () => {
    const server = await startTranscriber(() => verbose([['Hm', 2, 3]], { language: 'haitian creole' }));
    const { task, folder } = await halfMinute({ language: 'auto' });
    const made = recognizer(server.url);
    expect((await made.recognize(task, createWork(folder))).language).toBe('ht');
    await made.recognize({ ...task, language: 'nb-NO' }, createWork(folder));
    expect(server.received.map((request) => formIn(request).fields.language)).toEqual([undefined, ['no']]);
  });

  it('recognizes the languages of Whisper, of English models English, or those of the entry', async () => {
    const run = createWork(makeFolder());
    const languages = await recognizer('http://127.0.0.1:1').languages(run);
    expect(languages.length).toBe(100);
    expect(languages.map((tag) => Intl.getCanonicalLocales(tag)[0])).toEqual(languages);
    await expect(
      recognizer('http://127.0.0.1:1', { model: 'ggml-base.en-q5' }).languages(run),
    ).resolves.toEqual(['en']);
    await expect(recognizer('http://127.0.0.1:1', { languages: ['gl'] }).languages(run)).resolves.toEqual([
      'gl',
    ]);
  });
});

describe('sound of more than 30 s', () => {
  async function minute() {
    const folder = makeFolder();
    const speech = [
      [2, 10],
      [20, 28],
      [40, 50],
    ] as const;
    const voice = await soundFile(folder, 60, speech);
    const segments = speech.map(([start, end]) => ({ start, end }));
    return { task: { voice, segments, language: 'auto' }, folder };
  }

  it('is sent in parts that fill 30 s and leave silence out, and words get their times back', async () => {
    const lengths: number[] = [];
    const server = await startTranscriber(({ file }) => {
      lengths.push(secondsOf(file));
      return verbose([['Hm', 1, 1.5]]);
    });
    const { task, folder } = await minute();
    const { words } = await recognizer(server.url).recognize(task, createWork(folder));
    expect(lengths).toEqual([expect.closeTo(26.3, 2), expect.closeTo(10.3, 2)]);
    expect(words).toEqual([
      { text: 'Hm', start: 2.85, end: 3.35, segment: 0 },
      { text: 'Hm', start: 40.85, end: 41.35, segment: 2 },
    ]);
    // The language that the first part was found to have.
    expect(server.received.map((request) => formIn(request).fields.language)).toEqual([undefined, ['en']]);
  });

  it('fails if a part is refused as too large, and says what to change', async () => {
    const server = await startTranscriber(() => ({ status: 413 }));
    const { task, folder } = await minute();
    await expect(recognizer(server.url).recognize(task, createWork(folder))).rejects.toMatchObject({
      permanent: true,
      message: expect.stringContaining('raise the limit of the server for uploads'),
    });
    expect(server.received).toHaveLength(1);
  });
});

describe('words of an answer', () => {
  it('share the time of their segment if they have none, with one warning', async () => {
    const body = {
      language: 'en',
      text: '',
      segments: [segment(' One three', 2, 8), segment('Five', 12, 18)],
    };
    const server = await startTranscriber(() => ({ body }));
    const parts = recordedParts();
    const made = recognizer(server.url, {}, parts);
    const { task, folder } = await halfMinute();
    const { words } = await made.recognize(task, createWork(folder));
    await made.recognize(task, createWork(folder));
    expect(words).toEqual([
      { text: 'One', start: 2, end: 4.25, segment: 0 },
      { text: 'three', start: 4.25, end: 8, segment: 0 },
      { text: 'Five', start: 12, end: 18, segment: 1 },
    ]);
    expect(parts.warnings).toEqual([expect.stringContaining('returns no times of words')]);
  });
});

describe('a server that rejects the requested form', () => {
  it('is asked without times of words, which is remembered', async () => {
    const server = await startTranscriber(({ fields }) =>
      fields['timestamp_granularities[]'] === undefined
        ? { body: { language: 'en', text: 'Hello', segments: [segment('Hello', 2, 4)] } }
        : { status: 400, body: { detail: 'timestamp_granularities is not supported' } },
    );
    const parts = recordedParts();
    const made = recognizer(server.url, {}, parts);
    const { task, folder } = await halfMinute();
    const { words } = await made.recognize(task, createWork(folder));
    await made.recognize(task, createWork(folder));
    expect(words.map(({ text }) => text)).toEqual(['Hello']);
    expect(server.received.length).toBe(3);
    expect(parts.warnings.length).toBe(1);
  });

  it('gets short parts if it returns no times at all', async () => {
    const server = await startTranscriber(({ fields, file }) =>
      fields.response_format?.[0] === 'json'
        ? { body: { text: `About ${Math.round(secondsOf(file))}` } }
        : { status: 400, body: { error: { message: "response_format 'verbose_json' is not compatible" } } },
    );
    const parts = recordedParts();
    const { task, folder } = await halfMinute();
    const { words } = await recognizer(server.url, {}, parts).recognize(task, createWork(folder));
    expect(words.map(({ text, segment: at }) => [text, at])).toEqual([
      ['About', 0],
      ['6', 0],
      ['About', 1],
      ['6', 1],
      ['About', 2],
      ['6', 2],
    ]);
    for (const { start, end, segment: at } of words) {
      const [from, to] = SPEECH[at as 0 | 1 | 2]; // three segments
      expect(start).toBeGreaterThanOrEqual(from);
      expect(end).toBeLessThanOrEqual(to);
    }
    expect(parts.warnings).toEqual([expect.stringContaining('returns no times')]);
  });

  it('with a server error about the form is asked in another form immediately', async () => {
    const server = await startTranscriber(({ fields }) =>
      fields['timestamp_granularities[]'] === undefined
        ? verbose([['Hm', 2, 3]])
        : { status: 500, body: { error: 'timestamp_granularities needs --dtw' } },
    );
    const parts = recordedParts();
    const { task, folder } = await halfMinute();
    await recognizer(server.url, {}, parts).recognize(task, createWork(folder));
    expect(server.received.length).toBe(2);
    expect(parts.pauses).toEqual([]);
  });

  it('shows why, if it accepts nothing', async () => {
    const server = await startTranscriber(() => ({
      status: 400,
      body: { error: { message: 'unknown model' } },
    }));
    const { task, folder } = await halfMinute();
    await expect(recognizer(server.url).recognize(task, createWork(folder))).rejects.toMatchObject({
      permanent: true,
      message: expect.stringMatching(/^openai large-v3: .*unknown model/),
    });
    expect(readdirSync(folder)).toEqual(['voice-16k.wav']);
  });
});

describe('failures and cancelling', () => {
  it('fails cleanly for JSON of another form', async () => {
    const server = await startTranscriber(() => ({ body: { result: 1 } }));
    const { task, folder } = await halfMinute();
    await expect(recognizer(server.url).recognize(task, createWork(folder))).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringContaining('not verbose_json'),
    });
  });

  it('sends the whole form again after a server error', async () => {
    const server = await startTranscriber((_, number) =>
      number === 1 ? { status: 503 } : verbose([['Hm', 2, 3]]),
    );
    const { task, folder } = await halfMinute();
    await recognizer(server.url).recognize(task, createWork(folder));
    expect(formIn(server.received[1]).file.length).toBeGreaterThan(1_000);
  });

  it('ends with the reason when the job is cancelled, and leaves no file and no connection', async () => {
    const controller = new AbortController();
    const server = await startTranscriber(() => {
      controller.abort(new Error('cancelled'));
      return () => {};
    });
    const { task, folder } = await halfMinute();
    const call = recognizer(server.url).recognize(task, createWork(folder, controller.signal));
    await expect(call).rejects.toThrow('cancelled');
    expect(readdirSync(folder)).toEqual(['voice-16k.wav']);
    for (const socket of server.open) await once(socket, 'close');
  });
});
