import fs, { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFolder, MP4, namesOf, plan, problemsOf, SRT } from '../plan/support.ts';

const LESSONS = {
  'lessons/lesson 10.mp4': MP4,
  'lessons/lesson 2.mp4': MP4,
  'lessons/week1/talk': MP4,
  'lessons/week1/notes.txt': 'hello',
  'lessons/week1/talk.srt': SRT,
  'lessons/.hidden/secret.mp4': MP4,
  'lessons/.hidden.mp4': MP4,
};

describe('a folder', () => {
  it('means the videos in it, whatever their names, in the order in which people count', async () => {
    const found = await plan(createFolder(LESSONS), ['lessons']);
    expect(namesOf(found)).toEqual(['lesson 2.mp4', 'lesson 10.mp4', 'week1/talk']);
    expect(found.planned.map(({ item }) => item.folder)).toEqual(['', '', 'week1']);
    expect(found.planned[2]?.item.label).toBe('lessons/week1/talk → ca');
  });

  it('keeps its tree in the folder of results', async () => {
    const cwd = createFolder(LESSONS);
    const { planned } = await plan(cwd, ['lessons'], { options: { out: 'done' } });
    expect(planned[2]?.paths).toEqual([join(cwd, 'done', 'week1', 'talk.ca.mp4')]);
  });

  it('skips files without the name of a video, and reports them in one line', async () => {
    const { notes } = await plan(createFolder(LESSONS), ['lessons']);
    expect(notes).toEqual([
      'Skipped 2 files that are not supported videos: lessons/week1/notes.txt, lessons/week1/talk.srt',
    ]);
  });

  it('is announced with the number of its videos, without other files', async () => {
    const counts: number[] = [];
    await plan(createFolder({ 'in/a.mp4': MP4, 'in/a.srt': SRT, 'in/notes.txt': 'hello' }), ['in'], {
      io: { onRead: (files) => counts.push(files) },
    });
    expect(counts).toEqual([1]);
  });

  it('makes an item of each file with the name of a video, even if it is unusable', async () => {
    const files = { 'in/junk.mp4': 'x', 'in/empty.mov': '', 'in/good.mp4': MP4, 'in/film.mkv': 'x' };
    const cwd = createFolder({ ...files, 'in/two\nlines.mp4': MP4, 'in/photo.heic': '\0\0\0\x20ftypheic' });
    const { planned, notes } = await plan(cwd, ['in']);
    expect(planned.map(({ item, decision }) => [item.input.label, decision.step])).toEqual([
      ['in/empty.mov', 'unusable'],
      ['in/film.mkv', 'unusable'],
      ['in/good.mp4', 'new'],
      ['in/junk.mp4', 'unusable'],
      ['in/two\nlines.mp4', 'unusable'],
    ]);
    expect(notes).toEqual(['Skipped 1 file that is not a supported video: in/photo.heic']);
  });

  it('skips a name with a line break if --include is given, because no pattern matches it', async () => {
    const cwd = createFolder({ ...LESSONS, 'lessons/two\nlines.mp4': MP4 });
    const { planned, notes } = await plan(cwd, ['lessons'], { options: { include: ['*.mp4'] } });
    expect(planned).toHaveLength(2);
    expect(notes).toEqual([
      'Skipped "lessons/two\\nlines.mp4": its name contains a line break; rename it or pass it explicitly.',
    ]);
    const named = await plan(cwd, ['lessons/two\nlines.mp4']);
    expect(named.planned).toHaveLength(1);
  });

  it('means its SRT files if subtitles are translated, and not other JSON', async () => {
    const cwd = createFolder({
      ...LESSONS,
      'lessons/package.json': '[{"index":1,"start_ms":0,"end_ms":9,"text":"a"}]',
    });
    expect(namesOf(await plan(cwd, ['lessons'], { kind: 'subtitle_translation' }))).toEqual([
      'week1/talk.srt',
    ]);
  });

  it('is filtered by --include and --exclude', async () => {
    const cwd = createFolder(LESSONS);
    const names = async (options: object) =>
      namesOf(await plan(cwd, ['lessons'], { options: { ...options } }));
    expect(await names({ include: ['*.mp4'] })).toEqual(['lesson 2.mp4', 'lesson 10.mp4']);
    expect(await names({ exclude: ['*10*'] })).toEqual(['lesson 2.mp4', 'week1/talk']);
    expect(await names({ include: ['week1/**', '*2*'], exclude: ['week1/*'] })).toEqual(['lesson 2.mp4']);
  });

  it('with circular links yields each file once, under its own name', async () => {
    const cwd = createFolder(LESSONS);
    symlinkSync('..', join(cwd, 'lessons', 'week1', 'again'));
    symlinkSync('lesson 2.mp4', join(cwd, 'lessons', 'a link.mp4'));
    const names = namesOf(await plan(cwd, ['lessons']));
    expect(names).toEqual(['lesson 2.mp4', 'lesson 10.mp4', 'week1/talk']);
  });

  it('never uses the results of other runs as inputs', async () => {
    const cwd = createFolder({ 'a.mp4': MP4, 'out/a.es.mp4': MP4, 'a.ca.mp4': MP4 });
    mkdirSync(join(cwd, 'out', '.vloc'));
    const { planned, notes } = await plan(cwd, ['.'], { options: { clobber: true } });
    expect(planned.map(({ item }) => item.input.name)).toEqual(['a.mp4']);
    expect(notes).toEqual([
      'Skipped out: it is a folder of results.',
      'Skipped 1 file that this command wrote before.',
    ]);
  });
});

