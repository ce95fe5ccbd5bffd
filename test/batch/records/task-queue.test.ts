import { describe, expect, it } from 'vitest';
import { createGroupCommit, createTaskQueue } from '../../../src/batch/records/task-queue.ts';

describe('a group commit', () => {
  it('writes records that arrive meanwhile as one group', async () => {
    const groups: string[][] = [];
    const gates: (() => void)[] = [];
    const commit = createGroupCommit<string>(createTaskQueue(), (group) => {
      groups.push([...group]);
      return new Promise((resolve) => gates.push(resolve));
    });
    const first = commit(['a']);
    await Promise.resolve();
    const others = [commit(['b']), commit(['c', 'd']), commit(['e'])];
    expect(groups).toEqual([['a']]);
    gates[0]?.();
    await first;
    await Promise.resolve();
    gates[1]?.();
    await Promise.all(others);
    expect(groups).toEqual([['a'], ['b', 'c', 'd', 'e']]);
  });

  it('fails all items of a group, and only those', async () => {
    let isFull = true;
    const commit = createGroupCommit<string>(createTaskQueue(), async () => {
      if (isFull) throw new Error('full');
    });
    const [one, two] = await Promise.allSettled([commit(['a']), commit(['b'])]);
    expect([one?.status, two?.status]).toEqual(['rejected', 'rejected']);
    isFull = false;
    await expect(commit(['c'])).resolves.toBeUndefined();
  });
});
