import { describe, expect, it } from 'vitest';
import type { PlanIo } from '../../../src/batch/inputs/plan-request.ts';
import type { Planning } from './support.ts';
import { createFolder, MP4, plan as planIn, problemsOf } from './support.ts';

const plan = (operands: string[], options: Record<string, unknown>, more: Planning = {}) =>
  planIn(createFolder({ 'a.mp4': MP4, 'b.mp4': MP4, 'a.mov': MP4, 'a.es.mp4': 'x' }), operands, {
    options,
    ...more,
  });

describe('a plan', () => {
  it('makes a job for each input and language, and uses each language once', async () => {
    const { planned } = await plan(['b.mp4', 'a.mov'], {
      to: ['ca', 'pt-br', 'pt-BR'],
      out: 'out',
    });
    expect(planned.map(({ item }) => [item.input.label, item.targetLanguage])).toEqual([
      ['b.mp4', 'ca'],
      ['b.mp4', 'pt-BR'],
      ['a.mov', 'ca'],
      ['a.mov', 'pt-BR'],
    ]);
  });

  it('passes options on as fields, and the fields of --set without checking them', async () => {
    const options = { to: ['ca'], from: 'en', subtitleOutput: 'soft', set: { tone: 'formal' } };
    const { planned } = await plan(['a.mp4'], options);
    expect(planned[0]?.item.fields).toEqual({
      source_language: 'en',
      subtitle_output: 'soft',
      target_language: 'ca',
      tone: 'formal',
    });
  });

  it('reports a wrong option before it reads any video', async () => {
    const counts: number[] = [];
    const io = { onRead: (files: number) => void counts.push(files) };
    expect(await problemsOf(plan(['a.mp4', 'b.mp4'], { to: [] }, { io }))).toEqual([
      expect.stringMatching(/^--to: missing/),
    ]);
    expect(counts).toEqual([]);
  });

  it('finds two inputs that would write the same file, in each shard', async () => {
    for (const shard of [undefined, '1/2', '2/2']) {
      const problems = await problemsOf(plan(['a.mp4', 'a.mov'], { to: ['ca'], shard }));
      expect(problems).toEqual([
        expect.stringMatching(/^a\.mov → ca: would write .*a\.ca\.mp4, as a\.mp4 → ca does/),
      ]);
    }
  });

  it('finds two videos of one name whose subtitles would be one file, whatever language is recognized', async () => {
    const recognize = { kind: 'subtitle_recognition', options: { to: [] } } as const;
    const twice = planIn(createFolder({ 'a.mp4': MP4, 'a.mov': MP4 }), ['a.mp4', 'a.mov'], recognize);
    expect(await problemsOf(twice)).toEqual([
      expect.stringMatching(/^a\.mov: would write .*a\.LANG\.srt, as a\.mp4 does; use --name/),
    ]);
    const byId = { ...recognize, options: { to: [], name: '{stem}.{id}{ext}' } };
    const { planned } = await planIn(createFolder({ 'a.mp4': MP4, 'a.mov': MP4 }), ['a.mp4', 'a.mov'], byId);
    expect(planned).toHaveLength(2);
  });

  it('lets a named file fail alone whose track must be chosen, and lists it too where nothing can run', async () => {
    const examineVideo: PlanIo['examineVideo'] = async (path) => {
      if (path.endsWith('a.mp4')) return { type: 'usable', seconds: 61, preparation: null };
      const problem = { type: 'problem', detail: 'choose' } as const;
      return path.endsWith('b.mp4') ? { ...problem, isOwn: true } : problem;
    };
    const { planned } = await plan(['a.mp4', 'b.mp4'], {}, { io: { examineVideo } });
    expect(planned.map(({ item }) => item.input.type)).toEqual(['file', 'unusable']);
    const all = plan(['a.mp4', 'b.mp4', 'a.mov'], {}, { io: { examineVideo } });
    expect(await problemsOf(all)).toEqual(['a.mov: choose', 'b.mp4: choose']);
  });

  it('finds a result that already exists', async () => {
    expect(await problemsOf(plan(['a.mp4'], { to: ['es'] }))).toEqual([
      expect.stringMatching(/a\.es\.mp4: exists; --clobber/),
    ]);
  });

  it('replaces it with --clobber and omits it with --skip-existing', async () => {
    const replacing = await plan(['a.mp4'], { to: ['es'], clobber: true });
    expect(replacing.planned.map(({ decision }) => decision.step)).toEqual(['new']);
    const skipping = await plan(['a.mp4'], { to: ['es', 'ca'], skipExisting: true });
    expect(skipping.planned.map(({ item, decision }) => [item.targetLanguage, decision])).toEqual([
      ['es', { step: 'done', before: 'exists', jobId: null, files: [] }],
      ['ca', { step: 'new', after: null }],
    ]);
  });

  it.each([
    [{ callbackUrl: 'http://example.com' }, '--callback-url: must be an https address'],
    [{ clientReference: 'x'.repeat(129) }, '--client-reference: at most 128 characters'],
    [{ from: 'not a tag' }, '--from'],
  ])('checks the fields before anything is sent: %j', async (options, said) => {
    const problems = await problemsOf(plan(['b.mp4'], { to: ['ca'], ...options }));
    expect(problems.join('\n')).toContain(said);
  });
});