/** Denies one folder, as file systems do that know no root: what may read everything cannot take its own rights away. */
function lock(folder: string): void {
  const real = fs.readdir;
  // The search calls it in this one form.
  const denying = (path: string, options: object, done: (error: Error | null, entries?: unknown) => void) => {
    if (resolve(path) !== folder) return real(path, options as { withFileTypes: true }, done);
    done(Object.assign(new Error('permission denied'), { code: 'EACCES' }));
  };
  const spy = vi.spyOn(fs, 'readdir').mockImplementation(denying as typeof fs.readdir);
  onTestFinished(() => spy.mockRestore());
}

describe('a folder that cannot be read', () => {
  it.each(['in/locked', './in/locked/', 'in/locked/*.mp4', 'in/locked/**'])(
    'is a problem if the command names it: %s',
    async (operand) => {
      const cwd = createFolder({ 'good.mp4': MP4, 'in/locked/a.mp4': MP4 });
      lock(join(cwd, 'in', 'locked'));
      expect(await problemsOf(plan(cwd, ['good.mp4', operand, join(cwd, operand)]))).toEqual([
        `${operand}: this folder cannot be read; correct its permissions`,
        `${join(cwd, operand)}: this folder cannot be read; correct its permissions`,
      ]);
    },
  );

  it('is an item that fails if it is below a named one, and the others continue', async () => {
    const cwd = createFolder({ 'in/good.mp4': MP4, 'in/locked/a.mp4': MP4 });
    lock(join(cwd, 'in', 'locked'));
    const { planned } = await plan(cwd, ['in/']);
    expect(planned.map(({ item, decision }) => [item.input.label, decision.step])).toEqual([
      ['in/good.mp4', 'new'],
      ['in/locked', 'unusable'],
    ]);
  });

  it.each([
    ['nowhere', 'there is no such folder'],
    ['good.mp4', 'this is not a folder'],
    ['good.mp4/in', 'there is no such folder'],
  ])('that is not a folder is a problem of its pattern: %s', async (folder, why) => {
    const cwd = createFolder({ 'good.mp4': MP4 });
    const problems = await problemsOf(plan(cwd, [`${folder}/*.mp4`]));
    expect(problems).toEqual([`${folder}/*.mp4: ${why}; check the path`]);
  });
});

/** Folders that network storage, systems and archive programs make. */
const SYSTEM_FOLDERS = [
  '@eaDir',
  '#recycle',
  '@Recycle',
  '@Recently-Snapshot',
  '#snapshot',
  '$RECYCLE.BIN',
  '$Recycle.Bin',
  'System Volume Information',
  '__MACOSX',
  'lost+found',
];

