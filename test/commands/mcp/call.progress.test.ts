import { describe, expect, it } from 'vitest';
import type { WorkSummary } from '../../../src/commands/context/context.ts';
import { type CallProgress, createCallTerminal } from '../../../src/commands/mcp/call.ts';

function open() {
  const notes: string[] = [];
  const reports: CallProgress[] = [];
  const terminal = createCallTerminal(notes, (progress) => reports.push(progress));
  return { notes, reports, terminal, shares: () => reports.map(({ progress }) => progress) };
}

const summary = (done: number, failed: number, total: number): WorkSummary => ({
  running: [],
  counts: { total, done, running: total - done - failed, waiting: 0, failed, left: 0 },
  leftMs: null,
  cost: null,
  slots: null,
  deadline: null,
  stop: null,
});

describe('progress of a call', () => {
  it('weights its phases: an upload is a small part of the work, and so is a download', async () => {
    const { terminal, reports } = open();
    const progress = await terminal.progress();
    progress.show('a', { phase: 'uploading', fraction: 1 });
    expect(reports.at(-1)).toMatchObject({ message: 'a: uploading 100 %' });
    expect(reports.at(-1)?.progress).toBeCloseTo(0.2);
    progress.show('a', { phase: 'recognizing', fraction: 0.5 });
    expect(reports.at(-1)?.progress).toBeCloseTo(0.55);
    progress.show('a', { phase: 'downloading', fraction: 0 });
    expect(reports.at(-1)?.progress).toBeCloseTo(0.9);
  });

  it('grows with every report, also if the work begins again, and is never complete before the answer', async () => {
    const { terminal, shares } = open();
    const progress = await terminal.progress();
    progress.show('a', { phase: 'processing', fraction: 0.9 });
    progress.show('a', { phase: 'waiting', fraction: 0 });
    progress.end('a', 'done', '');
    progress.end('a', 'done', 'a.mp4');
    expect(shares()).toEqual([...new Set(shares())].sort((left, right) => left - right));
    expect(Math.max(...shares())).toBeLessThan(1);
  });

  it('is not reported again when nothing has changed', async () => {
    const { terminal, reports } = open();
    const progress = await terminal.progress();
    for (let times = 0; times < 3; times += 1) progress.show('a', { phase: 'processing', fraction: 0.2 });
    expect(reports).toHaveLength(1);
  });

  it('counts the items of a batch, failed ones too', async () => {
    const { terminal, reports } = open();
    let state = summary(0, 0, 4);
    const board = await terminal.board(() => state);
    board.show('a', { phase: 'processing', fraction: null });
    state = summary(2, 1, 4);
    board.end('a', 'done', '');
    expect(reports.at(-1)).toEqual({ progress: 0.75, message: '2 of 4 done, 1 failed, 1 running' });
    const step = { phase: 'processing', fraction: 1 };
    state = { ...state, running: [{ label: 'd', step, since: 0 }] };
    board.show('d', step);
    expect(reports.at(-1)?.progress).toBeCloseTo(0.975);
  });
});

describe('notes of a call', () => {
  it('are the text that a person would read, without blank lines and of limited length', () => {
    const { terminal, notes } = open();
    terminal.note(' kept \n');
    terminal.warn('careful');
    terminal.note('  ');
    terminal.detail('hidden');
    expect(notes).toEqual(['kept', 'careful']);
    for (let times = 0; times < 1000; times += 1) terminal.note('again');
    expect(notes).toHaveLength(200);
  });

  it('contain no question: a command that asks one fails', async () => {
    const { terminal } = open();
    const question = { text: 'Sure?', typed: 'shown', flag: '--yes' } as const;
    await expect(terminal.confirm(question)).rejects.toMatchObject({ facts: { code: 'USAGE' } });
    await expect(terminal.ask(question)).rejects.toMatchObject({ facts: { code: 'USAGE' } });
  });
});