describe('a folder of trash, snapshots or the system', () => {
  const inEach = SYSTEM_FOLDERS.flatMap((name) => [
    [`in/${name}/a.mp4`, MP4],
    [`in/week1/${name}/deep/a.mp4`, MP4],
  ]);
  const files = { 'in/good.mp4': MP4, 'in/week1/good.mp4': MP4, ...Object.fromEntries(inEach) };

  it.each([
    ['in', {}],
    ['in/**/*.mp4', {}],
    ['in/*/*.mp4', {}],
    ['in', { include: ['**/*.mp4'] }],
    ['in', { watch: true }],
  ])('is skipped below %s with %o, and one note names all of them', async (operand, options) => {
    const { planned, notes } = await plan(createFolder(files), [operand], { options });
    const labels = planned.map(({ item }) => item.input.label);
    expect(labels.filter((label) => !label.endsWith('/good.mp4'))).toEqual([]);
    const [note, ...others] = notes.filter((each) => each.includes('of trash'));
    expect(others).toEqual([]);
    for (const name of SYSTEM_FOLDERS) expect(note).toContain(name);
  });

  it('is counted by its name, over all operands', async () => {
    const cwd = createFolder({ 'a/@eaDir/x.mp4': MP4, 'a/b/@eaDir/x.mp4': MP4, 'a/c.mp4': MP4, ...files });
    const { notes } = await plan(cwd, ['a', 'in/week1']);
    expect(notes).toEqual([
      'Skipped folders of trash, snapshots or the system: #recycle, #snapshot, $RECYCLE.BIN, $Recycle.Bin, @Recently-Snapshot, @Recycle, @eaDir (3 times), System Volume Information, __MACOSX, lost+found. To use one, name it.',
    ]);
  });

  it.each([
    ['in/@eaDir', 'a.mp4'],
    ['in/week1/#recycle/deep', 'a.mp4'],
    ['in/$RECYCLE.BIN/*.mp4', 'a.mp4'],
    ['in/*/@eaDir/deep/*.mp4', 'week1/@eaDir/deep/a.mp4'],
    ['in/lost+found/a.mp4', 'a.mp4'],
  ])('is used if the user names it: %s', async (operand, name) => {
    const { planned, notes } = await plan(createFolder(files), [operand]);
    expect(planned.map(({ item }) => item.input.name)).toEqual([name]);
    expect(notes.join()).not.toContain('@eaDir');
  });

  it('is used if --include names it', async () => {
    const { planned } = await plan(createFolder(files), ['in'], { options: { include: ['@eaDir/*.mp4'] } });
    expect(planned.map(({ item }) => item.input.name)).toEqual(['@eaDir/a.mp4']);
  });

  it('is not reported if --exclude leaves it out, or the pattern does not reach it', async () => {
    const cwd = createFolder({ 'in/good.mp4': MP4, 'in/@eaDir/a.mp4': MP4 });
    expect((await plan(cwd, ['in'], { options: { exclude: ['@eaDir/**'] } })).notes).toEqual([]);
    expect((await plan(cwd, ['in/*.mp4'])).notes).toEqual([]);
  });

  it('is no item that fails where it cannot be read', async () => {
    const cwd = createFolder({ 'in/good.mp4': MP4, 'in/lost+found/a.mp4': MP4 });
    lock(join(cwd, 'in', 'lost+found'));
    expect(namesOf(await plan(cwd, ['in']))).toEqual(['good.mp4']);
  });
});

describe('a pattern', () => {
  it('in quotes finds what a shell would, and keeps the tree below its first wildcard', async () => {
    const cwd = createFolder(LESSONS);
    expect(namesOf(await plan(cwd, ['lessons/**/*.mp4']))).toEqual(['lesson 2.mp4', 'lesson 10.mp4']);
    expect(namesOf(await plan(cwd, ['lessons/week*/*']))).toEqual(['week1/talk']);
    expect(namesOf(await plan(cwd, ['lessons/*.mp4']))).toEqual(['lesson 2.mp4', 'lesson 10.mp4']);
  });

  it('that is the name of a file means that file', async () => {
    expect(
      namesOf(await plan(createFolder({ 'we[i]rd.mp4': MP4, 'weird.mp4': MP4 }), ['we[i]rd.mp4'])),
    ).toEqual(['we[i]rd.mp4']);
  });
});

describe('a list', () => {
  it('has one name per line, from a file or from stdin, and keeps the tree', async () => {
    const cwd = createFolder({ ...LESSONS, 'list.txt': './lessons/week1/talk\r\n\nlessons/lesson 2.mp4\n' });
    const names = ['lessons/week1/talk', 'lessons/lesson 2.mp4'];
    expect(namesOf(await plan(cwd, [], { options: { filesFrom: 'list.txt' } }))).toEqual(names);
    const typed = names.join('\n');
    expect(namesOf(await plan(cwd, [], { options: { filesFrom: '-' }, io: { typed } }))).toEqual(names);
  });

  it('separated by NUL accepts names with line breaks', async () => {
    const cwd = createFolder({ 'two\nrows.mp4': MP4 });
    const io = { typed: 'two\nrows.mp4\0' };
    expect(namesOf(await plan(cwd, [], { options: { filesFrom0: '-' }, io }))).toEqual(['two\nrows.mp4']);
    const wrong = plan(cwd, [], { options: { filesFrom: '-' }, io: { typed: 'a\0b\0' } });
    expect(await problemsOf(wrong)).toEqual([expect.stringContaining('--files-from0')]);
  });

  it('outside the current folder has no tree to keep', async () => {
    const cwd = createFolder({ 'here/x': '', 'there/a.mp4': MP4 });
    const found = await plan(join(cwd, 'here'), [], {
      options: { filesFrom: '-' },
      io: { typed: '../there/a.mp4' },
    });
    expect(namesOf(found)).toEqual(['a.mp4']);
  });
});

it('a file that is named twice, or through a link, is used once', async () => {
  const cwd = createFolder({ 'a.mp4': MP4 });
  symlinkSync('a.mp4', join(cwd, 'b.mp4'));
  const { planned, notes } = await plan(cwd, ['a.mp4', './a.mp4', 'b.mp4']);
  expect(planned).toHaveLength(1);
  expect(notes).toEqual([
    './a.mp4 is the same file as a.mp4; used once.',
    'b.mp4 is the same file as a.mp4; used once.',
  ]);
});

it('a copy is a different file', async () => {
  const cwd = createFolder({ 'a.mp4': MP4, 'b.mp4': MP4 });
  expect((await plan(cwd, ['a.mp4', 'b.mp4'])).planned).toHaveLength(2);
});

it('inputs can be ordered by size or by name', async () => {
  const cwd = createFolder({ 'b.mp4': Buffer.concat([MP4, MP4]), 'a.mp4': MP4, 'c.mp4': MP4 });
  const names = async (order: string) =>
    namesOf(await plan(cwd, ['b.mp4', 'c.mp4', 'a.mp4'], { options: { order } }));
  expect(await names('given')).toEqual(['b.mp4', 'c.mp4', 'a.mp4']);
  expect(await names('size')).toEqual(['c.mp4', 'a.mp4', 'b.mp4']);
  expect(await names('name')).toEqual(['a.mp4', 'b.mp4', 'c.mp4']);
});

it('the message about missing inputs says how to name some', async () => {
  expect(await problemsOf(plan(createFolder({}), []))).toEqual([expect.stringContaining('--files-from')]);
});

it('a named path that is neither a file nor a folder is a problem', async () => {
  const cwd = createFolder({ 'notes.mp4': 'x' });
  writeFileSync(join(cwd, 'ok.mp4'), MP4);
  expect(await problemsOf(plan(cwd, ['notes.mp4', 'ok.mp4']))).toEqual([
    expect.stringMatching(/^notes\.mp4: not a supported video/),
  ]);
});
